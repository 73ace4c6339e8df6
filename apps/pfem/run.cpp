// SPDX-License-Identifier: Apache-2.0
// A run goes from problem to elements on the backend, solution, and derived results.
#include "apps/driver/interrupt.hpp"
#include "apps/driver/output/progress.hpp"
#include "apps/driver/problem/library_message.hpp"
#include "apps/pfem/command.hpp"
#include "apps/pfem/output/files.hpp"
#include "apps/pfem/output/prediction.hpp"
#include "apps/pfem/output/report.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/machine/available_memory.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/solvers/pfem/reactions.hpp>
#include <ossatura/solvers/pfem/stiffness.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

template<class Exec>
HierarchicModel<Exec> make_elements(const Exec& exec, const std::string& problem,
                                    const PfemModel& model) {
  const TimedScope scope("ossatura::pfem::elements");
  try {
    return make_hierarchic_model(exec, model.shape, model.numbering, model.elasticity,
                                 model.options.discretisation);
  } catch (const std::invalid_argument& error) {
    fail<InputError>(problem, ": ", library_message(error));
  }
}

/// Refuses a choice of the solver that some elements cannot have: of the command line, or else of
/// the problem.
[[noreturn]] void refuse_choice(const PfemCommandOptions& options, bool is_of_command_line,
                                const std::string& key, const std::string& value,
                                const std::string& reason) {
  if (is_of_command_line)
    fail<UsageError>("--", key, ' ', value, ": ", reason, ". Take --", key,
                     " auto, which fits all elements");
  fail<InputError>(options.problem, ": solver.", key, ": ", value, ": ", reason,
                   ": take \"auto\", which fits all elements");
}

/// Refuses a way to form matrices that some elements cannot have.
template<class Exec>
void require_form(const Exec& exec, const PfemCommandOptions& options,
                  const HierarchicSolverOptions& chosen, const HierarchicModel<Exec>& elements) {
  for (const HexaBatch<Exec>& batch : elements.batch) {
    const MethodSupport support = supports(exec, chosen.form, batch);
    if (!support.supported)
      refuse_choice(options,
                    options.changes.applied().solver.form != HierarchicSolverOptions().form, "form",
                    name_of(chosen.form), support.reason);
  }
}

/// Refuses what the solver cannot have of these elements, by the error of the library.
template<class Exec>
[[noreturn]] void refuse_solver(const Exec& exec, const PfemCommandOptions& options,
                                const HierarchicSolverOptions& chosen,
                                const HierarchicModel<Exec>& elements,
                                const std::invalid_argument& error) {
  const HierarchicSolverOptions defaults;
  require_form(exec, options, chosen, elements);
  if (chosen.kind != defaults.kind)
    refuse_choice(options, options.changes.applied().solver.kind != defaults.kind, "operator",
                  name_of(chosen.kind), library_message(error));
  fail<InputError>(options.problem, ": ", library_message(error));
}

template<class Exec>
HierarchicSolver<Exec> make_solver(const Exec& exec, const PfemCommandOptions& options,
                                   const PfemModel& model, const HierarchicModel<Exec>& elements) {
  const TimedScope scope("ossatura::pfem::setup");
  const HierarchicSolverOptions& chosen = model.options.solver;
  try {
    return HierarchicSolver<Exec>(exec, model.shape, model.numbering, elements, model.held, chosen);
  } catch (const std::invalid_argument& error) {
    refuse_solver(exec, options, chosen, elements, error);
  }
}

/// What the solver would take.
template<class Exec>
OperatorChoice<HierarchicOperatorKind> choose_operator(const Exec& exec, const PfemModel& model,
                                                       const HierarchicModel<Exec>& elements) {
  const HierarchicSolverOptions& solver = model.options.solver;
  if (solver.element_wise)
    return {HierarchicOperatorKind::packed, "vectors are element by element", 0};
  if (solver.kind == HierarchicOperatorKind::shared)
    return {solver.kind, "asked for", count_shared_matrices(exec, elements)};
  if (solver.kind != HierarchicOperatorKind::automatic)
    return {solver.kind, "asked for", 0};
  return choose_hierarchic_operator(
      exec, elements,
      memory_for_matrices(solver.memory > 0 ? solver.memory : available_bytes(exec)));
}

