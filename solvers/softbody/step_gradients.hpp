// SPDX-License-Identifier: Apache-2.0
// StepGradients take the derivatives of an objective by the state after a step of backward Euler to
// those by the state before, by the loads, and by the moduli and densities. With M the lumped mass,
// alpha and beta of Rayleigh, K = df/dx and D = dK/dx v at the end, Newton's iteration solves
//
//   r = M (v - v0) + h (f(x) + beta K(x) v + alpha M v - load) = 0,   x = x0 + h v,
//
// for the free v; fixed nodes keep v0. With weights w of x and v the multiplier is that of
//
//   J l = h w_x + w_v,   J = dr/dv = (1 + h alpha) M + h (h + beta) K + h^2 beta D,
//
// one system with the matrix of a Newton iteration where beta = 0. It is solved with that matrix;
// what D adds is a correction, and repeated.
#pragma once

#include <ossatura/kernels/algebra/gather_rows.hpp>
#include <ossatura/kernels/algebra/reproducible_sums/parts.hpp>
#include <ossatura/kernels/softbody/elements/stiffness_products.hpp>
#include <ossatura/solvers/softbody/system_solver.hpp>

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace ossatura {

namespace detail {

/// What the adjoint has of one node's components: arrays [num_nodes, 3], mass [num_nodes].
struct AdjointArrays {
  double h, rayleigh_mass, rayleigh_stiffness;
  ArrayPointer<const std::uint8_t> fixed;
  ArrayPointer<const double> mass, multiplier, by_stiffness, by_change;

  /// (K + beta D) l
  KOKKOS_INLINE_FUNCTION double damped(std::int64_t i) const {
    return by_stiffness(i) + rayleigh_stiffness * by_change(i);
  }
};

struct AdjointResidual {
  AdjointArrays a;
  ArrayPointer<const double> weight;
  ArrayPointer<double> residual;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const double inertia = (1 + a.h * a.rayleigh_mass) * a.mass(i / 3) * a.multiplier(i);
    const double elastic = a.h * a.damped(i) + a.rayleigh_stiffness * a.by_stiffness(i);
    residual(i) = a.fixed(i / 3) ? 0.0 : weight(i) - inertia - a.h * elastic;
  }
};

struct PullBack {
  AdjointArrays a;
  ArrayPointer<double> by_position, by_velocity, by_load;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const bool fixed = a.fixed(i / 3);
    const double by_x = by_position(i) - a.h * a.damped(i);
    by_velocity(i) =
        fixed ? by_velocity(i) + a.h * by_x - a.h * a.rayleigh_stiffness * a.by_stiffness(i)
              : a.mass(i / 3) * a.multiplier(i);
    by_position(i) = by_x;
    by_load(i) = fixed ? 0.0 : a.h * a.multiplier(i);
  }
};

/// What a node's mass and weight do along the multiplier, by the entries of a body's points.
template<class Exec>
struct DensityWork {
  std::int64_t first; ///< 3 times the body's first point
  double step, rayleigh_mass;
  Kokkos::Array<double, 3> gravity;
  Array<int, Exec> node_of_point;
  Array<double, Exec> mass;                                  ///< [num_nodes]
  Array<double, Exec> by_load, start_velocities, velocities; ///< [points, 3]

  KOKKOS_FUNCTION void operator()(std::int64_t k, double (&sum)[1]) const {
    const std::int64_t i = first + k;
    const double acceleration = (velocities(i) - start_velocities(i)) / step;
    sum[0] += by_load(i) * mass(node_of_point(i / 3)) *
              (gravity[int(i % 3)] - rayleigh_mass * velocities(i) - acceleration);
  }
};

} // namespace detail

/// A body as its gradients see it.
struct SteppedObject {
  std::string name;
  SoftMaterial material;
  double density; ///< 0: its mass is that of its nodes
};

