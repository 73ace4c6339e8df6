// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <ossatura/core/base/timer.hpp>
#include <ossatura/kernels/hexa/geometry.hpp>
#include <ossatura/kernels/topopt/cone_filter.hpp>
#include <ossatura/kernels/topopt/hexa_energies.hpp>
#include <ossatura/kernels/topopt/tanh_projection.hpp>
#include <ossatura/kernels/topopt/update.hpp>
#include <ossatura/solvers/topopt/helmholtz_filter.hpp>
#include <ossatura/solvers/topopt/mma.hpp>
#include <ossatura/solvers/topopt/optimality_criteria.hpp>

#include <cmath>
#include <optional>
#include <sstream>

namespace ossatura {

namespace {

template<class... Parts>
[[noreturn]] void break_down(const Parts&... parts) {
  fail<DesignBreakdown>(parts...);
}

void check_continuation(const Continuation& c, double least, const char* what) {
  OSSATURA_REQUIRE(c.start >= least && std::isfinite(c.start) && c.end >= c.start &&
                       std::isfinite(c.end),
                   what << " from " << c.start << " to " << c.end);
  OSSATURA_REQUIRE(c.every >= 0, what << " grows every " << c.every << " steps");
  OSSATURA_REQUIRE(c.every == 0 || c.end == c.start || c.start * c.factor + c.increment > c.start,
                   what << " does not grow: factor " << c.factor << ", increment " << c.increment);
}

const DesignOptions& checked(const DesignOptions& o) {
  OSSATURA_REQUIRE(o.volume_fraction > 0 && o.volume_fraction < 1,
                   "a volume fraction of " << o.volume_fraction);
  OSSATURA_REQUIRE(o.min_modulus > 0 && o.min_modulus < 1, "a least modulus of " << o.min_modulus);
  OSSATURA_REQUIRE(o.radius >= 0 && std::isfinite(o.radius), "a filter of radius " << o.radius);
  OSSATURA_REQUIRE(o.move > 0 && o.move <= 1, "a move limit of " << o.move);
  OSSATURA_REQUIRE(o.start >= 0 && o.start <= 1, "a first density of " << o.start);
  OSSATURA_REQUIRE(o.change_tolerance >= 0 && o.max_steps >= 0,
                   "change " << o.change_tolerance << ", " << o.max_steps << " steps");
  check_continuation(o.penalty, 1, "the penalty");
  if (o.projection) {
    check_continuation(o.sharpness, 1e-6, "the sharpness");
    OSSATURA_REQUIRE(o.threshold >= 0 && o.threshold <= 1, "a threshold of " << o.threshold);
    OSSATURA_REQUIRE(o.filter != DesignFilter::sensitivity,
                     "projection is of filtered densities: density or Helmholtz filter");
  }
  return o;
}

/// The value after `steps` steps, given that before the last of them.
double grown(const Continuation& c, double value, int steps) {
  if (c.every == 0 || steps % c.every != 0 || value >= c.end)
    return value;
  return std::min(c.end, value * c.factor + c.increment);
}

bool at_end(const Continuation& c, double value) {
  return c.every == 0 || value >= c.end;
}

MirrorPlanes mirror_planes(const DesignProblem& problem) {
  MirrorPlanes planes;
  for (const MirrorPlane& mirror : problem.mirrors) {
    OSSATURA_REQUIRE(mirror.axis >= 0 && mirror.axis < 3 && std::isfinite(mirror.place),
                     "a mirror normal to axis " << mirror.axis << " at " << mirror.place);
    double low = mirror.place, high = mirror.place;
    for (std::size_t i = std::size_t(mirror.axis); i < problem.mesh.point.size(); i += 3) {
      low = std::min(low, problem.mesh.point[i]);
      high = std::max(high, problem.mesh.point[i]);
    }
    OSSATURA_REQUIRE(std::min(mirror.place - low, high - mirror.place) <= 1e-6 * (high - low),
                     "the mirror normal to axis " << mirror.axis << " at " << mirror.place
                                                  << " cuts the body, which reaches from " << low
                                                  << " to " << high);
    int& count = planes.count[mirror.axis];
    OSSATURA_REQUIRE(count < 2, "more than two mirrors normal to axis " << mirror.axis);
    planes.place[mirror.axis][count++] = mirror.place;
  }
  return planes;
}

/// Forces [num_nodes, 3]; `what` names them in errors.
std::vector<double> sum_forces(const std::vector<NodeForce>& forces, std::size_t num_nodes,
                               const std::string& what) {
  std::vector<double> sum(3 * num_nodes);
  for (const NodeForce& f : forces) {
    OSSATURA_REQUIRE(f.node >= 0 && std::size_t(f.node) < num_nodes,
                     what << ": node " << f.node << " of " << num_nodes);
    for (int c = 0; c < 3; ++c) {
      OSSATURA_REQUIRE(std::isfinite(f.force[c]), what << ": " << f.force[c] << " at " << f.node);
      sum[3 * std::size_t(f.node) + std::size_t(c)] += f.force[c];
    }
  }
  return sum;
}

} // namespace

template<class Exec>
struct DesignOptimizer<Exec>::Impl {
  using Vector = Array<double, Exec>;

