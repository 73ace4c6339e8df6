// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/strength.hpp"

#include "apps/bone/input/solver_choice.hpp"
#include "apps/driver/context.hpp"
#include "apps/driver/interrupt.hpp"
#include <ossatura/core/base/timer.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace ossatura {

namespace {

/// Solves for the whole load without yield. Returns whether steps may follow.
template<class Exec>
bool solve_elastic(const Exec& exec, const CgOptions& cg, StrengthSolver<Exec>& solver,
                   BoneSolve& solve, DriverContext& context) {
  const TimedScope scope("ossatura::bone::solve");
  context.begin_solve("elastic", cg.max_iterations, cg.tolerance);
  SolveResult& result = solve;
  try {
    result = solver.solve_elastic(exec, [&](int iteration, double residual) {
      result.iterations = iteration;
      result.recurrent_residual = residual;
      context.iteration(0, iteration, residual);
    });
  } catch (const Interrupted&) {
    solve.interrupted = true;
    solve.residual = std::nan("");
  }
  context.end_solve();
  solve.stalled = !solve.converged && !solve.interrupted && solve.iterations < cg.max_iterations;
  return solve.converged;
}

/// Goes to the next of the steps. Returns whether that succeeded.
template<class Exec>
bool take_step(const Exec& exec, const CgOptions& cg, int number, StrengthSolver<Exec>& solver,
               StrengthResults& strength, BoneSolve& solve, DriverContext& context) {
  const TimedScope scope("ossatura::bone::solve");
  const int count = strength.num_steps;
  context.begin_solve("step " + std::to_string(number) + " of " + std::to_string(count),
                      cg.max_iterations, cg.tolerance);
  int before = 0, last = 0; // of the step's systems that are done, and of the present one
  bool is_done = false;
  try {
    throw_if_interrupted(); // where bone is elastic yet, steps have no iterations
    const StrengthStep step =
        solver.advance(exec, double(number) / count, [&](int iteration, double residual) {
          if (iteration == 0) {
            before += last;
            last = 0;
          } else {
            last = iteration;
          }
          context.iteration(number, before + last, residual);
        });
    solve.iterations += step.cg_iterations;
    solve.residual = std::max(solve.residual, step.residual);
    is_done = step.converged;
    if (is_done)
      strength.steps.push_back(step);
    else
      solve.residual =
          std::isfinite(step.residual) ? step.residual : std::numeric_limits<double>::infinity();
  } catch (const Interrupted&) {
    solve.iterations += before + last;
    solve.interrupted = true;
  }
  context.end_solve();
  return is_done;
}

void warn_of_end(const StrengthResults& strength) {
  if (strength.found && strength.found->still_rises)
    log_warning("no-ultimate-load", "the force still rises at the last step: what is reported as "
                                    "the ultimate load is that of the largest displacement; go "
                                    "further with --strain, --displacement or --fix");
}

} // namespace

template<class Exec>
BoneSolution<Exec> run_strength(const Exec& exec, const BoneOptions& options,
                                const BoneModel<Exec>& model, const VoxelProblem<Exec>& problem,
                                const BoneLoad<Exec>& load, const std::string& curve,
                                BoneResults& results, DriverContext& context) {
  if (load.force.extent(0) > 0)
    fail<UsageError>("the input has forces, and --strength goes by displacement: prescribe those");
  check_fracture_energy(options, problem.edge, results.model.modulus_min,
                        results.model.modulus_max);
  const VoxelSolverOptions linear = solver_options<Exec>(options);
  StrengthOptions beyond;
  beyond.law = yield_law(options.strength);
  beyond.tolerance = options.tolerance;
  results.strength = StrengthResults{
      beyond.law, options.strength.offset, options.strength.steps, {}, {}, false, {}};
  StrengthResults& strength = *results.strength;
  const Stopwatch watch;
  std::unique_ptr<StrengthCurve> rows;
  if (!curve.empty()) {
    rows = std::make_unique<StrengthCurve>(curve, beyond.law.criterion);
    results.files.push_back(curve);
  }
  StrengthSolver<Exec> solver = [&] {
    const TimedScope scope("ossatura::bone::setup");
    return StrengthSolver<Exec>(exec, problem, load, beyond, linear,
                                model.foreign
                                    ? mark_foreign(exec, problem.grid, *model.foreign, problem.lame)
                                    : Array<std::uint8_t, Exec>());
  }();
  results.levels = solver.linear_solver().level_info();
  BoneSolve solve;
  solve.load = results.test;
  if (solve_elastic(exec, linear.cg, solver, solve, context)) {
    const std::optional<TestResponse>& elastic = solver.elastic_response();
    if (!elastic)
      fail<UsageError>("--strength needs a force and a displacement for its curve: hold one side, "
                       "and move another, or choose a test between plates");
    strength.turns = elastic->moment.has_value();
    strength.elastic = *elastic;
    int number = 1;
    while (number <= strength.num_steps &&
           take_step(exec, linear.cg, number, solver, strength, solve, context)) {
      if (rows)
        rows->add(number, strength.steps.back());
      ++number;
    }
    solve.converged = number > strength.num_steps;
    strength.found = find_strength(*elastic, strength.steps, strength.offset);
    warn_of_end(strength);
  }
  solve.seconds = watch.seconds();
  solve.recurrent_residual = solve.residual;
  results.solves.push_back(solve);
  results.work = solver.linear_solver().work();
  results.launch_graph = name_of(solver.linear_solver().launch_graph());
  solver.release_linear_solver();
  return solver.evaluate(exec);
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template BoneSolution<Exec> run_strength(                                                        \
      const Exec&, const BoneOptions&, const BoneModel<Exec>&, const VoxelProblem<Exec>&,          \
      const BoneLoad<Exec>&, const std::string&, BoneResults&, DriverContext&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
