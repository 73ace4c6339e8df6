// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/strength.hpp"

#include "apps/bone/input/solver_choice.hpp"
#include "apps/bone/output/strength_checkpoint.hpp"
#include "apps/driver/context.hpp"
#include "apps/driver/interrupt.hpp"
#include "apps/driver/problem/library_message.hpp"
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

/// The number of the first step beyond a factor.
int next_step(const StrengthResults& strength, double factor) {
  return int(std::floor(factor * strength.num_steps * (1 + 1e-9) + 1e-9)) + 1;
}

void warn_of_end(const StrengthResults& strength) {
  if (strength.found && strength.found->is_yield_coarse())
    log_warning("coarse-steps", "the yield load lies between ",
                format_number(strength.found->yield_between[0], 3), " and ",
                format_number(strength.found->yield_between[1], 3),
                " N: the curve bends between two steps that are too long to say where; take more "
                "--load-steps");
  if (strength.found && strength.found->is_ultimate_coarse())
    log_warning("coarse-steps", "the load drops within a step: the ultimate ",
                strength.turns ? "moment" : "load", " lies between ",
                format_number(strength.found->ultimate_between[0], 3), " and ",
                format_number(strength.found->ultimate_between[1], 3),
                strength.turns ? " N mm" : " N", "; take more --load-steps");
  if (strength.found && strength.found->still_rises)
    log_warning("no-ultimate-load", "the force still rises at the last step: what is reported as "
                                    "the ultimate load is that of the largest displacement; go "
                                    "further with --strain, --displacement or --fix");
}

/// Writes states of a run to its checkpoint.
template<class Exec>
class StrengthRecorder {
public:
  StrengthRecorder(const StrengthChoice& choice, const std::string& path, StrengthIdentity identity,
                   DriverContext& context)
      : every_(choice.checkpoint_every.value_or(0))
      , path_(path)
      , identity_(std::move(identity))
      , context_(context) {}

  /// After a step that is not the last.
  void between(const Exec& exec, const StrengthSolver<Exec>& solver,
               const StrengthResults& strength) {
    if (every_ > 0 && strength.steps.size() % std::size_t(every_) == 0)
      write(exec, solver, strength);
  }

  /// Returns whether there is a checkpoint to go on from.
  bool write(const Exec& exec, const StrengthSolver<Exec>& solver,
             const StrengthResults& strength) {
    if (path_.empty() || strength.steps.empty())
      return false;
    const TimedScope scope("ossatura::bone::checkpoint");
    const bool written = context_.try_output(path_, [&] {
      write_strength_checkpoint(path_, {solver.state(exec), strength.steps, elastic}, identity_,
                                provenance_texts(context_.provenance()));
    });
    if (written)
      log_verbose("wrote ", path_, " after step ", strength.steps.size());
    return written;
  }

  SolveResult elastic; ///< of the solve without yield

private:
  int every_;
  std::string path_;
  StrengthIdentity identity_;
  DriverContext& context_;
};

/// Sets the state of --resume, with the steps so far.
template<class Exec>
SolveResult resume(const Exec& exec, const StrengthChoice& choice, const StrengthIdentity& identity,
                   StrengthSolver<Exec>& solver, StrengthResults& strength, BoneSolve& solve,
                   DriverContext& context) {
  const StrengthCheckpoint from = read_strength_checkpoint(choice.resume, identity);
  context.provenance().inputs.push_back(record_input(choice.resume));
  double part = 1;
  try {
    part = solver.set_state(exec, from.state);
  } catch (const std::invalid_argument& error) {
    fail<InputError>(choice.resume, ": ", library_message(error),
                     "; test and displacements must be as they were, but for the size of the "
                     "latter");
  }
  strength.steps = from.steps;
  for (StrengthStep& step : strength.steps)
    step.factor *= part;
  strength.first_step = int(strength.steps.size());
  if (next_step(strength, solver.present().factor) > strength.num_steps)
    fail<UsageError>("--resume ", choice.resume, ": its ", strength.first_step,
                     " steps go as far as this run would, or farther: give a larger --strain, or "
                     "displacement, and --load-steps of the same size");
  solve.iterations = from.elastic.iterations;
  solve.residual = from.elastic.residual;
  for (const StrengthStep& step : strength.steps) {
    solve.iterations += step.cg_iterations;
    solve.residual = std::max(solve.residual, step.residual);
  }
  log_info("resumed after step ", strength.first_step);
  return from.elastic;
}

