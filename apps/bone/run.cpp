// SPDX-License-Identifier: Apache-2.0
// A bone analysis runs in these steps: model, supports and loads, solve, results, files.
#include "apps/bone/command.hpp"
#include "apps/bone/doubts.hpp"
#include "apps/bone/input/load.hpp"
#include "apps/bone/input/solver_choice.hpp"
#include "apps/bone/output/field_mesh.hpp"
#include "apps/bone/output/files.hpp"
#include "apps/bone/output/images.hpp"
#include "apps/bone/output/label_statistics.hpp"
#include "apps/bone/output/prediction.hpp"
#include "apps/bone/output/preview.hpp"
#include "apps/bone/output/report.hpp"
#include "apps/bone/remodelling/evolution.hpp"
#include "apps/bone/specimen_size.hpp"
#include "apps/bone/strength.hpp"
#include "apps/bone/support_checks.hpp"
#include "apps/driver/command_line_model.hpp"
#include "apps/driver/exit_code.hpp"
#include "apps/driver/interrupt.hpp"
#include "apps/driver/ranks.hpp"
#include <ossatura/core/comm/device_comm.hpp>
#include <ossatura/core/io/parosol/output.hpp>
#include <ossatura/core/machine/memory.hpp>
#include <ossatura/solvers/bone/results/homogenisation.hpp>

#include <cmath>
#include <memory>
#include <optional>

