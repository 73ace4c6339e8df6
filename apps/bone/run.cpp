// SPDX-License-Identifier: Apache-2.0
// A bone analysis runs in these steps: model, supports and loads, solve, results, files.
#include "apps/bone/command.hpp"
#include "apps/bone/input/load.hpp"
#include "apps/bone/input/solver_choice.hpp"
#include "apps/bone/output/files.hpp"
#include "apps/bone/output/prediction.hpp"
#include "apps/bone/output/report.hpp"
#include "apps/bone/support_checks.hpp"
#include "apps/bone/test_response.hpp"
#include "apps/driver/exit_code.hpp"
#include "apps/driver/interrupt.hpp"
#include <ossatura/kernels/bone/gather_operator.hpp>
#include <ossatura/kernels/bone/lame_summary.hpp>
#include <ossatura/solvers/bone/problem.hpp>

#include <cmath>

namespace ossatura {

namespace {

const char* const load_names[] = {"xx", "yy", "zz", "xy", "yz", "zx"};

/// The name of the outputs: the input's, without its directory and extension.
std::string output_stem(const BoneOptions& options) {
  switch (options.generator) {
  case BoneGenerator::perlin:
    return "perlin";
  case BoneGenerator::cube:
    return "cube";
  case BoneGenerator::sphere:
    return "sphere";
  case BoneGenerator::laminate:
    return "laminate";
  case BoneGenerator::none:
    break;
  }
  return file_stem(options.input);
}

const char* test_name(const BoneOptions& options, bool listed) {
  if (listed)
    return "file";
  switch (options.test) {
  case LoadTest::confined:
    return "confined";
  case LoadTest::shear:
    return "shear";
  case LoadTest::torsion:
    return "torsion";
  case LoadTest::bending:
    return "bending";
  case LoadTest::homogenise:
    return "homogenise";
  default:
    return "axial";
  }
}

/// Ratios of a file; those of options are checked before. The sums above have a little rounding.
void check_poisson(const BoneModelInfo& info) {
  if (!(info.poisson_min >= -0.9990001 && info.poisson_max <= 0.4999995))
    fail<InputError>(info.source, ": Poisson's ratio is from ", info.poisson_min, " to ",
                     info.poisson_max, "; -0.999 to 0.499999 is taken");
  if (info.poisson_max > 0.4900001)
    log_warning("locking", "Poisson's ratio of ", info.poisson_max,
                ": the elements lock near 0.5, which makes the bone too stiff by several per cent "
                "and more; keep it below 0.49");
}

template<class Exec>
BoneModelInfo describe_model(const Exec& exec, const BoneOptions& options,
                             const BoneModel<Exec>& model, const VoxelGrid<Exec>& grid,
                             const LameField<Exec>& lame) {
  BoneModelInfo info;
  info.source =
      options.input.empty() ? model.description : options.input + " (" + model.description + ")";
  info.shape = {grid.shape[0], grid.shape[1], grid.shape[2]};
  info.spacing = model.edge;
  info.origin = model.origin;
  info.direction = model.direction;
  info.world = model.world;
  info.num_elem = grid.num_elem;
  info.num_nodes = grid.num_nodes;
  info.num_dropped_elem = model.num_dropped;
  const LameSummary summary = summarise_lame(exec, lame);
  info.modulus_min = summary.modulus_min;
  info.modulus_max = summary.modulus_max;
  info.modulus_mean = summary.modulus_sum / grid.num_elem;
  info.poisson_min = summary.poisson_min;
  info.poisson_max = summary.poisson_max;
  check_poisson(info);
  return info;
}

template<class Exec>
std::vector<double> to_doubles(const Array<float, Exec>& values) {
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), values);
  return std::vector<double>(host.data(), host.data() + host.extent(0));
}