  struct Case {
    Vector force;
    double weight;
  };

  DesignOptions options;
  double young;
  HexaSolver<Exec> solver;
  HexaGeometry<Exec> geometry;
  Array<std::uint8_t, Exec> role;
  std::vector<Case> cases;
  Vector output; ///< of mechanisms: the displacement's direction, and the adjoint's load
  double radius = 0;
  std::optional<ConeFilter<Exec>> cone;
  std::optional<HelmholtzFilter<Exec>> helmholtz;
  std::optional<Mma<Exec>> mma;

  Vector x, x_new, filtered, density, modulus; ///< [num_elem], as those below
  Vector df, lower, upper, scratch;
  Vector dv; ///< of the volume fraction by variables
  bool dv_known = false;
  std::vector<Vector> u, u_trial; ///< of the cases, then of the adjoint
  Vector product;                 ///< [num_nodes, 3]
  DesignSums sums;                ///< of `density`
  double scale = 0, penalty, sharpness, change = 1;
  int steps = 0;

  Impl(const Exec& exec, const DesignProblem& problem, const DesignOptions& given)
      : options(checked(given))
      , young(problem.young)
      , solver(exec, problem.mesh, problem.poisson, problem.held, options.solver)
      , penalty(options.penalty.start)
      , sharpness(options.projection ? options.sharpness.start : 0) {
    const TimedScope scope("ossatura::design_optimizer");
    OSSATURA_REQUIRE(young > 0 && std::isfinite(young), "a modulus of " << young);
    geometry = measure_hexas(exec, solver.arrays());
    make_loads(exec, problem);
    make_roles(exec, problem);
    make_filter(exec, problem);
    for (Vector* vector : {&x, &x_new, &modulus, &df, &dv, &lower, &upper, &scratch})
      *vector = make_zeros<double>(exec, num_elem(), "ossatura::design::by_element");
    // Where nothing changes densities on the way they are one array.
    const bool has_filtered = cone_means() || helmholtz;
    filtered =
        has_filtered ? make_zeros<double>(exec, num_elem(), "ossatura::design::filtered") : x;
    density = make_zeros<double>(exec, num_elem(), "ossatura::design::density");
    product = make_zeros<double>(exec, num_dofs(), "ossatura::design::product");
    const std::size_t num_solves = cases.size() + (is_mechanism() ? 1 : 0);
    for (std::size_t k = 0; k < num_solves; ++k) {
      u.push_back(make_zeros<double>(exec, num_dofs(), "ossatura::design::u"));
      u_trial.push_back(make_zeros<double>(exec, num_dofs(), "ossatura::design::u_trial"));
    }
    if (options.method == DesignMethod::mma)
      mma.emplace(exec, num_elem(), 1);
    start(exec);
  }