namespace ossatura {

namespace {

/// The name of the outputs: the input's, without its directory and extension.
std::string output_stem(const BoneOptions& options) {
  if (!options.name.empty())
    return options.name;
  const char* generator = name_table<BoneGenerator>.find(options.generator);
  return generator == nullptr ? file_stem(options.input) : generator;
}

const char* test_name(const BoneOptions& options, bool listed) {
  const bool is_axial = options.test == LoadTest::by_input || options.test == LoadTest::prescribed;
  return name_of(listed ? LoadTest::prescribed : is_axial ? LoadTest::axial : options.test);
}

template<class Exec>
BoneSolve solve_load(const Exec& exec, VoxelSolver<Exec>& solver, const CgOptions& cg,
                     const Array<double, Exec>& force, const Array<double, Exec>& u,
                     const std::string& name, int number, DriverContext& context) {
  const TimedScope scope("ossatura::bone::solve");
  const Stopwatch watch;
  context.begin_solve("load " + name, cg.max_iterations, cg.tolerance);
  BoneSolve result;
  result.load = name;
  SolveResult& solved = result;
  try {
    solved = solver.solve(exec, force, u, [&](int iteration, double recurrent_residual) {
      solved.iterations = iteration;
      solved.recurrent_residual = recurrent_residual;
      context.iteration(number, iteration, recurrent_residual);
    });
  } catch (const Interrupted&) { // u is that of the last iteration
    result.interrupted = true;
    solved.residual = std::nan("");
  }
  context.end_solve();
  // The iteration gives up where further steps gain nothing.
  result.stalled =
      !solved.converged && !result.interrupted && solved.iterations < cg.max_iterations;
  result.seconds = watch.seconds();
  return result;
}

template<class Exec>
std::unique_ptr<VoxelSolver<Exec>> make_solver(const Exec& exec, const BoneOptions& options,
                                               const VoxelProblem<Exec>& problem,
                                               BoneResults& results) {
  const TimedScope scope("ossatura::bone::setup");
  auto solver = std::make_unique<VoxelSolver<Exec>>(exec, problem, solver_options<Exec>(options));
  results.levels = solver->level_info();
  return solver;
}

/// Notes the choices of the solver, after the last solve.
template<class Exec>
void note_engine(const VoxelSolver<Exec>& solver, BoneResults& results) {
  results.work = solver.work();
  results.launch_graph = name_of(solver.launch_graph());
  results.cut = solver.cut_info();
}

/// Notes how ranks divide the work, and what the largest takes. Called by all, after the solves.
void note_ranks(const Communicator& world, const char* split, BoneResults& results) {
  if (world.size() > 1)
    results.split = split;
  results.most_host_bytes = world.max(std::int64_t(peak_host_bytes()));
  results.most_kokkos_bytes = world.max(std::int64_t(peak_kokkos_bytes()));
}

/// Makes the solves of all ranks known to each, in the order of the loads.
void collect_solves(const Communicator& world, double setup_work, BoneResults& results) {
  struct Solve { // trivially copyable
    int load;
    bool interrupted, stalled;
    double seconds;
    SolveResult solved;
  };
  std::vector<Solve> mine;
  int load = int(part_of_rank(world, 6).begin);
  for (const BoneSolve& solve : results.solves)
    mine.push_back({load++, solve.interrupted, solve.stalled, solve.seconds, solve});
  results.longest_seconds = world.max(results.solve_seconds());
  results.solves.clear();
  for (const Solve& solve : world.gather(mine))
    results.solves.push_back({solve.solved, stiffness_names[solve.load], solve.interrupted,
                              solve.stalled, solve.seconds});
  results.work = setup_work + world.sum(results.work - setup_work);
}

/// Drops the dense images, which only the grid was made from.
template<class Exec>
void drop_images(VoxelProblem<Exec>& problem, BoneModel<Exec>& model) {
  problem.material.first.value = problem.material.second.value = {};
  model.modulus.value = model.poisson.value = {};
}

/// Files of fields, by their paths, as far as they are asked for.
struct BoneFiles {
  std::optional<std::string> hdf, parosol, curve, sections, remodelling;
  std::string checkpoint;
  std::vector<std::pair<std::string, std::string>> images; ///< field and path
};

BoneFiles claim_files(const BoneOptions& options, DriverContext& context) {
  BoneFiles files;
  if (!options.no_hdf)
    files.hdf = context.claim_file(options.hdf, output_stem(options) + ".hdf");
  if (!options.parosol_output.empty()) { // into a copy of the input, where it has its name
    files.parosol =
        context.claim_output(context.output_path(options.parosol_output), options.input);
    if (context.world().is_first())
      ParosolWriter::require_target(*files.parosol);
  }
  if (options.strength.criterion)
    files.curve = context.claim_file(options.strength.curve, output_stem(options) + ".curve.csv");
  if (!options.strength.checkpoint.empty())
    files.checkpoint = context.claim_checkpoint(context.output_path(options.strength.checkpoint),
                                                options.strength.resume);
  if (options.remodelling.steps > 0)
    files.remodelling = context.claim_file("", output_stem(options) + ".remodelling.csv");
  if (!options.mask.empty()) // where there is a force through sections
    files.sections = context.claim_file("", output_stem(options) + ".sections.csv");
  files.images = field_images(options, output_stem(options));
  for (auto& image : files.images)
    image.second = context.claim_output(context.output_path(image.second));
  return files;
}

template<class Exec>
int run_homogenisation(const Exec& exec, const BoneOptions& options,
                       const VoxelProblem<Exec>& problem, BoneResults& results,
                       DriverContext& context) {
  const Communicator& world = context.world();
  results.boundary = name_of(options.boundary);
  std::unique_ptr<VoxelSolver<Exec>> solver;
  UnitCell<Exec> cell;
  run_phase(world, [&] {
    if (is_periodic(options))
      cell = make_unit_cell(exec, problem.material, problem.edge);
    solver = make_solver(exec, options, is_periodic(options) ? cell.problem : problem, results);
  });
  const double setup_work = solver->work();
  const auto solve = [&](int k, const Array<double, Exec>& f, const Array<double, Exec>& u) {
    results.solves.push_back(solve_load(exec, *solver, solver_options<Exec>(options).cg, f, u,
                                        stiffness_names[k], k, context));
    return !results.interrupted();
  };
  if (is_periodic(options))
    results.homogenised = homogenise<Exec>(exec, cell, solve, world);
  else
    results.homogenised = homogenise<Exec>(
        exec, problem, [&](int k, const Array<double, Exec>& u) { return solve(k, {}, u); }, world);
  note_engine(*solver, results);
  if (world.size() > 1)
    collect_solves(world, setup_work, results);
  note_ranks(world, "loads", results);
  context.collect_from_ranks();
  int code = exit_done;
  run_phase(world, [&] { code = report_bone(results, output_stem(options), context); });
  return code;
}

/// The files that the first rank can ask the others to hand over their parts of.
enum class FileOrder : int { none, hdf, parosol, first_image };

/// Tells the other ranks of a problem which file is written next, and at last that none is.
class FileOrders {
public:
  explicit FileOrders(const Communicator& comm)
      : comm_(comm) {}
  ~FileOrders() { give(FileOrder::none); }
  FileOrders(const FileOrders&) = delete;
  FileOrders& operator=(const FileOrders&) = delete;

