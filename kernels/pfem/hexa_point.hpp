// SPDX-License-Identifier: Apache-2.0
// A point of a hierarchical hexahedron contributes to the stiffness, with the gradients g_a of the
// modes, the elasticity D and the weight w (the quadrature's times det J),
//
//   K_ab[c][d] += w sum_jl g_a[j] D(voigt(c, j), voigt(d, l)) g_b[l].
//
// Point bodies: callable on host and device.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/hexa/shape.hpp>
#include <ossatura/kernels/pfem/hexa_batch.hpp>

namespace ossatura::detail {

/// Physical gradients are to_gradient times derivatives by xi, eta, zeta.
struct HexaPoint {
  Matrix3 to_gradient; ///< J^-T: entry (i, k) is dxi_k / dx_i
  double weight;       ///< of the quadrature, times det J
};

/// A HexaBatch as kernels take it.
struct HexaBatchPointers {
  int order, points, num_modes;
  bool is_trilinear;
  std::int64_t elem_stride, point_stride;
  ArrayPointer<const double> corner, given_jacobian, elasticity_of, xi, weight, value, derivative;
  ArrayPointer<const int> mode;

  template<class Exec>
  explicit HexaBatchPointers(const HexaBatch<Exec>& batch)
      : order(batch.order)
      , points(batch.points)
      , num_modes(batch.num_modes)
      , is_trilinear(batch.is_trilinear())
      , elem_stride(batch.elem_stride)
      , point_stride(batch.point_stride)
      , corner(batch.corner)
      , given_jacobian(batch.jacobian)
      , elasticity_of(batch.elasticity)
      , xi(batch.point)
      , weight(batch.weight)
      , value(batch.value)
      , derivative(batch.derivative)
      , mode(batch.mode) {}

  KOKKOS_FORCEINLINE_FUNCTION int num_points() const { return points * points * points; }

  /// The upper triangle of D, 21 entries.
  KOKKOS_FORCEINLINE_FUNCTION const double* elasticity(std::int64_t e, int q) const {
    return elasticity_of.data + e * elem_stride + q * point_stride;
  }

  KOKKOS_INLINE_FUNCTION HexaModes trilinear(std::int64_t e) const {
    HexaModes modes = no_modes();
    for (int a = 0; a < 8; ++a) {
      const double* const x = corner.data + 24 * e + 3 * a;
      modes.add_corner(a, Vector3{{x[0], x[1], x[2]}});
    }
    return modes;
  }

  /// dx / dxi at point q = (q0 points + q1) points + q2.
  KOKKOS_INLINE_FUNCTION Matrix3 jacobian(std::int64_t e, int q) const {
    if (is_trilinear)
      return trilinear(e).jacobian(xi(q / (points * points)), xi(q / points % points),
                                   xi(q % points));
    const double* const j = given_jacobian.data + 9 * (e * num_points() + q);
    return {{{{j[0], j[1], j[2]}}, {{j[3], j[4], j[5]}}, {{j[6], j[7], j[8]}}}};
  }

  KOKKOS_INLINE_FUNCTION HexaPoint point(std::int64_t e, int q) const {
    const Matrix3 j = jacobian(e, q), c = cofactor(j);
    const double det = dot(j.row[0], c.row[0]);
    return {(1 / det) * c,
            weight(q / (points * points)) * weight(q / points % points) * weight(q % points) * det};
  }

  /// Derivatives of mode a by xi, eta and zeta at point q.
  KOKKOS_FORCEINLINE_FUNCTION Vector3 derivatives(int a, int q) const {
    const int row0 = q / (points * points) * (order + 1) + mode(3 * a),
              row1 = q / points % points * (order + 1) + mode(3 * a + 1),
              row2 = q % points * (order + 1) + mode(3 * a + 2);
    const double v0 = value(row0), v1 = value(row1), v2 = value(row2);
    return {{derivative(row0) * v1 * v2, v0 * derivative(row1) * v2, v0 * v1 * derivative(row2)}};
  }
};

/// D B of one mode: stress[i][d], row i of sigma, for component d of a mode of gradient g.
KOKKOS_FORCEINLINE_FUNCTION void mode_stress(const double* d_upper, const Vector3& g,
                                             double (&stress)[6][3]) {
  for (int i = 0; i < 6; ++i)
    for (int d = 0; d < 3; ++d) {
      double sum = 0;
      for (int l = 0; l < 3; ++l)
        sum += d_upper[elasticity_entry(i, voigt(d, l))] * g[l];
      stress[i][d] = sum;
    }
}

/// Row i, i (i + 1) / 2 <= t, of place t in a packed lower triangle.
KOKKOS_FORCEINLINE_FUNCTION int triangle_row(int t) {
  int i = int((sqrt(8.0 * t + 1) - 1) / 2);
  i -= i * (i + 1) / 2 > t ? 1 : 0;
  return i + ((i + 1) * (i + 2) / 2 <= t ? 1 : 0);
}

} // namespace ossatura::detail
