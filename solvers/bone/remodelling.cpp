// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/remodelling.hpp>

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

} // namespace

template<class Exec>
BoneRemodelling<Exec>::BoneRemodelling(const RemodellingLaw& law, const VoxelProblem<Exec>& problem,
                                       const BoneLoad<Exec>& load, VoxelSolver<Exec>& solver,
                                       const std::optional<ForeignVoxels<Exec>>& foreign)
    : law_(law)
    , problem_(problem)
    , load_(load)
    , solver_(solver)
    , foreign_(foreign) {
  OSSATURA_REQUIRE(has_one_ratio(problem), "a Poisson's ratio for each voxel");
  OSSATURA_REQUIRE(!problem.ranks, "the problem is cut");
}

template<class Exec>
RemodellingStep BoneRemodelling<Exec>::take(const Exec& exec, bool changes) {
  const BoneSolution<Exec> solution = evaluate_solution(exec, problem_, load_);
  const VoxelFields<Exec> fields =
      foreign_ ? without_foreign(exec, share_nodes(exec, problem_), problem_.grid, *foreign_,
                                 problem_.lame, solution.fields)
               : solution.fields;
  // With one Poisson's ratio the moduli are there for both of Lame's constants.
  if (density_.extent(0) == 0)
    density_ = list_densities(exec, law_, fields.element, problem_.lame.mu_value);
  RemodellingStep step;
  step.state = remodel(exec, law_, fields.element, fields.energy_density, changes, density_,
                       problem_.lame.mu_value);
  step.mass = step.state.mean_density * 1e-3 * std::pow(problem_.edge, 3) *
              double(fields.element.extent(0));
  step.strain_energy = solution.strain_energy;
  step.response = solution.response;
  return step;
}

template<class Exec>
SolveResult BoneRemodelling<Exec>::solve(const Exec& exec, const IterationObserver& observe) {
  solver_.renew(exec);
  return solver_.solve(exec, load_.force, load_.u, observe,
                       cold_residual(exec, problem_, load_, solver_));
}

#define OSSATURA_INSTANTIATE(Exec) template class BoneRemodelling<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