  std::int64_t num_elem() const { return solver.arrays().num_elem; }
  std::int64_t num_dofs() const { return 3 * std::int64_t(solver.arrays().num_nodes); }
  bool is_mechanism() const { return options.objective == DesignObjective::mechanism; }
  bool cone_means() const { return options.filter == DesignFilter::density; }
  SimpLaw law() const { return {young, options.min_modulus, penalty}; }
  /// Variables of 0 would stay there for good.
  double least() const { return options.filter == DesignFilter::sensitivity ? 1e-3 : 0; }

  /// On the components that are free; throws if there is nothing.
  Vector make_force(const Exec& exec, const std::vector<NodeForce>& forces, std::size_t num_nodes,
                    const std::string& what) const {
    const Vector force =
        upload(exec, "ossatura::design::force", sum_forces(forces, num_nodes, what));
    clear(exec, solver.held(), force);
    OSSATURA_REQUIRE(dot(exec, force, force) > 0, what << ": nothing on components that are free");
    return force;
  }

  void make_loads(const Exec& exec, const DesignProblem& problem) {
    const std::size_t num_nodes = problem.mesh.num_points();
    OSSATURA_REQUIRE(!problem.cases.empty(), "no load case");
    for (std::size_t k = 0; k < problem.cases.size(); ++k) {
      const DesignLoadCase& c = problem.cases[k];
      std::ostringstream what;
      what << "load case " << k + 1;
      if (!c.loads.name.empty())
        what << " (" << c.loads.name << ')';
      OSSATURA_REQUIRE(c.weight > 0 && std::isfinite(c.weight), what.str()
                                                                    << ": weight " << c.weight);
      cases.push_back({make_force(exec, c.loads.forces, num_nodes, what.str()), c.weight});
    }
    OSSATURA_REQUIRE(is_mechanism() == !problem.output.empty(),
                     problem.output.size() << " output directions, which are of mechanisms alone");
    if (is_mechanism())
      output = make_force(exec, problem.output, num_nodes, "the output");
    if (problem.springs.empty())
      return;
    std::vector<double> spring(3 * num_nodes);
    for (const NodeSpring& s : problem.springs) {
      OSSATURA_REQUIRE(s.node >= 0 && std::size_t(s.node) < num_nodes && s.component >= 0 &&
                           s.component < 3 && s.stiffness >= 0 && std::isfinite(s.stiffness),
                       "a spring of " << s.stiffness << " from component " << s.component
                                      << " of node " << s.node);
      spring[3 * std::size_t(s.node) + std::size_t(s.component)] += s.stiffness;
    }
    solver.set_springs(exec, upload(exec, "ossatura::design::spring", spring));
  }

  void make_roles(const Exec& exec, const DesignProblem& problem) {
    const std::size_t n = std::size_t(num_elem());
    OSSATURA_REQUIRE(problem.role.empty() || problem.role.size() == n,
                     problem.role.size() << " roles of " << n << " elements");
    std::vector<std::uint8_t> value(n, std::uint8_t(DesignRole::free));
    for (std::size_t e = 0; e < problem.role.size(); ++e) {
      OSSATURA_REQUIRE(problem.role[e] <= DesignRole::void_, "element " << e << " without a role");
      value[e] = std::uint8_t(problem.role[e]);
    }
    role = upload(exec, "ossatura::design::role", value);
  }

  void make_filter(const Exec& exec, const DesignProblem& problem) {
    const MirrorPlanes mirrors = mirror_planes(problem);
    if (options.filter == DesignFilter::none)
      return;
    radius = options.radius > 0 ? options.radius : 1.5 * geometry.mean_edge;
    const auto reaches_nothing = [&](const char* why) {
      fail<std::invalid_argument>(
          "the filter's radius of ", radius, " m ", why, ": edges are of ", geometry.mean_edge,
          " m in the mean. Without a filter that reaches neighbours designs "
          "are checkerboards: take 1.5 edges or more, or the filter none");
    };
    if (options.filter == DesignFilter::helmholtz) { // zero flux: all of the boundary is a mirror
      if (radius < geometry.mean_edge)
        reaches_nothing("is below the size of the elements");
      helmholtz.emplace(exec, solver.arrays(), radius);
      return;
    }
    cone = make_cone_filter(exec, geometry.centroid, geometry.volume, radius, mirrors);
    if (num_elem() > 1 && std::int64_t(cone->column.extent(0)) == num_elem())
      reaches_nothing("reaches no element's neighbour");
  }

