// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/strength.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/kernels/algebra/reproducible_sums/free_norm.hpp>
#include <ossatura/kernels/bone/gather_operator.hpp>
#include <ossatura/kernels/bone/loads/balance.hpp>
#include <ossatura/kernels/bone/loads/held_values.hpp>
#include <ossatura/kernels/bone/plasticity/voxels.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ossatura {

namespace {

/// So much of the elastic matrix stays in the tangent: voxels at the apex of a cone, and bodies
/// that flow without hardening, have none of their own.
constexpr double elastic_part = 1e-6;

template<class Exec>
struct TangentCorrection final : VoxelCorrection<Exec> {
  const PlasticVoxels<Exec>& voxels;
  const PlasticState<Exec>& state;
  const Array<double, Exec>& u;

  TangentCorrection(const PlasticVoxels<Exec>& voxels_of, const PlasticState<Exec>& state_of,
                    const Array<double, Exec>& u_of)
      : voxels(voxels_of)
      , state(state_of)
      , u(u_of) {}
  void add(const Exec& exec, const Array<double, Exec>& x,
           const Array<double, Exec>& y) const override {
    subtract_plastic_tangent(exec, voxels, state, u, 1 - elastic_part, x, y);
  }
  void add(const Exec& exec, const Array<float, Exec>& x,
           const Array<float, Exec>& y) const override {
    subtract_plastic_tangent(exec, voxels, state, u, 1 - elastic_part, x, y);
  }
};

} // namespace

double StrengthStep::energy_error() const {
  const double error = std::abs(external_work - elastic_energy - plastic_work);
  return error == 0 ? 0 : error / std::abs(external_work);
}

template<class Exec>
struct StrengthSolver<Exec>::Implementation {
  VoxelProblem<Exec> problem;
  BoneLoad<Exec> load;
  StrengthOptions options;
  std::unique_ptr<VoxelSolver<Exec>> solver;
  PlasticVoxels<Exec> voxels;
  PlasticState<Exec> state;
  SharedEntries nodes;
  NodeBox box;
  Array<double, Exec> u, before;  ///< mm, of this step and of the one before it
  Array<double, Exec> force;      ///< less the internal forces (N): the residual at free components
  Array<double, Exec> delta;      ///< mm, a step of Newton's iteration
  Array<double, Exec> prescribed; ///< of held components at factor 1, mm
  CgOptions cg;
  double reference = -1;     ///< of residuals at factor 1; not known: -1
  bool u_is_elastic = false; ///< that of factor 1, not that of the present step
  double last_change = 0;    ///< of the factor, from `before` to `u`; 0: not known
  double reaction_work = 0;  ///< of the reactions for displacements of factor 1, N mm
  std::optional<TestResponse> elastic;
  StrengthStep present;

  Implementation(const Exec& exec, const VoxelProblem<Exec>& problem_of,
                 const BoneLoad<Exec>& load_of, const StrengthOptions& options_of,
                 const VoxelSolverOptions& solver_of)
      : problem(problem_of)
      , load(load_of)
      , options(options_of)
      , solver(std::make_unique<VoxelSolver<Exec>>(exec, problem, solver_of))
      , voxels{problem.grid, problem.lame, problem.edge, make_yield_cone(options.law),
               make_voxel_colours(exec, problem.grid)}
      , state(make_plastic_state(exec, problem.grid))
      , nodes(share_nodes(exec, problem))
      , box(bounding_box(exec, problem.grid))
      , u(load.u)
      , before(make_zeros<double>(exec, problem.grid.num_dofs(), "ossatura::strength::before"))
      , force(make_zeros<double>(exec, problem.grid.num_dofs(), "ossatura::strength::force"))
      , delta(make_zeros<double>(exec, problem.grid.num_dofs(), "ossatura::strength::delta"))
      , prescribed(take_held(exec, problem.held, u))
      , cg(solver_of.cg) {}

  void negate_forces(const Exec& exec) { axpby(exec, -1.0, force, 0.0, force); }

  /// force = less the internal forces at u; returns the norm of the residual.
  double evaluate_forces(const Exec& exec) {
    solver->apply(exec, u, force);
    subtract_plastic_forces(exec, voxels, state, u, force);
    negate_forces(exec);
    return free_norm(exec, problem.held.mask, force);
  }

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
  /// last change. `before` is that of the present step then.
  void extrapolate(const Exec& exec, double change) {
    if (u_is_elastic) {
      Kokkos::deep_copy(exec, before, 0.0);
      axpby(exec, change, u, 0.0, u);
      u_is_elastic = false;
    } else {
      const double ratio = last_change == 0 ? 0 : change / last_change;
      axpby(exec, 1 + ratio, u, -ratio, before);
      std::swap(u, before);
    }
    set_held(exec, problem.held, prescribed, present.factor + change, u);
  }

  /// Solves for a step along the tangent. Returns the iterations.
  int solve_tangent(const Exec& exec, double tolerance, const IterationObserver& observe) {
    Kokkos::deep_copy(exec, delta, 0.0);
    CgOptions linear = cg;
    linear.tolerance = options.linear_tolerance > 0 ? options.linear_tolerance : tolerance;
    linear.reference = 0;
    const TangentCorrection<Exec> tangent(voxels, state, u);
    return solver->solve_corrected(exec, linear, tangent, force, delta, observe).iterations;
  }

