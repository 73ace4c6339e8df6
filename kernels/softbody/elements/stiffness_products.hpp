// SPDX-License-Identifier: Apache-2.0
// These kernels compute what the adjoint of a damped step needs of hyperelastic tetrahedra, with
// the element forces f(x), the stiffness K = df/dx and its change along velocities, D = dK/dx v:
// the products of K and D with a vector, and the work of forces by coefficient of the law. K and D
// are derivatives of one energy, so both are symmetric. No matrix is formed: hyper-dual numbers
// along v and the vector go through the stress.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/softbody/elements/evaluate.hpp>
#include <ossatura/kernels/softbody/elements/hyper_dual.hpp>

namespace ossatura {

namespace detail {

/// Volume times dW/dF at F = (f, along g_1, along g_2): see hyperelastic_tetra.hpp.
template<class Law>
KOKKOS_INLINE_FUNCTION void hyper_dual_stress(const double* coefficient, double volume,
                                              const Matrix3& f, const Matrix3& g_1,
                                              const Matrix3& g_2, HyperDual (&stress)[3][3]) {
  HyperDual e[3][3], b[3][3], cofactor[3][3], i1, j, squares;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c)
      e[r][c] = {f(r, c), g_1(r, c), g_2(r, c), 0};
  for (int r = 0; r < 3; ++r) {
    for (int c = 0; c < 3; ++c) {
      b[r][c] = e[r][0] * e[c][0] + e[r][1] * e[c][1] + e[r][2] * e[c][2];
      squares = squares + b[r][c] * b[r][c];
      const int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
      cofactor[r][c] = e[r1][c1] * e[r2][c2] - e[r1][c2] * e[r2][c1];
    }
    i1 = i1 + b[r][r];
  }
  for (int c = 0; c < 3; ++c)
    j = j + e[0][c] * cofactor[0][c];
  const HyperDual i2 = 0.5 * (i1 * i1 - squares);
  const LawDerivatives<HyperDual> w = Law::derivatives(coefficient, i1, i2, j);
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) {
      HyperDual p = 2 * w.w1 * e[r][c];
      if constexpr (Law::uses_i2)
        p = p +
            2 * w.w2 * (i1 * e[r][c] - (b[r][0] * e[0][c] + b[r][1] * e[1][c] + b[r][2] * e[2][c]));
      if constexpr (Law::uses_j)
        p = p + w.wj * cofactor[r][c];
      stress[r][c] = volume * p;
    }
}

/// The gradients that an element has of the vectors of SoftInput and of `vector`.
struct TetraGradients {
  Matrix3 dm_inverse, position, velocity, vector;
  double volume;

  static KOKKOS_INLINE_FUNCTION TetraGradients of(const SoftInput& input,
                                                  const ArrayPointer<const double>& vector,
                                                  int elem) {
    constexpr ElementShape shape = ElementShape::tetra;
    const int* const node = input.nodes_of<shape>(elem);
    TetraGradients g;
    g.dm_inverse = input.rest_matrix(elem);
    g.volume = input.rest_value(elem, 9);
    g.position = simplex_edges<shape>(input.x, node) * g.dm_inverse;
    g.velocity = simplex_edges<shape>(input.v, node) * g.dm_inverse;
    g.vector = simplex_edges<shape>(vector, node) * g.dm_inverse;
    return g;
  }
};

template<class Law>
struct StiffnessProducts {
  SoftInput input;
  ArrayPointer<const double> vector;
  ArrayPointer<double> by_stiffness, by_change;

  KOKKOS_FUNCTION void operator()(std::int64_t elem) const {
    const TetraGradients g = TetraGradients::of(input, vector, int(elem));
    HyperDual p[3][3];
    hyper_dual_stress<Law>(input.coefficient, g.volume, g.position, g.velocity, g.vector, p);
    for (int a = 0; a < 4; ++a) {
      const Vector3 d = simplex_gradient<4>(g.dm_inverse, a);
      for (int c = 0; c < 3; ++c) {
        const std::int64_t to = (4 * elem + a) * 3 + c;
        by_stiffness(to) = p[c][0].b * d[0] + p[c][1].b * d[1] + p[c][2].b * d[2];
        by_change(to) = p[c][0].ab * d[0] + p[c][1].ab * d[1] + p[c][2].ab * d[2];
      }
    }
  }
};