/// Follows the load from the present step on.
template<class Exec>
void follow(const Exec& exec, const CgOptions& cg, StrengthSolver<Exec>& solver,
            StrengthCurve* rows, StrengthRecorder<Exec>& recorder, StrengthResults& strength,
            BoneSolve& solve, DriverContext& context) {
  for (std::size_t i = 0; rows != nullptr && i < strength.steps.size(); ++i)
    rows->add(int(i) + 1, strength.steps[i]);
  int number = next_step(strength, solver.present().factor);
  while (number <= strength.num_steps &&
         take_step(exec, cg, number, solver, strength, solve, context)) {
    if (rows != nullptr)
      rows->add(int(strength.steps.size()), strength.steps.back());
    if (++number <= strength.num_steps)
      recorder.between(exec, solver, strength);
  }
  solve.converged = number > strength.num_steps;
}

} // namespace

template<class Exec>
BoneSolution<Exec> run_strength(const Exec& exec, const BoneOptions& options,
                                const BoneModel<Exec>& model, const VoxelProblem<Exec>& problem,
                                const BoneLoad<Exec>& load, const StrengthFiles& files,
                                BoneResults& results, DriverContext& context) {
  if (load.force.extent(0) > 0)
    fail<UsageError>("the input has forces, and --strength goes by displacement: prescribe those");
  check_fracture_energy(options, problem.edge, results.model.modulus_min,
                        results.model.modulus_max);
  const StrengthChoice& choice = options.strength;
  const VoxelSolverOptions linear = solver_options<Exec>(options);
  StrengthOptions beyond;
  beyond.law = yield_law(choice);
  beyond.tolerance = options.tolerance;
  beyond.keeps_state = !files.checkpoint.empty();
  results.strength = StrengthResults{beyond.law, choice.offset, choice.steps, {}, {}};
  StrengthResults& strength = *results.strength;
  const Stopwatch watch;
  const Array<std::uint8_t, Exec> elastic =
      model.foreign ? mark_foreign(exec, problem.grid, *model.foreign, problem.lame)
                    : Array<std::uint8_t, Exec>();
  StrengthIdentity identity;
  if (!files.checkpoint.empty() || !choice.resume.empty())
    identity = identify(exec, problem, elastic, beyond);
  StrengthRecorder<Exec> recorder(choice, files.checkpoint, identity, context);
  StrengthSolver<Exec> solver = [&] {
    const TimedScope scope("ossatura::bone::setup");
    return StrengthSolver<Exec>(exec, problem, load, beyond, linear, elastic);
  }();
  results.levels = solver.linear_solver().level_info();
  BoneSolve solve;
  solve.load = results.test;
  const bool resumes = !choice.resume.empty();
  if (resumes)
    recorder.elastic = resume(exec, choice, identity, solver, strength, solve, context);
  std::unique_ptr<StrengthCurve> rows; // replaces what was there: after all refusals
  if (!files.curve.empty()) {
    rows = std::make_unique<StrengthCurve>(files.curve, beyond.law.criterion);
    results.files.push_back(files.curve);
  }
  if (resumes || solve_elastic(exec, linear.cg, solver, solve, context)) {
    const std::optional<TestResponse>& answer = solver.elastic_response();
    if (!answer)
      fail<UsageError>("--strength needs a force and a displacement for its curve: hold one side, "
                       "and move another, or choose a test between plates");
    strength.turns = answer->moment.has_value();
    strength.elastic = *answer;
    if (!resumes)
      recorder.elastic = solve;
    follow(exec, linear.cg, solver, rows.get(), recorder, strength, solve, context);
    strength.found = find_strength(*answer, strength.steps, strength.offset);
    warn_of_end(strength);
    strength.has_checkpoint = recorder.write(exec, solver, strength);
    if (strength.has_checkpoint)
      results.files.push_back(files.checkpoint);
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
      const BoneLoad<Exec>&, const StrengthFiles&, BoneResults&, DriverContext&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