/// Throws UsageError where steps have no gradients.
inline void require_smooth_steps(const SoftOptions& options,
                                 const std::vector<SteppedObject>& objects, bool has_contact) {
  if (has_contact)
    fail<UsageError>("gradients of a step with contact: its forces are not smooth; take the "
                     "obstacles, and contact between objects, out of the scene");
  if (options.newton_iterations == 1)
    fail<UsageError>("gradients of a step by one Newton iteration, which is not solved: take "
                     "newton_iterations of 20");
  for (const SteppedObject& object : objects)
    if (object.material.law == SoftLaw::corotational)
      fail<UsageError>("gradients of '", object.name,
                       "': the corotational law has no exact tangent; take stvk, neo_hookean or "
                       "mooney_rivlin, which are for tetrahedra");
}

/// Derivatives by the parameters of a law, from those by its coefficients: lambda, mu or c1, c2,
/// bulk.
inline SoftObjectGradient by_parameters(const SoftMaterial& m, const double (&by)[3]) {
  SoftObjectGradient gradient;
  if (moduli_of(m.law) == SoftModuli::mooney_rivlin) {
    gradient.c1 = by[0];
    gradient.c2 = by[1];
    gradient.bulk = by[2];
    return gradient;
  }
  // lambda = E nu / ((1 + nu) (1 - 2 nu)), mu = E / (2 (1 + nu))
  const double nu = m.poisson, product = (1 + nu) * (1 - 2 * nu);
  gradient.young = by[0] * nu / product + by[1] / (2 * (1 + nu));
  gradient.poisson = m.young * (by[0] * (1 + 2 * nu * nu) / (product * product) -
                                by[1] / (2 * (1 + nu) * (1 + nu)));
  return gradient;
}

/// All vectors are [num_nodes, 3], in nodes.
template<class Exec>
class StepAdjoint {
public:
  using Vector = Array<double, Exec>;

  StepAdjoint(const Exec& exec, SoftSystems<Exec>& systems)
      : systems_(systems)
      , resident_(systems.product.get()) {
    const std::int64_t n = 3 * std::int64_t(systems.numbering.num_nodes);
    for (Vector* vector : {&multiplier_, &weight_, &by_stiffness_, &by_change_})
      *vector = make_zeros<double>(exec, n, "ossatura::soft::adjoint");
    for (Vector* slots : {&stiffness_slots_, &change_slots_})
      *slots = make_zeros<double>(exec, 3 * systems.system.map().num_slots,
                                  "ossatura::soft::adjoint_slots");
  }

  /// h times it are the derivatives by loads. Of the last pull_back().
  const Vector& multiplier() const { return multiplier_; }

  /// Forms the matrix of a step h that ended at x, v. Returns the number of elements inside out.
  /// Fences.
  int form(const Exec& exec, double h, const Vector& x, const Vector& v) {
    const SoftOptions& options = systems_.options;
    const SoftCoefficients c{1 + h * options.rayleigh_mass, h * (h + options.rayleigh_stiffness), 0,
                             0};
    systems_.system.collect(exec, c, x, v);
    systems_.system.compress(exec, c, v, v, systems_.cg.b);
    return download(exec, systems_.system.inverted())[0];
  }