  /// u += s delta with the part s of the step at which the potential, which is convex, is near its
  /// minimum along it. Returns the norm of the residual there.
  double search(const Exec& exec) {
    const double slope = dot(exec, delta, force);
    double part = 1;
    axpby(exec, 1.0, delta, 1.0, u);
    double norm = evaluate_forces(exec);
    for (int trial = 0; trial < 8; ++trial) {
      const double now = dot(exec, delta, force);
      if (now >= -0.8 * slope || !std::isfinite(now))
        break;
      const double next = part * std::clamp(slope / (slope - now), 0.1, 0.9);
      axpby(exec, next - part, delta, 1.0, u);
      part = next;
      norm = evaluate_forces(exec);
    }
    return norm;
  }

  /// Newton's iteration from the guess u. `scale` is what residuals are relative to.
  bool iterate(const Exec& exec, double scale, StrengthStep& step,
               const StrengthObserver& observe) {
    double norm = evaluate_forces(exec), previous = norm;
    step.residuals = {norm / scale};
    for (int iteration = 0;; ++iteration) {
      step.residual = norm / scale;
      if (norm <= options.tolerance * scale)
        return true;
      if (iteration == options.max_newton || !std::isfinite(norm))
        return false;
      // As quadratic convergence can use it (Eisenstat and Walker, doi:10.1137/0917003).
      const double drop = norm / previous;
      const double wanted = iteration == 0 ? 0.01 : std::min(0.1, drop * drop);
      step.cg_iterations +=
          solve_tangent(exec, std::max(wanted, 0.3 * options.tolerance * scale / norm), observe);
      ++step.newton_iterations;
      previous = norm;
      norm = search(exec);
      step.residuals.push_back(norm / scale);
    }
  }

  /// Makes the state at u the present one. `change` is that of the factor.
  void commit(const Exec& exec, double change, StrengthStep& step) {
    step.factor = present.factor + change;
    step.response = respond(exec, step.factor);
    const PlasticSums sums = commit_plastic(exec, nodes, voxels, state, before, u);
    const double work = -dot_held(exec, problem.held, prescribed, force);
    step.external_work = present.external_work + 0.5 * change * (reaction_work + work);
    step.plastic_work = present.plastic_work + sums.work;
    step.elastic_energy = sums.elastic_energy;
    step.plastic_fraction = sums.num_plastic / problem.grid.num_elem;
    step.mean_plastic_strain = (1 - voxels.cone.pressure) * sums.multiplier / problem.grid.num_elem;
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
        axpby(exec, 0.5, before, 0.5, u);
        set_held(exec, problem.held, prescribed, present.factor + change, u);
      }
    } catch (...) {
      revert(exec);
      throw;
    }
    if (!step.converged)
      revert(exec);
    return step;
  }

  /// u of the present step again. That of the step before it is lost.
  void revert(const Exec& exec) {
    copy(exec, before, u);
    last_change = 0;
    fence(exec, "ossatura::strength::revert");
  }
};

template<class Exec>
StrengthSolver<Exec>::StrengthSolver(const Exec& exec, const VoxelProblem<Exec>& problem,
                                     const BoneLoad<Exec>& load, const StrengthOptions& options,
                                     const VoxelSolverOptions& solver) {
  OSSATURA_REQUIRE(!problem.ranks, "a strength of a problem that is cut among processes");
  OSSATURA_REQUIRE(load.force.extent(0) == 0, "a strength under forces");
  implementation_ = std::make_unique<Implementation>(exec, problem, load, options, solver);
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
  implementation_->delta = implementation_->force = implementation_->before = {};
}

template<class Exec>
BoneSolution<Exec> StrengthSolver<Exec>::evaluate(const Exec& exec) const {
  const TimedScope scope("ossatura::bone::fields");
  const Implementation& own = *implementation_;
  const VoxelProblem<Exec>& problem = own.problem;
  BoneSolution<Exec> solution{problem.grid, problem.lame, own.u, {}, {}, {}, {}, 0, {}};
  solution.force = make_uninitialized<double>(exec, problem.grid.num_dofs(), "ossatura::bone::Ku");
  GatherOperator<Exec>(exec, problem.grid, problem.lame, problem.edge)
      .apply(exec, own.u, solution.force);
  subtract_plastic_forces(exec, own.voxels, own.state, own.u, solution.force);
  solution.supports = own.sum_reactions(exec, solution.force);
  solution.response = own.response_to(solution.supports, own.present.factor);
  double centre[3];
  for (int d = 0; d < 3; ++d)
    centre[d] = 0.5 * problem.edge * (own.box.lower[d] + own.box.upper[d]);
  solution.balance = sum_balance(exec, own.nodes, problem.grid, problem.held.mask, problem.edge,
                                 centre, own.u, solution.force, {});
  solution.fields =
      compute_plastic_fields(exec, own.nodes, own.voxels, own.state, own.u, solution.strain_energy);
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
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const StrengthPoint &a = curve[i - 1], &b = curve[i];
    if (std::abs(b.force) > std::abs(found.ultimate.force))
      found.ultimate = b;
    if (found.yield || !elastic.force || above(b) > 0)
      continue;
    const double part = above(a) / (above(a) - above(b));
    found.yield = {a.strain + part * (b.strain - a.strain),
                   a.displacement + part * (b.displacement - a.displacement),
                   a.force + part * (b.force - a.force)};
  }
  const StrengthPoint &last = curve.back(), &former = curve[curve.size() - 2];
  found.still_rises =
      found.ultimate.displacement == last.displacement &&
      (last.force - former.force) / (last.displacement - former.displacement) > 0.01 * slope;
  return found;
}

#define OSSATURA_INSTANTIATE(Exec) template class StrengthSolver<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
