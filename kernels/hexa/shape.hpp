// SPDX-License-Identifier: Apache-2.0
// These functions are the trilinear shape functions of hexahedra, nodes in the order of
// ElementShape::hexa, and the 2 x 2 x 2 Gauss points.
#pragma once

#include <ossatura/kernels/algebra/dense/small_matrix.hpp>
#include <ossatura/kernels/hexa/corner_signs.hpp>

namespace ossatura::detail {

/// c_m for m = xi, eta, zeta, eta zeta, zeta xi, xi eta, xi eta zeta.
struct HexaModes {
  Vector3 c[7];

  KOKKOS_FORCEINLINE_FUNCTION void add_corner(int a, const Vector3& x) {
    const double xi = hexa_xi(a), eta = hexa_eta(a), zeta = hexa_zeta(a);
    const double m[7] = {xi, eta, zeta, eta * zeta, zeta * xi, xi * eta, xi * eta * zeta};
    for (int k = 0; k < 7; ++k)
      c[k] = c[k] + (0.125 * m[k]) * x;
  }

  /// dx / dxi
  KOKKOS_FORCEINLINE_FUNCTION Matrix3 jacobian(double xi, double eta, double zeta) const {
    return from_columns(c[0] + zeta * c[4] + eta * c[5] + (eta * zeta) * c[6],
                        c[1] + zeta * c[3] + xi * c[5] + (zeta * xi) * c[6],
                        c[2] + eta * c[3] + xi * c[4] + (xi * eta) * c[6]);
  }

  KOKKOS_FORCEINLINE_FUNCTION Matrix3 centre_jacobian() const {
    return from_columns(c[0], c[1], c[2]);
  }
};

KOKKOS_FORCEINLINE_FUNCTION HexaModes no_modes() {
  HexaModes modes;
  for (int k = 0; k < 7; ++k)
    modes.c[k] = Vector3{{0, 0, 0}};
  return modes;
}

/// The Gauss points are at the corners times 1 / sqrt(3), each with a weight of 1.
inline constexpr double gauss_point = 0.57735026918962576451;

/// d N_a / dxi at Gauss point g.
KOKKOS_FORCEINLINE_FUNCTION Vector3 hexa_shape_gradient(int a, int g) {
  const double x = hexa_xi(a), y = hexa_eta(a), z = hexa_zeta(a), s = gauss_point;
  const double along_x = 1 + s * x * hexa_xi(g), along_y = 1 + s * y * hexa_eta(g),
               along_z = 1 + s * z * hexa_zeta(g);
  return {{0.125 * x * along_y * along_z, 0.125 * y * along_z * along_x,
           0.125 * z * along_x * along_y}};
}

KOKKOS_FORCEINLINE_FUNCTION Matrix3 gauss_jacobian(const HexaModes& modes, int g) {
  return modes.jacobian(gauss_point * hexa_xi(g), gauss_point * hexa_eta(g),
                        gauss_point * hexa_zeta(g));
}

} // namespace ossatura::detail