  /// After form() of that step: replaces the derivatives of an objective by x and v by those by the
  /// state before, and sets those by loads. `residual` of the report is relative to the weights;
  /// `converged` where it is at most ten times options.tolerance. With `fresh` it takes no factor
  /// of another step. Fences.
  SolveResult pull_back(const Exec& exec, double h, bool fresh, const Vector& x, const Vector& v,
                        const Vector& by_position, const Vector& by_velocity,
                        const Vector& by_load) {
    const SoftOptions& options = systems_.options;
    if (fresh)
      resident_.plan(0);
    wants_fresh_ = wants_fresh_ || fresh; // also after steps whose weights are 0
    Kokkos::deep_copy(exec, multiplier_, 0.0);
    Kokkos::deep_copy(exec, weight_, by_velocity);
    axpby(exec, h, by_position, 1.0, weight_);
    detail::AdjointArrays arrays{h,
                                 options.rayleigh_mass,
                                 options.rayleigh_stiffness,
                                 {systems_.system.map().fixed},
                                 {systems_.system.mass()},
                                 {multiplier_},
                                 {by_stiffness_},
                                 {by_change_}};
    if (systems_.product)
      systems_.product->update(exec, systems_.system.matrix());

    SolveResult result;
    SoftStep solves;
    double before = 0;
    for (bool first = true;; first = false) {
      multiply(exec, x, v);
      Kokkos::parallel_for("ossatura::adjoint_residual", range(exec, x.extent(0)),
                           detail::AdjointResidual{arrays, {weight_}, {systems_.cg.b}});
      const double norm = std::sqrt(dot(exec, systems_.cg.b, systems_.cg.b));
      if (first)
        result.reference = norm;
      result.residual = norm > 0 ? norm / result.reference : 0;
      const bool stalls = !first && !(norm < 0.5 * before);
      if (result.residual <= 2 * options.tolerance || stalls)
        break;
      before = norm;
      if ((first && !refresh(exec, h, x, solves)) || !add_solution(exec, x, solves)) {
        result.broken = true;
        break;
      }
    }
    result.iterations = solves.iterations;
    result.converged = !result.broken && result.residual <= 10 * options.tolerance;
    Kokkos::parallel_for("ossatura::pull_back", range(exec, x.extent(0)),
                         detail::PullBack{arrays, {by_position}, {by_velocity}, {by_load}});
    fence(exec, "ossatura::soft::pull_back");
    return result;
  }

  /// -h l . (f + beta K v) of an object by the coefficients of its law. After pull_back(). Fences.
  void by_coefficients(const Exec& exec, std::size_t object, double h, const Vector& x,
                       const Vector& v, double (&by_coefficient)[3]) const {
    force_work(exec, systems_.system.elements()[object], x, v, multiplier_,
               systems_.options.rayleigh_stiffness, by_coefficient);
    for (double& value : by_coefficient)
      value *= -h;
  }

private:
  SoftSystems<Exec>& systems_;
  ResidentSolve<Exec> resident_; ///< its own: a run's plans do not depend on gradients
  Vector multiplier_, weight_, by_stiffness_, by_change_, stiffness_slots_, change_slots_;
  bool wants_fresh_ = true; ///< no factor yet of the motion that goes backwards

  /// K l and D l of the multiplier.
  void multiply(const Exec& exec, const Vector& x, const Vector& v) {
    std::int64_t slot = 0;
    for (const SoftElements<Exec>& elements : systems_.system.elements()) {
      const std::int64_t slots =
          3 * std::int64_t(elements.num_elem) * nodes_per_elem(elements.shape);
      const auto part = std::make_pair(slot, slot + slots);
      stiffness_products(exec, elements, x, v, multiplier_,
                         Vector(Kokkos::subview(stiffness_slots_, part)),
                         Vector(Kokkos::subview(change_slots_, part)));
      slot += slots;
    }
    gather_node_forces(exec, systems_.system.map(), stiffness_slots_, by_stiffness_);
    gather_node_forces(exec, systems_.system.map(), change_slots_, by_change_);
  }

  bool refresh(const Exec& exec, double h, const Vector& at, SoftStep& solves) {
    return systems_.refresh(exec, h, at, std::exchange(wants_fresh_, false), solves);
  }

  /// Adds the solution of A x = cg.b to the multiplier. False where A is not positive definite.
  bool add_solution(const Exec& exec, const Vector& at, SoftStep& solves) {
    const SolveResult solved =
        systems_.solve(exec, resident_, at, systems_.options.tolerance, solves);
    axpby(exec, 1.0, systems_.cg.x, 1.0, multiplier_);
    return !solved.broken;
  }
};

/// Gradients of the steps of a scene.
template<class Exec>
class StepGradients {
public:
  using Vector = Array<double, Exec>;