template<class Exec>
void add_statistics(const BoneOptions& options, const VoxelFields<Exec>& fields,
                    BoneResults& results) {
  const TimedScope scope("ossatura::bone::statistics");
  const auto add = [&](const char* name, const Array<float, Exec>& values) {
    std::vector<double> sample = to_doubles<Exec>(values);
    if (options.histogram_bins > 0)
      results.histograms.emplace_back(name, make_histogram(sample, options.histogram_bins));
    return summarise(sample);
  };
  results.sed = add("sed", fields.energy_density);
  results.von_mises = add("von_mises", fields.von_mises);
  results.effective_strain = add("effective_strain", fields.effective_strain);
  if (!results.response || !(results.effective_strain->maximum > 0))
    return;
  FailureEstimate failure;
  failure.criterion.critical_strain = options.pistoia_strain;
  failure.criterion.volume = options.pistoia_volume;
  std::vector<double> sample = to_doubles<Exec>(fields.effective_strain);
  const std::optional<PistoiaResult> found = pistoia(sample, failure.criterion);
  if (!found) {
    log_warning("no-failure-load", "less than ", 100 * options.pistoia_volume,
                " % of the bone is strained at all, for plates hold the rest: there is no failure "
                "load by --pistoia-volume");
    return;
  }
  failure.result = *found;
  if (results.response->force)
    failure.force = *results.response->force * failure.result.factor;
  if (results.response->moment)
    failure.moment = *results.response->moment * failure.result.factor;
  results.failure = failure;
}

template<class Exec>
BoneSolve solve_load(const Exec& exec, VoxelSolver<Exec>& solver, const CgOptions& cg,
                     const BoneLoad<Exec>& load, const std::string& name, int number,
                     DriverContext& context) {
  const TimedScope scope("ossatura::bone::solve");
  const Stopwatch watch;
  context.begin_solve("load " + name, cg.max_iterations, cg.tolerance);
  BoneSolve result;
  result.load = name;
  VoxelSolveResult solved;
  try {
    solved = solver.solve(exec, load.force, load.u, [&](int iteration, double relative_residual) {
      solved.iterations = iteration;
      solved.relative_residual = relative_residual;
      context.iteration(number, iteration, relative_residual);
    });
  } catch (const Interrupted&) { // u is that of the last iteration
    result.interrupted = true;
    solved.true_relative_residual = std::nan("");
  }
  context.end_solve();
  result.iterations = solved.iterations;
  result.recurrent_residual = solved.relative_residual;
  result.true_residual = solved.true_relative_residual;
  result.converged = solved.converged;
  result.fell_back = solved.fell_back;
  // The iteration gives up where further steps gain nothing.
  result.stalled =
      !solved.converged && !result.interrupted && solved.iterations < cg.max_iterations;
  result.seconds = watch.seconds();
  return result;
}

/// Notes the solver's choices, after the last solve.
template<class Exec>
void note_engine(const VoxelSolver<Exec>& solver, BoneResults& results) {
  results.work = solver.work();
  const LaunchGraphState graph = solver.launch_graph();
  results.launch_graph = graph == LaunchGraphState::replays  ? "replays"
                         : graph == LaunchGraphState::failed ? "failed"
                                                             : "unused";
}

template<class Exec>
VoxelProblem<Exec> make_problem(const Exec& exec, BoneModel<Exec>& model) {
  const TimedScope scope("ossatura::bone::grid");
  MaterialImage<Exec> material;
  try {
    material = model.poisson.value.extent(0) > 0
                   ? make_material(exec, model.modulus, model.poisson)
                   : make_material(model.modulus, model.uniform_poisson);
  } catch (const InputError& error) {
    fail<InputError>(model.description, ": ", error.what());
  }
  return make_voxel_problem(exec, material, model.edge);
}

/// Drops the dense images, which only the grid was made from.
template<class Exec>
void drop_images(VoxelProblem<Exec>& problem, BoneModel<Exec>& model) {
  problem.material.first.value = problem.material.second.value = {};
  model.modulus.value = model.poisson.value = {};
}

template<class Exec>
BoneLoad<Exec> make_load(const Exec& exec, const BoneOptions& options, const BoneModel<Exec>& model,
                         const VoxelGrid<Exec>& grid) {
  if (options.test != LoadTest::homogenise)
    return make_bone_load(exec, options, model, grid);
  BoneLoad<Exec> load;
  set_uniform_strain(exec, model, grid, 0, load);
  return load;
}