template<class Law>
struct ForceWork {
  SoftInput input;
  ArrayPointer<const double> vector;
  double damping;

  KOKKOS_FUNCTION void operator()(std::int64_t elem, double& sum) const {
    const TetraGradients g = TetraGradients::of(input, vector, int(elem));
    HyperDual p[3][3];
    hyper_dual_stress<Law>(input.coefficient, g.volume, g.position, g.velocity, g.vector, p);
    for (int r = 0; r < 3; ++r)
      for (int c = 0; c < 3; ++c)
        sum += (p[r][c].re + damping * p[r][c].a) * g.vector(r, c);
  }
};

/// Calls launch.run<Law>() for the hyperelastic law of the elements; throws for another.
template<class Exec, class Launch>
void launch_hyperelastic(const SoftElements<Exec>& elements, const Launch& launch) {
  switch (elements.law) {
  case SoftLaw::stvk:
    launch.template run<StVenantKirchhoff>();
    return;
  case SoftLaw::mooney_rivlin:
    launch.template run<MooneyRivlin>();
    return;
  case SoftLaw::neo_hookean:
    launch.template run<StableNeoHookean>();
    return;
  case SoftLaw::corotational:
    break;
  }
  OSSATURA_REQUIRE(false, "derivatives of the stiffness are of hyperelastic laws, not of "
                              << name_of(elements.law));
}

template<class Exec>
struct LaunchProducts {
  const Exec& exec;
  const SoftInput& input;
  ArrayPointer<const double> vector;
  ArrayPointer<double> by_stiffness, by_change;

  template<class Law>
  void run() const {
    Kokkos::parallel_for("ossatura::stiffness_products", range(exec, input.num_elem),
                         StiffnessProducts<Law>{input, vector, by_stiffness, by_change});
  }
};

template<class Exec>
struct LaunchWork {
  const Exec& exec;
  const SoftInput& input;
  ArrayPointer<const double> vector;
  double damping;
  double& work;

  template<class Law>
  void run() const {
    Kokkos::parallel_reduce("ossatura::force_work", range(exec, input.num_elem),
                            ForceWork<Law>{input, vector, damping}, work);
  }
};

} // namespace detail

/// by_stiffness = K u and by_change = D u [num_elem, 4, 3] of each element, at positions x and
/// along velocities v; x, v, u [num_points, 3], u the `vector`. Mooney-Rivlin: det F > 0. Throws
/// std::invalid_argument for laws that are not hyperelastic. Does not fence.
template<class Exec>
void stiffness_products(const Exec& exec, const SoftElements<Exec>& elements,
                        const Array<double, Exec>& x, const Array<double, Exec>& v,
                        const Array<double, Exec>& vector, const Array<double, Exec>& by_stiffness,
                        const Array<double, Exec>& by_change) {
  detail::SoftInput input = detail::soft_input(elements, x);
  input.v = {v};
  detail::launch_hyperelastic(
      elements, detail::LaunchProducts<Exec>{exec, input, {vector}, {by_stiffness}, {by_change}});
}

/// u . (f + damping K v) of all elements by each coefficient of their law, which is linear in them:
/// lambda, mu or c1, c2, bulk; arrays as above. Fences.
template<class Exec>
void force_work(const Exec& exec, const SoftElements<Exec>& elements, const Array<double, Exec>& x,
                const Array<double, Exec>& v, const Array<double, Exec>& vector, double damping,
                double (&by_coefficient)[3]) {
  detail::SoftInput input = detail::soft_input(elements, x);
  input.v = {v};
  for (int k = 0; k < 3; ++k) {
    for (int i = 0; i < 3; ++i)
      input.coefficient[i] = i == k;
    by_coefficient[k] = 0;
    detail::launch_hyperelastic(
        elements, detail::LaunchWork<Exec>{exec, input, {vector}, damping, by_coefficient[k]});
  }
}

} // namespace ossatura
