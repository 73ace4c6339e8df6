// SPDX-License-Identifier: Apache-2.0
// A StepAdjoint takes the derivatives of an objective by the state after a step of backward Euler
// to those by the state before, by the loads, and by the moduli. With M the lumped mass, alpha and
// beta of Rayleigh, K = df/dx and D = dK/dx v at the end, Newton's iteration solves
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

#include <ossatura/kernels/softbody/elements/stiffness_products.hpp>
#include <ossatura/solvers/softbody/system_solver.hpp>

#include <cmath>
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

} // namespace detail

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

  /// Of a step h that ended at x, v: replaces the derivatives of an objective by x and v by those
  /// by the state before, and sets those by loads. `residual` of the report is relative to the
  /// weights; `converged` where it is at most ten times options.tolerance. Fences.
  SolveResult pull_back(const Exec& exec, double h, const Vector& x, const Vector& v,
                        const Vector& by_position, const Vector& by_velocity,
                        const Vector& by_load) {
    const SoftOptions& options = systems_.options;
    const SoftCoefficients c{1 + h * options.rayleigh_mass, h * (h + options.rayleigh_stiffness), 0,
                             0};
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
    systems_.system.collect(exec, c, x, v);
    systems_.system.compress(exec, c, v, v, systems_.cg.b);
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
      if ((first && !systems_.refresh(exec, h, x, false, solves)) ||
          !add_solution(exec, x, solves)) {
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

  /// Adds the solution of A x = cg.b to the multiplier. False where A is not positive definite.
  bool add_solution(const Exec& exec, const Vector& at, SoftStep& solves) {
    const SolveResult solved =
        systems_.solve(exec, resident_, at, systems_.options.tolerance, solves);
    axpby(exec, 1.0, systems_.cg.x, 1.0, multiplier_);
    return !solved.broken;
  }
};

} // namespace ossatura