template<class Exec>
PfemPrediction predict(const Exec& exec, const PfemCommandOptions& options,
                       const PfemModel& model) {
  const HierarchicModel<Exec> elements = make_elements(exec, options.problem, model);
  const HierarchicSolverOptions& solver = model.options.solver;
  const bool factors = solver.preconditioner == HierarchicPreconditioner::ldlt;
  OperatorChoice<HierarchicOperatorKind> chosen;
  try {
    chosen = choose_operator(exec, model, elements);
  } catch (const std::invalid_argument& error) {
    refuse_solver(exec, options, solver, elements, error);
  }
  if (chosen.kind != HierarchicOperatorKind::matrix_free || factors ||
      solver.preconditioner == HierarchicPreconditioner::vertex_stars)
    require_form(exec, options, solver, elements); // else no matrix is formed
  return predict_pfem(model, chosen,
                      factors ? double(bytes_of_factor(exec, elements, model.held)) : 0,
                      BackendTraits<Exec>::is_device);
}

/// Says so where the inverses of vertex stars take long, as those of the tensor space do.
template<class Exec>
void announce_stars(const Exec& exec, const PfemModel& model) {
  constexpr double long_seconds = 30;
  if (BackendTraits<Exec>::is_device ||
      model.options.solver.preconditioner != HierarchicPreconditioner::vertex_stars)
    return;
  const double seconds = star_seconds(model, exec.concurrency());
  if (seconds > long_seconds)
    log_info("vertex stars: their inverses take about ", format_duration(seconds),
             "; --preconditioner jacobi has none, and takes more iterations");
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

/// All forces from outside: reactions and loads. Rotations are sums of the functions of vertices
/// where the shape of elements is, too.
ForceBalance balance_of(const PfemModel& model, const std::vector<double>& u,
                        const std::vector<double>& internal) {
  ForceBalance balance;
  balance.energy = 0.5 * product(internal, u);
  const std::vector<double>& x = model.shape.mesh.point;
  const auto num_vertices = std::size_t(model.num_vertices());
  for (std::size_t mode = 0; mode < u.size() / 3; ++mode) {
    double force[3], arm[3] = {};
    double work = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t i = 3 * mode + c;
      force[c] = (model.held[mode] >> c & 1) != 0 ? internal[i] : model.force[i];
      work += force[c] * u[i];
      if (mode < num_vertices && model.is_trilinear())
        arm[c] = x[i] - x[c];
    }
    if (mode < num_vertices)
      balance.add(arm, force, {0, 0, 0});
    balance.work += work;
    balance.work_scale += std::fabs(work);
  }
  return balance;
}

/// Energies and forces. `internal` = K u. The functions of vertices add up to 1, so that the forces
/// on their modes alone make up a resultant.
void evaluate(const PfemModel& model, const std::vector<double>& u,
              const std::vector<double>& internal, PfemResults& results) {
  results.balance =
      balance_of(model, without_settlement(u, std::size_t(model.num_vertices())), internal);
  results.strain_energy = results.balance.energy;
  results.potential_energy = results.strain_energy - product(model.force, u);
  std::vector<SupportedVertices> supports;
  for (const PfemModel::Support& support : model.supports)
    supports.push_back({support.components, support.vertices, support.points});
  SupportReactions found = find_reactions(supports, model.force, internal, model.held,
                                          std::size_t(model.num_vertices()));
  results.total_load = found.total_load;
  results.total_reaction = found.total_reaction;
  results.reactions = std::move(found.of_support);
  results.reactions_of_points = std::move(found.of_points);
  if (model.exact) {
    // Without prescribed displacements the potential energy of the solution is less than that of
    // any other displacement by half the square of the error in the energy norm.
    const double energy = model.exact->energy;
    const double square = (energy + results.potential_energy) / energy;
    results.errors.emplace();
    results.errors->energy = energy;
    results.errors->energy_norm = std::sqrt(std::max(square, 0.0));
  }
}

