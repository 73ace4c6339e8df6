// SPDX-License-Identifier: Apache-2.0
// These functions form the stiffness of a trilinear hexahedron of isotropic material with 2 x 2 x 2
// Gauss points. With the gradients d_a at a point and its weight w (the Jacobian's determinant),
//
//   K_ab = sum over points of w (lambda d_a d_b^T + mu d_b d_a^T + mu (d_a . d_b) I).
//
// K comes from G_ab = sum of (sqrt(w) d_a) (sqrt(w) d_b)^T, so that K_ab and K_ba are transposes of
// each other to the last bit, whichever is formed. Point bodies: callable on host and device.
#pragma once

#include <ossatura/kernels/hexa/arrays.hpp>
#include <ossatura/kernels/hexa/operator.hpp>
#include <ossatura/kernels/hexa/ratios.hpp>
#include <ossatura/kernels/hexa/shape.hpp>

namespace ossatura {

/// The place of entry (i, j), i <= j, of a symmetric 24 x 24 matrix among its 300 on and above the
/// diagonal, row by row.
KOKKOS_FORCEINLINE_FUNCTION constexpr int hexa_upper(int i, int j) {
  return i * (47 - i) / 2 + j;
}

/// The same for entries on either side of the diagonal.
KOKKOS_FORCEINLINE_FUNCTION constexpr int hexa_packed(int i, int j) {
  return i < j ? hexa_upper(i, j) : hexa_upper(j, i);
}

namespace detail {

KOKKOS_INLINE_FUNCTION HexaModes hexa_modes(const double (&x)[24]) {
  HexaModes modes = no_modes();
  for (int a = 0; a < 8; ++a)
    modes.add_corner(a, Vector3{{x[3 * a], x[3 * a + 1], x[3 * a + 2]}});
  return modes;
}

/// sqrt(w) d_a at Gauss point g, component c of node a at 3 a + c: sqrt(det J) J^-T dN_a / dxi.
KOKKOS_FORCEINLINE_FUNCTION void weighted_hexa_gradients(const HexaModes& modes, int g,
                                                         double (&d)[24]) {
  const Matrix3 jacobian = gauss_jacobian(modes, g);
  const Matrix3 to_d = (0.125 / sqrt(determinant(jacobian))) * cofactor(jacobian);
  const double at[3] = {gauss_point * hexa_xi(g), gauss_point * hexa_eta(g),
                        gauss_point * hexa_zeta(g)};
  double low[3], high[3]; // 1 -+ xi and so on
  for (int c = 0; c < 3; ++c) {
    low[c] = 1 - at[c];
    high[c] = 1 + at[c];
  }
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 2; ++x) {
        const double nx = x ? high[0] : low[0], ny = y ? high[1] : low[1],
                     nz = z ? high[2] : low[2];
        const double along_x = (x ? ny : -ny) * nz, along_y = (y ? nz : -nz) * nx,
                     along_z = (z ? nx : -nx) * ny;
        const int a = 4 * z + 2 * y + (x ^ y); // round the bottom, then the top
        for (int c = 0; c < 3; ++c)
          d[3 * a + c] = to_d(c, 0) * along_x + to_d(c, 1) * along_y + to_d(c, 2) * along_z;
      }
}

} // namespace detail

/// The least determinant of dx / dxi at the Gauss points, (volume of the element) / 8 on average;
/// an element has no stiffness unless it is positive. x [8, 3] in the order of ElementShape::hexa.
KOKKOS_INLINE_FUNCTION double least_hexa_jacobian(const double (&x)[24]) {
  const detail::HexaModes modes = detail::hexa_modes(x);
  double least = determinant(detail::gauss_jacobian(modes, 0));
  for (int g = 1; g < 8; ++g) {
    const double here = determinant(detail::gauss_jacobian(modes, g));
    least = Kokkos::min(least, here);
  }
  return least;
}

