// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/remodelling/evolution.hpp"

#include "apps/bone/input/solver_choice.hpp"
#include "apps/driver/interrupt.hpp"
#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/solvers/bone/remodelling.hpp>

#include <cmath>

namespace ossatura {

namespace {

/// Solves for the moduli as they are. Returns whether a further step may follow.
template<class Exec>
bool solve_state(const Exec& exec, const BoneOptions& options, int number,
                 BoneRemodelling<Exec>& remodelling, RemodellingStep& step, BoneSolve& solve,
                 DriverContext& context) {
  const TimedScope scope("ossatura::bone::solve");
  const CgOptions cg = solver_options<Exec>(options).cg;
  context.begin_solve("remodelling step " + std::to_string(number) + " of " +
                          std::to_string(options.remodelling.steps),
                      cg.max_iterations, cg.tolerance);
  SolveResult solved;
  try {
    solved = remodelling.solve(exec, [&](int iteration, double residual) {
      solved.iterations = iteration;
      context.iteration(number, iteration, residual);
    });
  } catch (const Interrupted&) {
    solve.interrupted = true;
    solved.residual = std::nan("");
  }
  context.end_solve();
  step.iterations = solved.iterations;
  step.residual = solved.residual;
  solve.iterations += solved.iterations;
  if (!(solved.residual <= solve.residual)) // the worst, of which one that is no number is
    solve.residual = solved.residual;
  solve.recurrent_residual = solved.recurrent_residual;
  solve.fell_back = solve.fell_back || solved.fell_back;
  solve.converged = solved.converged && !solve.interrupted;
  solve.stalled = !solve.converged && !solve.interrupted && solved.iterations < cg.max_iterations;
  return solve.converged;
}

/// Of a rate that is too large. Returns whether it was said.
bool warn_of_oscillation(const std::vector<RemodellingStep>& steps, const RemodellingLaw& law) {
  const std::optional<double> change = find_oscillation(steps);
  if (change)
    log_warning("density-swings", "densities swing to and fro, by ", format_number(*change, 3),
                " g/cm3 a step in the mean, and do not settle, so that the last state is one of "
                "many: --remodel-rate ",
                format_number(law.rate), " is too large; take a smaller one, and more steps");
  return change.has_value();
}

/// Of a stimulus in another unit, with which all bone goes to one end of the range.
void warn_of_end(const std::vector<RemodellingStep>& steps, const RemodellingLaw& law) {
  if (const std::optional<RangeEnd> end = find_common_end(steps))
    log_warning("odd-stimulus", "all bone has the ", *end == RangeEnd::least ? "least" : "largest",
                " density of --remodel-range in the end, with a mean stimulus of ",
                format_number(steps.back().state.mean_stimulus, 3),
                " J/g beside --remodel-stimulus ", format_number(law.stimulus),
                ": that is in J/g, so that 4 J/kg are 0.004; else look at the load");
}

} // namespace

template<class Exec>
void run_remodelling(const Exec& exec, const BoneOptions& options, const BoneModel<Exec>& model,
                     const VoxelProblem<Exec>& problem, const BoneLoad<Exec>& load,
                     VoxelSolver<Exec>& solver, const std::string& path, BoneResults& results,
                     DriverContext& context) {
  if (!has_one_ratio(problem))
    fail<InputError>(
        options.input,
        ": has a Poisson's ratio for each voxel, and --remodel takes one for all: leave "
        "that image out of the file, and give --cap and --pads that of the bone");
  const RemodellingLaw law = remodelling_law(options);
  const int num_steps = options.remodelling.steps;
  results.remodelling = RemodellingResults{law, num_steps, {}};
  std::vector<RemodellingStep>& steps = results.remodelling->steps;
  std::optional<RemodellingFile> file;
  if (!path.empty()) {
    file.emplace(path);
    results.files.push_back(path);
  }
  BoneSolve& solve = results.solves.back();
  const Stopwatch watch;
  BoneRemodelling<Exec> remodelling(law, problem, load, solver, model.foreign);
  int iterations = solve.iterations;
  double residual = solve.residual;
  for (int number = 0; solve.converged; ++number) {
    RemodellingStep step = remodelling.take(exec, number < num_steps);
    step.iterations = iterations;
    step.residual = residual;
    steps.push_back(step);
    if (file)
      file->add(number, step);
    if (number == num_steps ||
        !solve_state(exec, options, number + 1, remodelling, step, solve, context))
      break;
    iterations = step.iterations;
    residual = step.residual;
  }
  solve.seconds += watch.seconds();
  if (solve.converged && !warn_of_oscillation(steps, law))
    warn_of_end(steps, law);
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template void run_remodelling(const Exec&, const BoneOptions&, const BoneModel<Exec>&,           \
                                const VoxelProblem<Exec>&, const BoneLoad<Exec>&,                  \
                                VoxelSolver<Exec>&, const std::string&, BoneResults&,              \
                                DriverContext&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
