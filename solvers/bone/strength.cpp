// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/strength.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/bone/lame_summary.hpp>
#include <ossatura/kernels/bone/loads/balance.hpp>
#include <ossatura/kernels/bone/loads/held_values.hpp>
#include <ossatura/solvers/bone/nonlinear/damage.hpp>
#include <ossatura/solvers/bone/nonlinear/plastic.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ossatura {

double StrengthStep::energy_error() const {
  const double error = std::abs(external_work - elastic_energy - dissipation);
  return error == 0 ? 0 : error / std::abs(external_work);
}

namespace {

template<class Exec>
struct KeepUnmarked {
  Array<std::uint8_t, Exec> mark;
  Array<float, Exec> from, to;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { to(i) = mark(i) != 0 ? 0.0f : from(i); }
};

/// Of the voxels that may yield.
template<class Exec>
LameSummary summarise_yielding(const Exec& exec, const VoxelProblem<Exec>& problem,
                               const Array<std::uint8_t, Exec>& elastic) {
  LameField<Exec> lame = problem.lame;
  if (elastic.extent(0) > 0) {
    OSSATURA_REQUIRE(std::int64_t(elastic.extent(0)) == problem.grid.num_nodes,
                     elastic.extent(0) << " marks for " << problem.grid.num_nodes << " nodes");
    lame.mu_value =
        make_uninitialized<float>(exec, problem.grid.num_nodes, "ossatura::strength::may_yield");
    Kokkos::parallel_for("ossatura::strength::keep_unmarked", range(exec, elastic.extent(0)),
                         KeepUnmarked<Exec>{elastic, problem.lame.mu_value, lame.mu_value});
  }
  return summarise_lame(exec, share_nodes(exec, problem), lame);
}

/// The problem with moduli that damage may change.
template<class Exec>
VoxelProblem<Exec> with_moduli(VoxelProblem<Exec> problem, const LameField<Exec>& lame) {
  problem.material = {};
  problem.lame = lame;
  return problem;
}

/// The response to a multiple of the displacements, without yield.
TestResponse scaled(TestResponse response, double by) {
  for (auto* value : {&response.displacement, &response.force, &response.strain, &response.stress,
                      &response.angle, &response.moment})
    if (*value)
      **value *= by;
  return response;
}

template<class Exec>
struct BehaviourAndSolver {
  std::unique_ptr<VoxelBehaviour<Exec>> behaviour;
  std::unique_ptr<VoxelSolver<Exec>> solver;
  std::int64_t num_yielding; ///< voxels

  BehaviourAndSolver(const Exec& exec, const VoxelProblem<Exec>& problem,
                     const StrengthOptions& options, VoxelSolverOptions linear,
                     const Array<std::uint8_t, Exec>& elastic) {
    const LameSummary lame = summarise_yielding(exec, problem, elastic);
    num_yielding = lame.num_solid;
    OSSATURA_REQUIRE(num_yielding > 0, "a strength of a model that is elastic everywhere");
    if (options.law.criterion == YieldCriterion::damage) {
      const DamageLaw law = make_damage_law(
          options.law, problem.edge, options.law.are_strains ? lame.modulus_max : lame.modulus_min);
      const DamagedVoxels<Exec> voxels =
          make_damaged_voxels(exec, problem.grid, problem.lame, problem.edge, law, elastic);
      linear.multigrid.renewable = true;
      solver =
          std::make_unique<VoxelSolver<Exec>>(exec, with_moduli(problem, voxels.damaged), linear);
      behaviour = std::make_unique<DamageBehaviour<Exec>>(problem, voxels, linear.cg.tolerance,
                                                          options.max_secant);
    } else {
      solver = std::make_unique<VoxelSolver<Exec>>(exec, problem, linear);
      behaviour = std::make_unique<PlasticBehaviour<Exec>>(
          exec, problem, make_yield_cone(options.law), linear.cg, options.linear_tolerance,
          options.max_newton, elastic);
    }
  }
};

} // namespace