  void start(const Exec& exec) {
    Kokkos::deep_copy(exec, density, 0.0);
    set_passive(exec, role, 1, 0, density);
    const DesignSums passive = sum_design(exec, role, geometry.volume, density);
    const double aim = options.volume_fraction * passive.total_volume - passive.volume;
    OSSATURA_REQUIRE(passive.free_volume > 0, "no element is free");
    OSSATURA_REQUIRE(aim > 0, "solid elements are " << passive.volume / passive.total_volume
                                                    << " of the volume, the fraction is "
                                                    << options.volume_fraction);
    const double first =
        options.start > 0 ? options.start : std::min(1.0, aim / passive.free_volume);
    Kokkos::deep_copy(exec, x, std::max(first, least()));
    set_passive(exec, role, 1, 0, x);
    refresh(exec);
  }

  void check_filter(const SolveResult& result) const {
    if (!result.converged)
      break_down("the Helmholtz filter of step ", steps + 1, " did not converge: residual ",
                 result.true_relative_residual, " after ", result.iterations, " iterations");
  }

  /// The physical densities of x, their sums, and the gradient of the volume fraction, which does
  /// not depend on x where filters are linear.
  void refresh(const Exec& exec) {
    const TimedScope scope("ossatura::design::filter");
    if (cone_means())
      apply_cone_filter(exec, *cone, x, filtered);
    else if (helmholtz)
      check_filter(helmholtz->apply(exec, x, filtered));
    if (options.projection)
      project(exec, projection(), filtered, density);
    else
      Kokkos::deep_copy(exec, density, filtered);
    set_passive(exec, role, 1, 0, density);
    sums = sum_design(exec, role, geometry.volume, density);
    if (!dv_known || options.projection) {
      axpby(exec, 1 / sums.total_volume, geometry.volume, 0.0, dv);
      chain(exec, dv);
      dv_known = true;
    }
  }

  TanhProjection projection() const { return {sharpness, options.threshold}; }

  /// Makes a gradient by physical densities one by variables.
  void chain(const Exec& exec, const Vector& gradient) {
    set_passive(exec, role, 0, 0, gradient);
    if (options.projection)
      project_back(exec, projection(), filtered, gradient);
    if (cone_means()) {
      apply_cone_filter_transposed(exec, *cone, gradient, scratch);
      Kokkos::deep_copy(exec, gradient, scratch);
    } else if (helmholtz) {
      check_filter(helmholtz->apply_transposed(exec, gradient, gradient));
    }
    set_passive(exec, role, 0, 0, gradient);
  }

  /// Solves for all loads and evaluates the design; u holds the solutions unless it throws.
  DesignStep analyse(const Exec& exec) {
    DesignStep step;
    step.penalty = penalty;
    step.sharpness = sharpness;
    step.volume = sums.volume / sums.total_volume;
    step.grey = sums.grey / sums.free_volume;
    Stopwatch timer;
    fill_modulus(exec, law(), density, modulus);
    {
      const TimedScope scope("ossatura::design::prepare");
      solver.set_modulus(exec, modulus);
    }
    step.seconds_prepare = timer.seconds();
    for (std::size_t k = 0; k < u.size(); ++k)
      step.solves.push_back(solve(exec, k));
    step.seconds_solve = timer.seconds() - step.seconds_prepare;
    for (std::size_t k = 0; k < cases.size(); ++k) {
      const Vector& probe = is_mechanism() ? output : cases[k].force;
      step.cases.push_back(dot(exec, probe, u_trial[k]));
      step.objective += cases[k].weight * step.cases.back();
    }
    if (!std::isfinite(step.objective))
      break_down("step ", steps + 1, ": the objective is not finite");
    std::swap(u, u_trial);
    return step;
  }