  /// node_of_point [num_nodes].
  StepGradients(const Exec& exec, SoftSystems<Exec>& systems, const std::array<double, 3>& gravity,
                const Array<int, Exec>& node_of_point)
      : systems_(systems)
      , gravity_{gravity[0], gravity[1], gravity[2]}
      , node_of_point_(node_of_point)
      , adjoint_(exec, systems) {
    const std::int64_t n = 3 * std::int64_t(systems.numbering.num_nodes);
    for (Vector* vector : {&x_, &v_, &by_x_, &by_v_, &by_load_, &last_start_})
      *vector = make_zeros<double>(exec, n, "ossatura::soft::gradients");
  }

  /// SoftSolver::pull_back() of a scene that require_smooth_steps() passed. A factor of the step
  /// after it is used again, where the last call was for that one and nothing else has changed
  /// factors since (`goes_on`): so the gradient of a motion has the same bits each time.
  SoftStepGradient pull_back(const Exec& exec, const std::vector<SteppedObject>& objects,
                             bool goes_on, const SoftRecord<Exec>& record,
                             const SoftWeights<Exec>& weights, const Vector& by_loads) {
    const double h = systems_.options.time_step;
    const bool fresh = !goes_on || largest_difference(exec, last_start_, record.velocities) > 0;
    Kokkos::deep_copy(exec, last_start_, record.start_velocities);
    to_nodes(exec, record.positions, x_);
    to_nodes(exec, record.velocities, v_);
    require_upright(adjoint_.form(exec, h, x_, v_), objects);
    to_nodes(exec, weights.positions, by_x_);
    to_nodes(exec, weights.velocities, by_v_);
    const SolveResult solved = adjoint_.pull_back(exec, h, fresh, x_, v_, by_x_, by_v_, by_load_);
    to_points(exec, by_x_, weights.positions);
    to_points(exec, by_v_, weights.velocities);
    to_points(exec, by_load_, by_loads);

    SoftStepGradient gradient;
    gradient.iterations = solved.iterations;
    gradient.residual = solved.residual;
    gradient.converged = solved.converged;
    std::int64_t first = 0; // entry of the points, objects one after the other
    for (std::size_t k = 0; k < objects.size(); ++k) {
      double by_coefficient[3];
      adjoint_.by_coefficients(exec, k, h, x_, v_, by_coefficient);
      gradient.objects.push_back(by_parameters(objects[k].material, by_coefficient));
      const std::int64_t count = 3 * std::int64_t(systems_.numbering.node_of[k].size());
      if (objects[k].density > 0)
        gradient.objects[k].density =
            by_density(exec, first, count, record, by_loads) / objects[k].density;
      first += count;
    }
    fence(exec, "ossatura::soft::step_gradient");
    return gradient;
  }

private:
  SoftSystems<Exec>& systems_;
  Kokkos::Array<double, 3> gravity_;
  Array<int, Exec> node_of_point_;
  StepAdjoint<Exec> adjoint_;
  Vector x_, v_, by_x_, by_v_, by_load_; ///< of nodes
  Vector last_start_;                    ///< [points, 3] of the last record

  void to_nodes(const Exec& exec, const Vector& points, const Vector& nodes) const {
    scatter_rows(exec, node_of_point_, 3, points, nodes);
  }
  void to_points(const Exec& exec, const Vector& nodes, const Vector& points) const {
    gather_rows(exec, node_of_point_, 3, nodes, points);
  }

  /// Mass and weight of each node are proportional to the density. Fences.
  double by_density(const Exec& exec, std::int64_t first, std::int64_t count,
                    const SoftRecord<Exec>& record, const Vector& by_loads) const {
    const SoftOptions& options = systems_.options;
    return part_sums<1>(exec, "ossatura::soft::by_density", count,
                        detail::DensityWork<Exec>{first, options.time_step, options.rayleigh_mass,
                                                  gravity_, node_of_point_, systems_.system.mass(),
                                                  by_loads, record.start_velocities,
                                                  record.velocities})[0];
  }

  static void require_upright(int inverted, const std::vector<SteppedObject>& objects) {
    for (const SteppedObject& object : objects)
      if (inverted > 0 && object.material.law == SoftLaw::mooney_rivlin)
        fail<UsageError>("gradients of '", object.name, "' with ", inverted,
                         " elements inside out, where its law ends");
  }
};

} // namespace ossatura