template<class Exec>
struct StrengthSolver<Exec>::Implementation {
  VoxelProblem<Exec> problem;
  BoneLoad<Exec> load;
  StrengthOptions options;
  std::unique_ptr<VoxelBehaviour<Exec>> behaviour;
  std::unique_ptr<VoxelSolver<Exec>> solver;
  double num_yielding; ///< voxels
  SharedEntries nodes;
  NodeBox box;
  Array<double, Exec> u, before;  ///< mm, of this step and of the one before it
  Array<double, Exec> older;      ///< `before`, as a part of a step began; empty: not kept
  Array<double, Exec> force;      ///< less the internal forces (N): the residual at free components
  Array<double, Exec> prescribed; ///< of held components at factor 1, mm
  double reference = -1;          ///< of residuals at factor 1; not known: -1
  bool u_is_elastic = false;      ///< that of factor 1, not that of the present step
  double last_change = 0;         ///< of the factor, from `before` to `u`; 0: not known
  double reaction_work = 0;       ///< of the reactions for displacements of factor 1, N mm
  std::optional<TestResponse> elastic;
  StrengthStep present;

  Implementation(const Exec& exec, const VoxelProblem<Exec>& problem_of,
                 const BoneLoad<Exec>& load_of, const StrengthOptions& options_of,
                 const VoxelSolverOptions& linear, const Array<std::uint8_t, Exec>& elastic)
      : Implementation(exec, problem_of, load_of, options_of,
                       BehaviourAndSolver<Exec>(exec, problem_of, options_of, linear, elastic)) {}

  Implementation(const Exec& exec, const VoxelProblem<Exec>& problem_of,
                 const BoneLoad<Exec>& load_of, const StrengthOptions& options_of,
                 BehaviourAndSolver<Exec> parts)
      : problem(problem_of)
      , load(load_of)
      , options(options_of)
      , behaviour(std::move(parts.behaviour))
      , solver(std::move(parts.solver))
      , num_yielding(double(parts.num_yielding))
      , nodes(share_nodes(exec, problem))
      , box(bounding_box(exec, problem.grid))
      , u(load.u)
      , before(make_zeros<double>(exec, problem.grid.num_dofs(), "ossatura::strength::before"))
      , force(make_zeros<double>(exec, problem.grid.num_dofs(), "ossatura::strength::force"))
      , prescribed(take_held(exec, problem.held, u)) {
    if (options.keeps_state && behaviour->extrapolates())
      older = make_zeros<double>(exec, problem.grid.num_dofs(), "ossatura::strength::older");
  }

  void negate_forces(const Exec& exec) { axpby(exec, -1.0, force, 0.0, force); }

  std::optional<TestResponse> respond(const Exec& exec, double factor) {
    negate_forces(exec); // the reactions
    const std::vector<MovedSupport> supports = sum_reactions(exec, force);
    negate_forces(exec);
    return response_to(supports, factor);
  }

  std::vector<MovedSupport> sum_reactions(const Exec& exec,
                                          const Array<double, Exec>& reaction) const {
    return sum_supports(list_held_nodes(exec, problem.grid, problem.held, u, reaction,
                                        problem.lame.mu_value, ranks_of(problem), load.node_sets),
                        problem.edge, load.regions);
  }

  std::optional<TestResponse> response_to(const std::vector<MovedSupport>& supports,
                                          double factor) const {
    if (load.regions.empty())
      return listed_response(box, problem.edge, supports);
    MechanicalTest test = load.test;
    test.angle *= factor;
    test.strain *= factor; // as it is said where no plate shows it
    return plate_response(test, box, problem.edge, supports);
  }

  /// u on entry is that of the present step, on return a first guess at factor + change: along the
  /// last change, or in proportion. `before` is that of the present step then.
  void extrapolate(const Exec& exec, double change) {
    if (u_is_elastic) {
      Kokkos::deep_copy(exec, before, 0.0);
      axpby(exec, change, u, 0.0, u);
      u_is_elastic = false;
    } else if (!behaviour->extrapolates()) {
      copy(exec, u, before);
      return guess_in_proportion(exec, change);
    } else {
      if (older.extent(0) > 0)
        copy(exec, before, older);
      const double ratio = last_change == 0 ? 0 : change / last_change;
      axpby(exec, 1 + ratio, u, -ratio, before);
      std::swap(u, before);
    }
    set_held(exec, problem.held, prescribed, present.factor + change, u);
  }

  /// u = that of the present step, by the displacements at factor + change.
  void guess_in_proportion(const Exec& exec, double change) {
    const double ratio = present.factor == 0 ? 1 : 1 + change / present.factor;
    axpby(exec, ratio, before, 0.0, u);
    set_held(exec, problem.held, prescribed, present.factor + change, u);
  }

  /// The guess of a smaller change after one that failed.
  void guess_again(const Exec& exec, double change, StrengthStep& step,
                   const StrengthObserver& observe) {
    behaviour->give_up(exec, *solver);
    if (behaviour->extrapolates()) {
      axpby(exec, 0.5, before, 0.5, u);
      set_held(exec, problem.held, prescribed, present.factor + change, u);
      return;
    }
    guess_in_proportion(exec, change);
    // From no load at all that has the whole displacement in the first layer of voxels.
    if (present.factor == 0)
      step.cg_iterations += solver->solve(exec, {}, u, observe).iterations;
  }