  HexaSolveResult solve(const Exec& exec, std::size_t k) {
    const TimedScope scope("ossatura::design::solve");
    const bool adjoint = k == cases.size();
    const Vector& force = adjoint ? output : cases[k].force;
    const Vector& trial = u_trial[k];
    if (options.warm_start)
      Kokkos::deep_copy(exec, trial, u[k]);
    else
      Kokkos::deep_copy(exec, trial, 0.0);
    const HexaSolveResult result = solver.solve(exec, force, trial);
    const auto where = [&] {
      std::ostringstream text;
      text << "step " << steps + 1 << ", "
           << (adjoint ? std::string("adjoint") : "load case " + std::to_string(k + 1));
      return text.str();
    };
    if (!result.converged)
      break_down(where(), ": no solution, residual ", result.relative_residual, " after ",
                 result.iterations, " iterations of conjugate gradients (tolerance ",
                 options.solver.tolerance, "): more iterations, a larger least modulus, ",
                 "or is a part held by nothing?");
    // f . u - u . A u = u . (f - A u) is the first-order error of f . u, which a small residual
    // bounds badly where the void is very soft.
    solver.apply(exec, trial, product);
    const double work = dot(exec, force, trial), energy = dot(exec, product, trial);
    if (!(std::fabs(work - energy) <= 0.01 * std::fabs(energy)))
      break_down(where(), ": the work of the forces is ", work, " and twice the energy ", energy,
                 ": the residual of ", result.relative_residual, " is too large");
    return result;
  }

  /// df = gradient of what is minimised by variables. Returns the sum of |rho dphi/drho|.
  double gradient(const Exec& exec) {
    const TimedScope scope("ossatura::design::gradient");
    const HexaArrays<Exec>& arrays = solver.arrays();
    Kokkos::deep_copy(exec, df, 0.0);
    for (std::size_t k = 0; k < cases.size(); ++k)
      add_energies(exec, arrays, solver.lame(), cases[k].weight, u[k],
                   is_mechanism() ? u.back() : u[k], df);
    // Compliance falls with the energies; what a mechanism minimises is minus its output.
    scale_by_slope(exec, law(), density, is_mechanism() ? 1 : -1, df);
    const double size = sum_of_sizes(exec, density, df);
    if (!std::isfinite(size))
      break_down("step ", steps + 1, ": the gradient is not finite");
    if (options.filter == DesignFilter::sensitivity) {
      filter_sensitivities(exec, *cone, x, df, scratch);
      Kokkos::deep_copy(exec, df, scratch);
      set_passive(exec, role, 0, 0, df);
    } else {
      chain(exec, df);
    }
    return size;
  }

  /// x_new from x, df, dv. With MMA the objective is scaled once by 10 / (first objective), for
  /// compliance, as TopOpt in PETSc does (N. Aage, E. Andreassen, B. Lazarov, Struct. Multidiscip.
  /// Optim. 51 (2015) 565-572, doi:10.1007/s00158-014-1157-0).
  void update(const Exec& exec, double size) {
    const TimedScope scope("ossatura::design::update");
    move_bounds(exec, role, x, least(), options.move, lower, upper);
    const double volume = sums.volume / sums.total_volume;
    double multiplier;
    if (mma) {
      if (scale == 0)
        scale = size > 0 ? 10 * penalty / size : 1;
      multiplier = mma->propose(exec, x, scale, df, {volume - options.volume_fraction}, dv, lower,
                                upper, x_new)[0];
    } else {
      // Per Sigmund (1997), mechanisms use a smaller damping exponent (0.3): their gradients change
      // sign.
      multiplier =
          optimality_step(exec, OcArrays<Exec>{x, lower, upper, df, dv, geometry.volume, scratch},
                          options.volume_fraction - volume, options.volume_fraction,
                          is_mechanism() ? 0.3 : 0.5, options.multiplier_tolerance, x_new);
    }
    if (!std::isfinite(multiplier) || !std::isfinite(sum_of_sizes(exec, x_new, x_new)))
      break_down("step ", steps + 1, ": the new design is not finite");
  }