template<class Exec>
int run_on(const Exec& exec, const PfemCommandOptions& options, const PfemModel& model,
           double read_seconds, DriverContext& context) {
  PfemResults results;
  const std::string stem = file_stem(options.problem);
  Stopwatch watch;
  results.seconds.read = read_seconds;
  announce_stars(exec, model);
  if (options.common.dry_run)
    return report_pfem_prediction(model, predict(exec, options, model), stem, context);
  context.begin_outputs(stem);
  std::optional<std::string> path;
  if (!options.no_hdf)
    path = context.claim_file(options.hdf, stem + ".hdf");

  watch = Stopwatch();
  const HierarchicModel<Exec> elements = make_elements(exec, options.problem, model);
  HierarchicSolver<Exec> solver = make_solver(exec, options, model, elements);
  results.seconds.setup = watch.seconds();
  results.kind = solver.kind();
  results.reason = solver.reason();
  results.cost = solver.cost();
  results.preconditioner = solver.describe();
  log_info("operator ", name_of(results.kind), ": ", results.reason);
  log_info("preconditioner ", results.preconditioner);

  watch = Stopwatch();
  const Array<double, Exec> f = upload(exec, "ossatura::pfem::f", model.force);
  const Array<double, Exec> u = upload(exec, "ossatura::pfem::u", model.displacement);
  context.begin_solve("the displacements", model.options.solver.cg.max_iterations,
                      model.options.solver.cg.tolerance);
  try {
    const TimedScope scope("ossatura::pfem::solve");
    const InterruptibleRegions factor_too;
    results.solve = solver.solve(exec, f, u, [&](int iteration, double residual) {
      results.solve.iterations = iteration;
      results.solve.recurrent_residual = residual;
      context.iteration(0, iteration, residual);
    });
  } catch (const Interrupted&) { // u is that of the last iteration
    results.interrupted = true;
    results.solve.residual = std::nan("");
  }
  context.end_solve();
  results.seconds.solve = watch.seconds();
  results.preconditioner = solver.describe();

  watch = Stopwatch();
  std::unique_ptr<PfemFile> file;
  {
    const TimedScope scope("ossatura::pfem::sample");
    const Array<double, Exec> internal =
        make_zeros<double>(exec, std::int64_t(u.extent(0)), "ossatura::pfem::internal");
    solver.apply(exec, u, internal);
    evaluate(model, download(exec, u), download(exec, internal), results);
    if (path)
      context.try_output(*path, [&] {
        file =
            std::make_unique<PfemFile>(*path, model, options.samples, context.options().compress);
      });
    sample_all(exec, model, elements, u, options.samples, file.get(), results);
  }
  results.seconds.sample = watch.seconds();
  return report_pfem(model, results, stem, context, [&](RunStatus status) {
    const TimedScope scope("ossatura::pfem::write");
    PfemFacts facts = provenance_texts(context.provenance());
    facts.emplace_back("status", name_of(status));
    if (file && context.try_output(*path, [&] { file->commit(facts); })) {
      results.files.push_back(*path);
      log_info("wrote ", *path);
    }
  });
}

} // namespace

int run_pfem(const PfemCommandOptions& options, DriverContext& context) {
  const Stopwatch watch;
  const PfemModel model = make_pfem_model(options, context);
  const double seconds = watch.seconds();
  return with_backend(
      context.choose_backend(3 * std::int64_t(model.numbering.num_modes)),
      [&](const auto& exec) { return run_on(exec, options, model, seconds, context); });
}

} // namespace ossatura