template<class Exec>
void homogenise(const Exec& exec, const BoneOptions& options, BoneModel<Exec>& model,
                VoxelProblem<Exec>& problem, BoneLoad<Exec>& load, BoneResults& results,
                DriverContext& context) {
  const LameSummary lame = summarise_lame(exec, problem.lame);
  std::optional<VoxelSolver<Exec>> solver;
  {
    const TimedScope scope("ossatura::bone::setup");
    solver.emplace(exec, problem, solver_options<Exec>(options));
  }
  results.levels = solver->level_info();
  const CgOptions cg = solver_options<Exec>(options).cg;
  const NodeBox box = bounding_box(exec, problem.grid);
  double voxels = 1;
  for (int d = 0; d < 3; ++d)
    voxels *= box.upper[d] - box.lower[d];
  const double volume = voxels * std::pow(problem.edge, 3);

  StiffnessMatrix stiffness{};
  for (int k = 0; k < 6 && !results.interrupted(); ++k) {
    set_uniform_strain(exec, model, problem.grid, k, load);
    results.solves.push_back(solve_load(exec, *solver, cg, load, load_names[k], k, context));
    const std::array<double, 6> stress =
        mean_stress(exec, problem.grid, problem.lame, problem.edge, load.u, volume);
    for (int i = 0; i < 6; ++i) {
      stiffness[i][k] = stress[i];
      if (!std::isfinite(stress[i]))
        fail<InputError>("the apparent stress is not finite: lengths or moduli are too small or "
                         "too large to compute with");
    }
  }
  note_engine(*solver, results);
  if (results.interrupted())
    return; // what there is of the matrix says nothing
  results.stiffness = stiffness;
  const auto isotropic = [](double lambda, double mu) {
    StiffnessMatrix c{};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j)
        c[i][j] = lambda + (i == j ? 2 * mu : 0);
      c[i + 3][i + 3] = mu;
    }
    return c;
  };
  results.voigt = isotropic(lame.lambda_sum / voxels, lame.mu_sum / voxels);
  const bool has_void = problem.grid.num_elem < voxels; // then the mean compliance is infinite
  const double bulk = has_void ? 0 : voxels / lame.inverse_bulk_sum;
  const double mu = has_void ? 0 : voxels / lame.inverse_mu_sum;
  results.reuss = isotropic(bulk - 2 * mu / 3, mu);
}

/// Files of fields, by their paths, as far as they are asked for.
struct BoneFiles {
  std::optional<std::string> hdf, parosol;
};

BoneFiles claim_files(const BoneOptions& options, DriverContext& context) {
  BoneFiles files;
  if (options.test == LoadTest::homogenise)
    return files;
  if (!options.no_hdf)
    files.hdf = context.claim_file(options.hdf, output_stem(options) + ".hdf");
  if (!options.parosol_output.empty()) // into a copy of the input, where it has its name
    files.parosol =
        context.claim_output(context.output_path(options.parosol_output), options.input);
  return files;
}