/// K of an element with nodes at x [8, 3] (the order of ElementShape::hexa): entry (i, j), row
/// i = 3 a + component, at hexa_packed(i, j). NaN unless the Jacobian is positive at all points.
KOKKOS_INLINE_FUNCTION void hexa_stiffness(const double (&x)[24], const UnitLame& lame,
                                           double (&k)[300]) {
  const detail::HexaModes modes = detail::hexa_modes(x);
  for (int i = 0; i < 300; ++i)
    k[i] = 0;
  for (int g = 0; g < 8; ++g) {
    double d[24];
    detail::weighted_hexa_gradients(modes, g, d);
    int next = 0;
    for (int i = 0; i < 24; ++i)
      for (int j = i; j < 24; ++j, ++next)
        k[next] += d[i] * d[j];
  }
  for (int a = 0; a < 8; ++a)
    for (int b = a; b < 8; ++b) {
      double sum[3][3]; // G_ab
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          sum[i][j] = k[hexa_packed(3 * a + i, 3 * b + j)];
      const double diagonal = lame.mu * (sum[0][0] + sum[1][1] + sum[2][2]);
      for (int i = 0; i < 3; ++i)
        for (int j = a == b ? i : 0; j < 3; ++j)
          k[hexa_upper(3 * a + i, 3 * b + j)] =
              lame.lambda * sum[i][j] + lame.mu * sum[j][i] + (i == j ? diagonal : 0);
    }
}

/// Row a of blocks of the same matrix, the same to the last bit but for what a compiler fuses:
/// block[b], row-major, is K_ab.
KOKKOS_INLINE_FUNCTION void hexa_block_rows(const double (&x)[24], const UnitLame& lame, int a,
                                            double (&block)[8][9]) {
  const detail::HexaModes modes = detail::hexa_modes(x);
  double sum[3][24]; // rows of G
  for (int r = 0; r < 3; ++r)
    for (int j = 0; j < 24; ++j)
      sum[r][j] = 0;
  for (int g = 0; g < 8; ++g) {
    double d[24], da[3] = {0, 0, 0};
    detail::weighted_hexa_gradients(modes, g, d);
    for (int b = 0; b < 8; ++b) // not d[3 * a + c]: devices would take d from registers
      for (int c = 0; c < 3; ++c)
        da[c] = b == a ? d[3 * b + c] : da[c];
    for (int r = 0; r < 3; ++r)
      for (int j = 0; j < 24; ++j)
        sum[r][j] += da[r] * d[j];
  }
  for (int b = 0; b < 8; ++b) {
    const double diagonal = lame.mu * (sum[0][3 * b] + sum[1][3 * b + 1] + sum[2][3 * b + 2]);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        block[b][3 * i + j] =
            lame.lambda * sum[i][3 * b + j] + lame.mu * sum[j][3 * b + i] + (i == j ? diagonal : 0);
  }
}

/// Block K_aa of the same matrix as xx, yy, zz, xy, yz, zx.
KOKKOS_INLINE_FUNCTION void hexa_diagonal_block(const double (&x)[24], const UnitLame& lame, int a,
                                                double (&block)[6]) {
  const detail::HexaModes modes = detail::hexa_modes(x);
  double sum[6] = {0, 0, 0, 0, 0, 0};
  for (int g = 0; g < 8; ++g) {
    const Matrix3 jacobian = detail::gauss_jacobian(modes, g);
    const Vector3 d = cofactor(jacobian) * detail::hexa_shape_gradient(a, g);
    const Vector3 weighted = (1 / determinant(jacobian)) * d;
    for (int c = 0; c < 3; ++c) {
      sum[c] += weighted[c] * d[c];
      sum[3 + c] += weighted[c] * d[(c + 1) % 3];
    }
  }
  const double trace = lame.mu * (sum[0] + sum[1] + sum[2]);
  for (int k = 0; k < 6; ++k)
    block[k] = (lame.lambda + lame.mu) * sum[k] + (k < 3 ? trace : 0);
}

/// K_e formed anew from the mesh: a *stiffness source* of assemble_hexa_blocks and
/// invert_hexa_blocks. Any type with these members is one (shape_stiffness.hpp has another).
template<class Exec>
struct HexaStiffnessFromMesh {
  HexaArrays<Exec> arrays;
  UnitLame lame;              ///< of elements without a ratio of their own
  HexaRatioPointers ratios{}; ///< of HexaRatios, which must stay

  /// block[b] = K_ab of element `elem` for a modulus of 1, row-major.
  KOKKOS_INLINE_FUNCTION void block_rows(int elem, int a, double (&block)[8][9]) const {
    double x[24];
    arrays.load_points(elem, x);
    hexa_block_rows(x, ratios.at(elem, lame), a, block);
  }
  /// K_aa of it: xx, yy, zz, xy, yz, zx.
  KOKKOS_INLINE_FUNCTION void diagonal_block(int elem, int a, double (&block)[6]) const {
    double x[24];
    arrays.load_points(elem, x);
    hexa_diagonal_block(x, ratios.at(elem, lame), a, block);
  }
};

} // namespace ossatura