  DesignStep step(const Exec& exec) {
    DesignStep report = analyse(exec);
    const double scale_before = scale;
    Stopwatch timer;
    try {
      const double size = gradient(exec);
      report.seconds_gradient = timer.seconds();
      update(exec, size);
    } catch (...) {
      std::swap(u, u_trial);
      scale = scale_before;
      throw;
    }
    report.change = change = largest_difference(exec, x_new, x);
    if (mma)
      mma->accept(exec, x);
    std::swap(x, x_new);
    if (filtered.data() == x_new.data())
      filtered = x;
    report.number = ++steps;
    penalty = grown(options.penalty, penalty, steps);
    if (options.projection)
      sharpness = grown(options.sharpness, sharpness, steps);
    refresh(exec);
    report.seconds_update = timer.seconds() - report.seconds_gradient;
    return report;
  }

  /// Physical volume by that allowed, less 1.
  double excess() const { return sums.volume / sums.total_volume / options.volume_fraction - 1; }

  void lower_design(const Exec& exec, double by) {
    lower_free(exec, role, x_new, least(), by, x);
    refresh(exec);
  }

  /// The same is taken from all variables, where the volume is too large: the nearest design within
  /// the constraint, where volumes are equal and filters keep them. What to take is found by false
  /// position (Illinois), which keeps the root between `low` and `high`.
  bool meet_volume(const Exec& exec) {
    constexpr double slack = 1e-7; // of the volume: the aim is half of it below the limit
    if (excess() <= slack)
      return true;
    const TimedScope scope("ossatura::design::meet_volume");
    Kokkos::deep_copy(exec, x_new, x);
    const auto value = [&] { return excess() + slack / 2; };
    double low = 0, at_low = value();
    double high = options.move;
    lower_design(exec, high);
    double at_high = value();
    if (at_high > 0) {
      lower_design(exec, 0);
      return false;
    }
    double now = at_high;
    for (int k = 0, same = 0; k < 100 && std::fabs(now) > slack / 2; ++k) {
      const double by = (low * at_high - high * at_low) / (at_high - at_low);
      lower_design(exec, by);
      now = value();
      if (now > 0) {
        low = by;
        at_low = now;
        at_high *= same > 0 ? 0.5 : 1;
        same = 1;
      } else {
        high = by;
        at_high = now;
        at_low *= same < 0 ? 0.5 : 1;
        same = -1;
      }
    }
    if (now > slack / 2)
      lower_design(exec, high);
    return true;
  }