  void give(FileOrder order) const {
    for (int rank = 1; rank < comm_.size(); ++rank)
      comm_.send(std::vector<FileOrder>{order}, rank);
  }

private:
  Communicator comm_;
};

/// Begins the file of fields while the device solves, when the host has nothing else to do. Not of
/// bone that changes on the way.
template<class Exec>
std::unique_ptr<BegunFile> begin_fields(const Exec& exec, const BoneOptions& options,
                                        const BoneFiles& files, const BoneModel<Exec>& model,
                                        const VoxelProblem<Exec>& problem,
                                        const Communicator& world) {
  if (!BackendTraits<Exec>::is_device || !files.hdf || world.size() > 1 ||
      options.remodelling.steps > 0)
    return nullptr;
  const TimedScope scope("ossatura::bone::begin_fields");
  const auto mesh =
      std::make_shared<const FieldMesh>(exec, lattice_place(model), problem.grid,
                                        list_elements(exec, problem.grid, problem.lame.mu_value));
  return std::make_unique<BegunFile>(*files.hdf, options.common.compress,
                                     [mesh](VtkHdfWriter& file) { mesh->write_to(file); });
}

/// Evaluates the displacement, reports, and writes the fields: by all ranks of a problem that is
/// cut, of which the first one reports and writes. `begun` is the file of fields, or null.
template<class Exec>
int finish_test(const Exec& exec, const BoneOptions& options, const BoneFiles& files,
                BoneModel<Exec>& model, VoxelProblem<Exec>& problem, const BoneLoad<Exec>& load,
                BoneResults& results, DriverContext& context, BegunFile* begun,
                std::optional<BoneSolution<Exec>> evaluated = {}) {
  BoneSolution<Exec> solution;
  run_communicating(context.world(), [&] {
    solution = evaluated ? *evaluated : evaluate_solution(exec, problem, load);
    evaluated.reset();
    BoneSolution<Exec> of_bone = solution;
    if (model.foreign)
      of_bone.fields = without_foreign(exec, share_nodes(exec, problem), problem.grid,
                                       *model.foreign, problem.lame, solution.fields);
    add_solution(exec, solution, of_bone.fields, options, results);
    warn_of_strain(results);
    if (!options.mask.empty())
      add_label_statistics(exec, options, model, problem, load, solution, of_bone, results);
  });
  note_ranks(context.world(), "model", results);
  const auto write = [&](FileOrder order, const std::string& status) {
    if (order == FileOrder::hdf) {
      write_fields(exec, files.hdf.value_or(""), options, model, problem, load, solution, status,
                   context, begun);
    } else if (order >= FileOrder::first_image) {
      const auto& [field, path] =
          files.images.at(std::size_t(order) - std::size_t(FileOrder::first_image));
      write_field_image(exec, field, path, options, model, problem, solution);
    } else {
      write_parosol(exec, files.parosol.value_or(""), model, problem, solution, status, context);
    }
  };
  const Communicator comm = ranks_of(problem);
  context.collect_from_ranks();
  if (!comm.is_first()) {
    for (FileOrder order; (order = comm.receive<FileOrder>(0).front()) != FileOrder::none;)
      try {
        write(order, {});
      } catch (const BlocksNotTaken&) {
      }
    return exit_done;
  }
  const FileOrders orders(comm);
  return report_bone(results, output_stem(options), context, [&](RunStatus status) {
    std::vector<std::pair<FileOrder, std::string>> wanted;
    if (files.hdf)
      wanted.emplace_back(FileOrder::hdf, *files.hdf);
    if (files.parosol)
      wanted.emplace_back(FileOrder::parosol, *files.parosol);
    for (std::size_t k = 0; k < files.images.size(); ++k)
      wanted.emplace_back(FileOrder(int(FileOrder::first_image) + int(k)), files.images[k].second);
    if (files.sections && results.sections && context.try_output(*files.sections, [&] {
          write_sections(*files.sections, *results.sections);
        }))
      results.files.push_back(*files.sections);
    for (const auto& entry : wanted)
      if (context.try_output(entry.second, [&] {
            orders.give(entry.first);
            write(entry.first, name_of(status));
          }))
        results.files.push_back(entry.second);
  });
}

template<class Exec>
int run_test(const Exec& exec, const BoneOptions& options, BoneModel<Exec>& model,
             VoxelProblem<Exec>& problem, const BoneLoad<Exec>& load, BoneResults& results,
             DriverContext& context) {
  const Communicator& world = context.world();
  BoneFiles files;
  run_phase(world, [&] { files = claim_files(options, context); });
  if (options.strength.criterion) {
    drop_images(problem, model);
    BoneSolution<Exec> solution =
        run_strength(exec, options, model, problem, load,
                     {files.curve.value_or(""), files.checkpoint}, results, context);
    return finish_test<Exec>(exec, options, files, model, problem, load, results, context, nullptr,
                             std::move(solution));
  }
  const auto begun = begin_fields(exec, options, files, model, problem, world);
  { // the solver's vectors are gone before the fields are made
    drop_images(problem, model);
    if (problem.ranks)
      context.iterate_together();
    const auto solver = make_solver(exec, options, problem, results);
    results.solves.push_back(solve_load(exec, *solver, solver_options<Exec>(options).cg, load.force,
                                        load.u, results.test, 0, context));
    if (options.remodelling.steps > 0)
      run_remodelling(exec, options, model, problem, load, *solver, files.remodelling.value_or(""),
                      results, context);
    note_engine(*solver, results);
  }
  return finish_test(exec, options, files, model, problem, load, results, context, begun.get());
}

/// What is solved, and for which load.
template<class Exec>
struct BoneCase {
  BoneModel<Exec> model;
  VoxelProblem<Exec> problem;
  BoneLoad<Exec> load;
};

/// Reads a model, cut among `ranks` where they are given, makes problem and load of it, and checks
/// and describes them.
template<class Exec>
void make_case(const Exec& exec, const BoneOptions& options,
               const std::optional<Communicator>& ranks, BoneCase<Exec>& made, BoneResults& results,
               DriverContext& context) {
  auto& [model, problem, load] = made;
  model = make_bone_model(exec, options, ranks, context);
  problem = make_bone_problem(exec, model, ranks);
  load = make_bone_load(exec, options, model, problem);
  while (drop_islands(exec, options, problem, model)) { // plates lie at the ends of what is left
    problem = make_bone_problem(exec, model, ranks);
    load = make_bone_load(exec, options, model, problem);
  }
  const std::int64_t num_parts = check_supports(exec, options, problem, load);
  results.model = describe_model(exec, options, model, problem);
  results.model.num_components = num_parts;
  warn_of_model(options, results.model);
  warn_of_specimen_size(options, results.model);
  results.test = test_name(options, has_listed_load(options, model));
}

/// The same for all ranks, which divide the model or have it as a whole.
template<class Exec>
BoneCase<Exec> make_case(const Exec& exec, const BoneOptions& options, BoneResults& results,
                         DriverContext& context) {
  const Communicator& world = context.world();
  const bool has_file = options.generator == BoneGenerator::none || !options.fix_file.empty() ||
                        !options.force_file.empty();
  BoneCase<Exec> found;
  const auto make = [&](const std::optional<Communicator>& ranks) {
    blame_options_unless(has_file,
                         [&] { make_case(exec, options, ranks, found, results, context); });
  };
  if (divides_model(options, world.size())) {
    const DeviceComm<Exec> joining(world); // while the input is read
    run_communicating(world, [&] { make({world}); });
  } else {
    run_phase(world, [&] { make({}); });
  }
  return found;
}

/// Writes the picture of --preview; returns its path, or nothing where that failed. By all ranks.
template<class Exec>
std::string write_preview(const Exec& exec, const BoneOptions& options, const BoneCase<Exec>& found,
                          DriverContext& context) {
  const Communicator& world = context.world();
  const std::string path = context.output_path(preview_path(options, output_stem(options)));
  run_phase(world, [&] { context.claim_output(path); });
  RgbImage picture;
  run_communicating(world,
                    [&] { picture = draw_preview(exec, found.model, found.problem, found.load); });
  const bool is_written =
      world.is_first() && context.try_output(path, [&] { write_png(path, picture); });
  return is_written ? path : "";
}

template<class Exec>
int run_on(const Exec& exec, const BoneOptions& options, DriverContext& context) {
  const Communicator& world = context.world();
  BoneResults results;
  const VoxelSolverOptions solver = solver_options<Exec>(options);
  if (options.generator != BoneGenerator::none)
    run_phase(world, [&] { require_generated_room(exec, options, solver, world.size()); });
  BoneCase<Exec> found = make_case(exec, options, results, context);
  BoneModel<Exec>& model = found.model;
  VoxelProblem<Exec>& problem = found.problem;
  results.operator_name = name_of(solver.matrix);
  results.cycle_name = name_of(cycle_of(options));
  results.hierarchy_name = name_of(options.hierarchy);
  results.precision_name = name_of(solver.precision);
  results.tolerance = solver.cg.tolerance;
  if (options.common.dry_run) {
    BonePrediction prediction;
    run_communicating(
        world, [&] { prediction = predict_bone(exec, problem, results.model, options, solver); });
    prediction.test = results.test;
    if (!options.preview.empty())
      prediction.preview = write_preview(exec, options, found, context);
    int code = exit_done;
    run_phase(world,
              [&] { code = report_bone_prediction(prediction, output_stem(options), context); });
    return code;
  }
  run_phase(world, [&] { context.begin_outputs(output_stem(options)); });
  return options.test == LoadTest::homogenise
             ? run_homogenisation(exec, options, problem, results, context)
             : run_test(exec, options, model, problem, found.load, results, context);
}

} // namespace

int run_bone(const BoneOptions& options, DriverContext& context) {
  return with_backend(options.common.backend,
                      [&](const auto& exec) { return run_on(exec, options, context); });
}

} // namespace ossatura