  /// The iteration from the guess u. `scale` is what residuals are relative to.
  bool iterate(const Exec& exec, double scale, StrengthStep& step,
               const StrengthObserver& observe) {
    behaviour->begin(exec);
    double norm = behaviour->find_residual(exec, *solver, u, force), previous = norm;
    // Where all is held there are no residuals, and nothing that they could be relative to.
    const auto relative = [scale](double residual) { return residual == 0 ? 0 : residual / scale; };
    step.residuals = {relative(norm)};
    for (int iteration = 0;; ++iteration) {
      step.residual = relative(norm);
      if (norm <= options.tolerance * scale)
        return true;
      if (iteration == behaviour->max_iterations() || !std::isfinite(norm))
        return false;
      const double part = options.tolerance * scale / norm,
                   wanted = behaviour->forcing(iteration == 0, norm / previous, 1 / part);
      ++step.newton_iterations;
      previous = norm;
      const int solved = step.cg_iterations;
      norm = behaviour->improve(exec, *solver, norm, std::max(wanted, 0.3 * part), u, force,
                                step.cg_iterations, observe);
      step.residuals.push_back(relative(norm));
      if (step.cg_iterations == solved)
        return false; // its system is none that conjugate gradients can solve: so is the next
    }
  }

  /// Makes the state at u the present one. `change` is that of the factor.
  void commit(const Exec& exec, double change, StrengthStep& step) {
    step.factor = present.factor + change;
    step.response = respond(exec, step.factor);
    const BehaviourSums sums = behaviour->commit(exec, nodes, *solver, before, u);
    const double work = -dot_held(exec, problem.held, prescribed, force);
    step.external_work = present.external_work + 0.5 * change * (reaction_work + work);
    step.dissipation = present.dissipation + sums.dissipation;
    step.elastic_energy = sums.elastic_energy;
    step.changed_fraction = sums.num_changed / num_yielding;
    step.broken_fraction = sums.num_broken / num_yielding;
    step.mean_change = sums.change / num_yielding;
    step.converged = true;
    reaction_work = work;
    last_change = change;
    present = step;
  }

  /// One part of a step, or nothing where it fails: then u is that of the present step again.
  bool try_part(const Exec& exec, double change, StrengthStep& step,
                const StrengthObserver& observe) {
    const double reach = std::max(std::abs(present.factor + change), std::abs(change));
    if (iterate(exec, reach * reference, step, observe)) {
      commit(exec, change, step);
      return true;
    }
    return false;
  }

  StrengthStep advance(const Exec& exec, double factor, const StrengthObserver& observe) {
    StrengthStep step = present;
    step.newton_iterations = step.cg_iterations = step.num_halvings = 0;
    step.converged = false;
    double change = factor - present.factor;
    OSSATURA_REQUIRE(change != 0 && reference >= 0,
                     "a step from factor " << present.factor << " to " << factor);
    const double smallest = std::ldexp(std::abs(change), -options.max_halvings);
    extrapolate(exec, change);
    try {
      for (;;) {
        if (try_part(exec, change, step, observe)) {
          const double left = factor - present.factor;
          if (std::abs(left) < 0.5 * smallest)
            break;
          change = std::copysign(std::min(std::abs(left), 2 * std::abs(change)), left);
          extrapolate(exec, change);
          step.converged = false;
          continue;
        }
        if (0.5 * std::abs(change) < smallest || !std::isfinite(step.residual))
          break;
        ++step.num_halvings;
        change *= 0.5;
        guess_again(exec, change, step, observe);
      }
    } catch (...) {
      revert(exec);
      throw;
    }
    if (!step.converged)
      revert(exec);
    return step;
  }

  /// u of the present step again. That of the step before it is lost where it is not kept.
  void revert(const Exec& exec) {
    copy(exec, before, u);
    if (older.extent(0) > 0)
      copy(exec, older, before);
    else
      last_change = 0;
    fence(exec, "ossatura::strength::revert");
  }

  StrengthState state(const Exec& exec) const {
    OSSATURA_REQUIRE(present.converged && elastic, "the state of a strength without a step");
    StrengthState state{reference, last_change, reaction_work, *elastic, present, {}, {}, {}};
    state.u = download(exec, u);
    if (behaviour->extrapolates())
      state.before = download(exec, before);
    state.voxels = behaviour->state(exec);
    return state;
  }