template<class Exec>
int run_test(const Exec& exec, const BoneOptions& options, BoneModel<Exec>& model,
             VoxelProblem<Exec>& problem, BoneLoad<Exec>& load, const BoneFiles& files,
             BoneResults& results, DriverContext& context) {
  const NodeBox box = bounding_box(exec, problem.grid);

  // Solve; the solver's vectors are gone before the fields are made.
  BoneSolution<Exec> solution{problem.grid, problem.lame, load.u, {}, {}};
  {
    std::optional<VoxelSolver<Exec>> solver;
    {
      const TimedScope scope("ossatura::bone::setup");
      drop_images(problem, model);
      solver.emplace(exec, problem, solver_options<Exec>(options));
    }
    results.levels = solver->level_info();
    results.solves.push_back(solve_load(exec, *solver, solver_options<Exec>(options).cg, load,
                                        results.test, 0, context));
    note_engine(*solver, results);
  }
  solution.force = make_uninitialized<double>(exec, problem.grid.num_dofs(), "ossatura::bone::Ku");
  GatherOperator<Exec>(exec, problem.grid, problem.lame, problem.edge)
      .apply(exec, load.u, solution.force);

  // Reactions: K u less the applied forces.
  Array<double, Exec> reaction = solution.force;
  if (load.force.extent(0) > 0) {
    reaction =
        make_uninitialized<double>(exec, problem.grid.num_dofs(), "ossatura::bone::reaction");
    copy(exec, solution.force, reaction);
    axpby(exec, -1.0, load.force, 1.0, reaction);
  }
  const std::vector<HeldNode> held =
      list_held_nodes(exec, problem.grid, problem.held, load.u, reaction, problem.lame.mu_value);
  const std::vector<MovedSupport> supports = sum_supports(held, problem.edge, load.regions);
  for (const MovedSupport& support : supports)
    results.reactions.push_back(support.reaction);
  results.response = load.regions.empty() ? listed_response(options, box, problem.edge, supports)
                                          : plate_response(options, box, problem.edge, supports);

  // Fields and their statistics; files after the results that do not need them.
  double energy = 0;
  {
    const TimedScope scope("ossatura::bone::fields");
    solution.fields = compute_voxel_fields(exec, problem.grid, problem.lame, problem.edge, load.u,
                                           EnergyPoint::centre, true, energy);
    results.strain_energy = energy;
  }
  // Not so for any load that the checks before the solve let through.
  if (!results.interrupted() && (!(energy > 0) || std::isinf(energy)))
    fail<InputError>("the strain energy is ", energy,
                     " N mm: lengths, moduli or loads are too small or too large to compute with");
  add_statistics(options, solution.fields, results);
  if (!results.interrupted() &&
      (!(results.sed->maximum > 0) || !std::isfinite(results.sed->maximum) ||
       !std::isfinite(results.von_mises->maximum)))
    fail<InputError>("energies or stresses are beyond single precision, in which fields are kept: "
                     "scale loads and moduli");
  const std::string status = bone_status(results);
  return report_bone(results, output_stem(options), context, [&] {
    if (files.hdf && context.try_output(*files.hdf, [&] {
          write_fields(exec, *files.hdf, options, model, solution, status, context);
        }))
      results.files.push_back(*files.hdf);
    if (files.parosol && context.try_output(*files.parosol, [&] {
          write_parosol(exec, *files.parosol, model, solution, status, context);
        }))
      results.files.push_back(*files.parosol);
  });
}

template<class Exec>
int run_on(const Exec& exec, const BoneOptions& options, DriverContext& context) {
  BoneModel<Exec> model = make_bone_model(exec, options, context);
  VoxelProblem<Exec> problem = make_problem(exec, model);
  BoneLoad<Exec> load = make_load(exec, options, model, problem.grid);
  if (drop_islands(exec, options, problem.grid, load.held, model)) {
    problem = make_problem(exec, model);
    load = make_load(exec, options, model, problem.grid);
  }
  problem.held = load.held;
  const std::int64_t num_parts = check_supports(exec, options, model, problem, load);
  BoneResults results;
  results.model = describe_model(exec, options, model, problem.grid, problem.lame);
  results.model.num_held_dofs = problem.held.num_dofs;
  results.model.num_components = num_parts;
  results.test = test_name(options, has_listed_load(options, model));
  const VoxelSolverOptions solver = solver_options<Exec>(options);
  results.operator_name = name_of(solver.matrix);
  const Cycle cycle = cycle_of(options);
  results.cycle_name = cycle == Cycle::v         ? "v"
                       : cycle == Cycle::w       ? "w"
                       : cycle == Cycle::inner_w ? "inner-w"
                                                 : "amli";
  results.hierarchy_name = options.hierarchy == Hierarchy::split      ? "split"
                           : options.hierarchy == Hierarchy::averaged ? "averaged"
                                                                      : "paper";
  results.precision_name = name_of(solver.precision);
  if (options.common.dry_run) {
    const std::vector<LevelSize> levels = list_level_sizes(exec, problem, solver.multigrid);
    BonePrediction prediction =
        predict_bone(results.model, levels, options, solver, BackendTraits<Exec>::is_device);
    prediction.test = results.test;
    return report_bone_prediction(prediction, output_stem(options), context);
  }
  context.begin_outputs(output_stem(options));
  const BoneFiles files = claim_files(options, context);
  if (options.test != LoadTest::homogenise)
    return run_test(exec, options, model, problem, load, files, results, context);
  homogenise(exec, options, model, problem, load, results, context);
  return report_bone(results, output_stem(options), context);
}

} // namespace

int run_bone(const BoneOptions& options, DriverContext& context) {
  return with_backend(options.common.backend,
                      [&](const auto& exec) { return run_on(exec, options, context); });
}

} // namespace ossatura
