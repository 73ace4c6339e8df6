// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/remodelling.hpp>

#include <ossatura/kernels/algebra/reproducible_sums/free_norm.hpp>
#include <ossatura/kernels/bone/loads/held_values.hpp>

#include <algorithm>
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

/// Changes of some states.
struct Swing {
  double sum = 0, most = 0, reversal = 0;

  Swing(const RemodellingStep* begin, const RemodellingStep* end) {
    for (; begin != end; ++begin) {
      sum += begin->state.mean_change;
      most = std::max(most, begin->state.mean_change);
      reversal += begin->state.mean_reversal;
    }
  }
};

} // namespace

std::optional<double> find_oscillation(const std::vector<RemodellingStep>& steps) {
  // Cycles of two states take back all, those of three, as from one bound to the other and half the
  // way back, a third of it, as some evolutions do for a while before they settle. A rate that is a
  // hundredth below its limit makes changes that settle by some 3 % a step.
  constexpr std::size_t least_states = 7, long_half = 8;
  constexpr double settling = 0.97, as_large = 0.7, of_rounding = 1e-3;
  const std::size_t count = steps.size();
  if (count < least_states)
    return {};
  const std::size_t half = std::max(least_states - 1, count / 2) / 2;
  const double taken_back = half < long_half ? 0.75 : 0.25;
  const RemodellingStep* const end = steps.data() + count;
  const Swing first(end - 2 * half, end - half), last(end - half, end);
  const double sum = first.sum + last.sum, change = sum / double(2 * half);
  if (first.reversal + last.reversal < taken_back * sum ||
      last.most < std::max(as_large, std::pow(settling, double(half))) * first.most ||
      change <= of_rounding * steps.back().state.mean_density)
    return {};
  return change;
}

std::optional<RangeEnd> find_common_end(const std::vector<RemodellingStep>& steps) {
  constexpr double nearly_all = 0.99;
  if (steps.size() < 2)
    return {};
  const RemodellingState& last = steps.back().state;
  if (last.at_least >= nearly_all)
    return RangeEnd::least;
  return last.at_most >= nearly_all ? std::optional(RangeEnd::most) : std::nullopt;
}

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
  if (density_.extent(0) == 0) {
    density_ = list_densities(exec, law_, fields.element, problem_.lame.mu_value);
    change_ = make_zeros<float>(exec, density_.extent(0), "ossatura::bone::remodelling::change");
  }
  RemodellingStep step;
  step.state = remodel(exec, law_, fields.element, fields.energy_density, changes, density_,
                       problem_.lame.mu_value, change_);
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