  double set_state(const Exec& exec, const StrengthState& state) {
    const std::size_t size = u.extent(0);
    OSSATURA_REQUIRE(state.u.size() == size &&
                         state.before.size() == (behaviour->extrapolates() ? size : 0),
                     "a state of " << state.u.size() << " and " << state.before.size()
                                   << " displacements for " << size << " degrees of freedom");
    upload_to(exec, state.u, u);
    const double factor = state.present.factor;
    const HeldComparison same = compare_held(exec, problem.held, prescribed, factor, u);
    // Exactly 1 where both are the same: products are rounded monotonically.
    const double part = same.of_u / std::abs(factor * same.of_value);
    OSSATURA_REQUIRE(
        part > 0 && std::isfinite(part) &&
            compare_held(exec, problem.held, prescribed, part * factor, u).difference <=
                1e-9 * same.of_u,
        "a state of other displacements, which are no multiple of these");
    if (behaviour->extrapolates())
      upload_to(exec, state.before, before);
    behaviour->set_state(exec, *solver, state.voxels);
    fence(exec, "ossatura::strength::set_state");
    u_is_elastic = false;
    present = state.present;
    present.factor *= part;
    last_change = part * state.last_change;
    reference = state.reference / part;
    reaction_work = state.reaction_work / part;
    elastic = scaled(state.elastic, 1 / part);
    return part;
  }
};

template<class Exec>
StrengthSolver<Exec>::StrengthSolver(const Exec& exec, const VoxelProblem<Exec>& problem,
                                     const BoneLoad<Exec>& load, const StrengthOptions& options,
                                     const VoxelSolverOptions& solver,
                                     const Array<std::uint8_t, Exec>& elastic) {
  OSSATURA_REQUIRE(!problem.ranks, "a strength of a problem that is cut among processes");
  OSSATURA_REQUIRE(load.force.extent(0) == 0, "a strength under forces");
  implementation_ = std::make_unique<Implementation>(exec, problem, load, options, solver, elastic);
}

template<class Exec>
StrengthSolver<Exec>::~StrengthSolver() = default;

template<class Exec>
SolveResult StrengthSolver<Exec>::solve_elastic(const Exec& exec,
                                                const IterationObserver& observe) {
  Implementation& own = *implementation_;
  SolveResult result;
  try {
    result = own.solver->solve(exec, {}, own.u, observe);
  } catch (...) {
    Kokkos::deep_copy(exec, own.u, 0.0);
    throw;
  }
  own.reference = result.reference;
  own.u_is_elastic = true;
  own.solver->apply(exec, own.u, own.force);
  own.negate_forces(exec);
  own.elastic = own.respond(exec, 1);
  return result;
}

template<class Exec>
const std::optional<TestResponse>& StrengthSolver<Exec>::elastic_response() const {
  return implementation_->elastic;
}

template<class Exec>
StrengthStep StrengthSolver<Exec>::advance(const Exec& exec, double factor,
                                           const StrengthObserver& observe) {
  return implementation_->advance(exec, factor, observe);
}

template<class Exec>
StrengthState StrengthSolver<Exec>::state(const Exec& exec) const {
  return implementation_->state(exec);
}

template<class Exec>
double StrengthSolver<Exec>::set_state(const Exec& exec, const StrengthState& state) {
  return implementation_->set_state(exec, state);
}

template<class Exec>
const StrengthStep& StrengthSolver<Exec>::present() const {
  return implementation_->present;
}

template<class Exec>
const VoxelSolver<Exec>& StrengthSolver<Exec>::linear_solver() const {
  return *implementation_->solver;
}

template<class Exec>
void StrengthSolver<Exec>::release_linear_solver() {
  implementation_->solver.reset();
  implementation_->behaviour->release();
  implementation_->force = implementation_->before = implementation_->older = {};
}

template<class Exec>
BoneSolution<Exec> StrengthSolver<Exec>::evaluate(const Exec& exec) const {
  const TimedScope scope("ossatura::bone::fields");
  const Implementation& own = *implementation_;
  const VoxelProblem<Exec>& problem = own.problem;
  BoneSolution<Exec> solution{problem.grid, problem.lame, own.u, {}, {}, {}, {}, 0, {}};
  solution.force = make_uninitialized<double>(exec, problem.grid.num_dofs(), "ossatura::bone::Ku");
  own.behaviour->find_last_forces(exec, own.u, solution.force);
  solution.supports = own.sum_reactions(exec, solution.force);
  solution.response = own.response_to(solution.supports, own.present.factor);
  double centre[3];
  for (int d = 0; d < 3; ++d)
    centre[d] = 0.5 * problem.edge * (own.box.lower[d] + own.box.upper[d]);
  solution.balance = sum_balance(exec, own.nodes, problem.grid, problem.held.mask, problem.edge,
                                 centre, own.u, solution.force, {});
  solution.fields = own.behaviour->fields(exec, own.nodes, own.u, solution.strain_energy);
  solution.balance.energy = solution.strain_energy;
  return solution;
}

