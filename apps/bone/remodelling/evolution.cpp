// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/remodelling/evolution.hpp"

#include "apps/bone/input/solver_choice.hpp"
#include "apps/driver/interrupt.hpp"
#include <ossatura/kernels/algebra/reproducible_sums/free_norm.hpp>
#include <ossatura/kernels/bone/loads/held_values.hpp>

#include <cmath>

namespace ossatura {

namespace {

/// The residual of a start from rest, to which that of a step is relative: a start from the state
/// before has a small one, of which no part would be met.
template<class Exec>
double cold_residual(const Exec& exec, const VoxelProblem<Exec>& problem,
                     const BoneLoad<Exec>& load, const VoxelSolver<Exec>& solver) {
  const auto start =
      make_zeros<double>(exec, load.u.extent(0), "ossatura::bone::remodelling::start");
  set_held(exec, problem.held, take_held(exec, problem.held, load.u), 1, start);
  const auto force =
      make_uninitialized<double>(exec, load.u.extent(0), "ossatura::bone::remodelling::force");
  solver.apply(exec, start, force);
  if (load.force.extent(0) > 0)
    axpby(exec, 1.0, load.force, -1.0, force);
  return free_norm(exec, problem.held.mask, force);
}

/// Solves for the moduli as they are. Returns whether a further step may follow.
template<class Exec>
bool solve_state(const Exec& exec, const BoneOptions& options, const VoxelProblem<Exec>& problem,
                 const BoneLoad<Exec>& load, int number, VoxelSolver<Exec>& solver,
                 RemodellingStep& step, BoneSolve& solve, DriverContext& context) {
  const TimedScope scope("ossatura::bone::solve");
  const CgOptions cg = solver_options<Exec>(options).cg;
  context.begin_solve("remodelling step " + std::to_string(number) + " of " +
                          std::to_string(options.remodelling.steps),
                      cg.max_iterations, cg.tolerance);
  SolveResult solved;
  try {
    solver.renew(exec);
    solved = solver.solve(
        exec, load.force, load.u,
        [&](int iteration, double residual) {
          solved.iterations = iteration;
          context.iteration(number, iteration, residual);
        },
        cold_residual(exec, problem, load, solver));
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

} // namespace

template<class Exec>
void run_remodelling(const Exec& exec, const BoneOptions& options, const BoneModel<Exec>& model,
                     const VoxelProblem<Exec>& problem, const BoneLoad<Exec>& load,
                     VoxelSolver<Exec>& solver, const std::string& path, BoneResults& results,
                     DriverContext& context) {
  if (problem.lame.lambda_value.data() != problem.lame.mu_value.data())
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
  Array<double, Exec> density;
  RemodellingStep step;
  step.iterations = solve.iterations;
  step.residual = solve.residual;
  for (int number = 0; solve.converged; ++number) {
    const BoneSolution<Exec> solution = evaluate_solution(exec, problem, load);
    const VoxelFields<Exec> fields =
        model.foreign ? without_foreign(exec, share_nodes(exec, problem), problem.grid,
                                        *model.foreign, problem.lame, solution.fields)
                      : solution.fields;
    // With one Poisson's ratio the moduli are there for both of Lame's constants.
    if (number == 0)
      density = list_densities(exec, law, fields.element, problem.lame.mu_value);
    step.state = remodel(exec, law, fields.element, fields.energy_density, number < num_steps,
                         density, problem.lame.mu_value);
    step.mass = step.state.mean_density * 1e-3 * std::pow(problem.edge, 3) *
                double(fields.element.extent(0));
    step.strain_energy = solution.strain_energy;
    step.response = solution.response;
    steps.push_back(step);
    if (file)
      file->add(number, step);
    if (number == num_steps ||
        !solve_state(exec, options, problem, load, number + 1, solver, step, solve, context))
      break;
  }
  solve.seconds += watch.seconds();
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template void run_remodelling(const Exec&, const BoneOptions&, const BoneModel<Exec>&,           \
                                const VoxelProblem<Exec>&, const BoneLoad<Exec>&,                  \
                                VoxelSolver<Exec>&, const std::string&, BoneResults&,              \
                                DriverContext&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