  bool continues() const {
    return !at_end(options.penalty, penalty) ||
           (options.projection && !at_end(options.sharpness, sharpness));
  }
};

template<class Exec>
DesignOptimizer<Exec>::DesignOptimizer(const Exec& exec, const DesignProblem& problem,
                                       const DesignOptions& options)
    : impl_(std::make_unique<Impl>(exec, problem, options)) {}

template<class Exec>
DesignOptimizer<Exec>::~DesignOptimizer() = default;

template<class Exec>
const HexaSolver<Exec>& DesignOptimizer<Exec>::solver() const {
  return impl_->solver;
}

template<class Exec>
double DesignOptimizer<Exec>::radius() const {
  return impl_->radius;
}

template<class Exec>
bool DesignOptimizer<Exec>::has_converged() const {
  return impl_->steps > 0 && !impl_->continues() && impl_->change < impl_->options.change_tolerance;
}

template<class Exec>
bool DesignOptimizer<Exec>::is_done() const {
  return has_converged() || impl_->steps >= impl_->options.max_steps;
}

template<class Exec>
int DesignOptimizer<Exec>::num_steps() const {
  return impl_->steps;
}

template<class Exec>
DesignStep DesignOptimizer<Exec>::step(const Exec& exec) {
  return impl_->step(exec);
}

template<class Exec>
bool DesignOptimizer<Exec>::meet_volume(const Exec& exec) {
  return impl_->meet_volume(exec);
}

template<class Exec>
DesignStep DesignOptimizer<Exec>::analyse(const Exec& exec) {
  return impl_->analyse(exec);
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::objective_gradient(const Exec& exec) {
  impl_->gradient(exec);
  if (impl_->is_mechanism()) // maximised
    axpby(exec, -1.0, impl_->df, 0.0, impl_->df);
  return download(exec, impl_->df);
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::volume_gradient(const Exec& exec) const {
  return download(exec, impl_->dv);
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::densities(const Exec& exec) const {
  return download(exec, impl_->density);
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::variables(const Exec& exec) const {
  return download(exec, impl_->x);
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::displacements(const Exec& exec, int which) const {
  OSSATURA_REQUIRE(which >= 0 && which < int(impl_->cases.size()), "load case " << which);
  return download(exec, impl_->u[std::size_t(which)]);
}

template<class Exec>
std::vector<double> DesignOptimizer<Exec>::energies(const Exec& exec) const {
  const Impl& own = *impl_;
  Kokkos::deep_copy(exec, own.scratch, 0.0);
  for (std::size_t k = 0; k < own.cases.size(); ++k)
    add_energies(exec, own.solver.arrays(), own.solver.lame(), 0.5, own.u[k], own.u[k],
                 own.scratch);
  energy_density(exec, own.modulus, own.geometry.volume, own.scratch);
  return download(exec, own.scratch);
}

template<class Exec>
DesignState DesignOptimizer<Exec>::state(const Exec& exec) const {
  const Impl& own = *impl_;
  DesignState state;
  state.steps = own.steps;
  state.x = download(exec, own.x);
  if (own.mma) {
    const MmaHistory<Exec>& history = own.mma->history();
    state.x_old = download(exec, history.x_old);
    state.x_older = download(exec, history.x_older);
    state.low = download(exec, history.low);
    state.high = download(exec, history.high);
  }
  state.scale = own.scale;
  state.penalty = own.penalty;
  state.sharpness = own.sharpness;
  state.change = own.change;
  for (const auto& u : own.u)
    state.displacement.push_back(download(exec, u));
  return state;
}

template<class Exec>
void DesignOptimizer<Exec>::set_state(const Exec& exec, const DesignState& state) {
  Impl& own = *impl_;
  const std::size_t n = std::size_t(own.num_elem()), history = own.mma ? n : 0;
  OSSATURA_REQUIRE(state.x.size() == n, state.x.size() << " variables of " << n << " elements");
  for (const std::vector<double>* values : {&state.x_old, &state.x_older, &state.low, &state.high})
    OSSATURA_REQUIRE(values->size() == history,
                     values->size() << " values of the history, which has " << history);
  OSSATURA_REQUIRE(state.displacement.size() == own.u.size(),
                   state.displacement.size() << " displacements of " << own.u.size() << " solves");
  for (const std::vector<double>& u : state.displacement)
    OSSATURA_REQUIRE(u.size() == std::size_t(own.num_dofs()),
                     u.size() << " displacements of " << own.num_dofs() << " components");
  upload_to(exec, state.x, own.x);
  if (own.mma) {
    MmaHistory<Exec>& to = own.mma->history();
    to.steps = state.steps;
    upload_to(exec, state.x_old, to.x_old);
    upload_to(exec, state.x_older, to.x_older);
    upload_to(exec, state.low, to.low);
    upload_to(exec, state.high, to.high);
  }
  for (std::size_t k = 0; k < own.u.size(); ++k)
    upload_to(exec, state.displacement[k], own.u[k]);
  fence(exec, "ossatura::design::set_state");
  own.steps = state.steps;
  own.scale = state.scale;
  own.penalty = state.penalty;
  own.sharpness = state.sharpness;
  own.change = state.change;
  own.refresh(exec);
  fill_modulus(exec, own.law(), own.density, own.modulus);
}

#define OSSATURA_INSTANTIATE(Exec) template class DesignOptimizer<Exec>;
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