namespace {

std::optional<StrengthPoint> point_of(const std::optional<TestResponse>& response) {
  if (response && response->force && response->displacement)
    return StrengthPoint{response->strain.value_or(0), *response->displacement, *response->force};
  if (response && response->moment && response->angle)
    return StrengthPoint{0, *response->angle, *response->moment};
  return {};
}

/// Bounds of the largest force, that of point k of the curve from its start on.
std::array<double, 2> bound_ultimate(const std::vector<StrengthPoint>& curve, std::size_t k,
                                     double slope, bool breaks_at_once) {
  const StrengthPoint &largest = curve[k], &before = curve[k - 1];
  const double least = std::abs(largest.force);
  double most = 0;
  if (k + 1 < curve.size() && std::abs(curve[k + 1].force) < 0.5 * least)
    most = std::abs(largest.force + (largest.force - before.force) /
                                        (largest.displacement - before.displacement) *
                                        (curve[k + 1].displacement - largest.displacement));
  const double elastic = std::abs(slope * largest.displacement);
  if (k == 1 && breaks_at_once && least < 0.5 * elastic)
    most = std::max(most, elastic);
  return most > 0 ? std::array<double, 2>{least, most} : std::array<double, 2>{0, 0};
}

} // namespace

std::optional<StrengthFindings>
find_strength(const TestResponse& elastic, const std::vector<StrengthStep>& steps, double offset) {
  StrengthFindings found;
  std::vector<StrengthPoint> curve = {{0, 0, 0}};
  for (const StrengthStep& step : steps)
    if (const auto point = point_of(step.response); point && step.converged)
      curve.push_back(*point);
  const std::optional<StrengthPoint> whole = point_of(elastic);
  if (curve.size() < 2 || !whole)
    return {};
  const double slope = whole->force / whole->displacement;
  const double sign = whole->displacement < 0 ? -1 : 1, shift = offset * elastic.height;
  // How far the curve is above the shifted line.
  const auto above = [&](const StrengthPoint& p) {
    return sign * (p.force - slope * p.displacement) + slope * shift;
  };
  // Where the line through two points meets the shifted one.
  const auto meeting = [&](const StrengthPoint& p, const StrengthPoint& q) {
    const double part = above(p) / (above(p) - above(q));
    return StrengthPoint{p.strain + part * (q.strain - p.strain),
                         p.displacement + part * (q.displacement - p.displacement),
                         p.force + part * (q.force - p.force)};
  };
  std::size_t largest = 1;
  bool meets = !elastic.force; // moments have no yield by offset
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const StrengthPoint &a = curve[i - 1], &b = curve[i];
    if (std::abs(b.force) > std::abs(curve[largest].force))
      largest = i;
    if (meets || above(b) > 0)
      continue;
    meets = true;
    const StrengthPoint across = meeting(a, b);
    std::optional<StrengthPoint> behind;
    if (i + 1 < curve.size() && above(curve[i + 1]) < above(b) &&
        std::abs(curve[i + 1].force) >= std::abs(b.force))
      behind = meeting(b, curve[i + 1]);
    const double least = std::abs(across.force);
    double most = least;
    if (behind)
      most = std::max(least, std::abs(behind->force));
    else if (above(a) > 0.5 * slope * shift) // hardly bent so far
      most = std::max(least, std::abs(b.force));
    found.yield_between = {least, most};
    if (found.is_yield_coarse())
      found.yield = behind;
    else
      found.yield = across;
  }
  found.ultimate = curve[largest];
  found.ultimate_between = bound_ultimate(curve, largest, slope, steps[0].broken_fraction > 0);
  const StrengthPoint &last = curve.back(), &former = curve[curve.size() - 2];
  found.still_rises =
      found.ultimate.displacement == last.displacement &&
      (last.force - former.force) / (last.displacement - former.displacement) > 0.005 * slope;
  return found;
}

#define OSSATURA_INSTANTIATE(Exec) template class StrengthSolver<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
