// SPDX-License-Identifier: Apache-2.0
// A quadrature point of a hexahedron turns derivatives of the displacement along the reference axes
// into the stress that works against such derivatives.
#pragma once

#include <ossatura/core/base/function.hpp>
#include <ossatura/kernels/hexa/corner_signs.hpp>
#include <ossatura/kernels/pfem/elasticity_entry.hpp>

namespace ossatura::detail {

/// The trilinear map of N elements: coefficients of HexaModes, [7, 3].
template<class V>
struct LineGeometry {
  V along_xi[3]; ///< dx / dxi_0, the same all along a line of points along xi_0
  V base[2][3];  ///< dx / dxi_1 and dx / dxi_2 at xi_0 = 0 ...
  V slope[2][3]; ///< ... and what they gain with xi_0

  /// At eta, zeta.
  OSSATURA_FORCEINLINE_FUNCTION LineGeometry(const V* modes, double eta, double zeta) {
    const V y(eta), z(zeta), yz(eta * zeta);
    for (int i = 0; i < 3; ++i) {
      along_xi[i] = modes[i] + z * modes[12 + i] + y * modes[15 + i] + yz * modes[18 + i];
      base[0][i] = modes[3 + i] + z * modes[9 + i];
      base[1][i] = modes[6 + i] + y * modes[9 + i];
      slope[0][i] = modes[15 + i] + z * modes[18 + i];
      slope[1][i] = modes[12 + i] + y * modes[18 + i];
    }
  }
  /// column[k][i] = dx_i / dxi_k
  OSSATURA_FORCEINLINE_FUNCTION void at(double xi, V (&column)[3][3]) const {
    for (int i = 0; i < 3; ++i) {
      column[0][i] = along_xi[i];
      column[1][i] = base[0][i] + V(xi) * slope[0][i];
      column[2][i] = base[1][i] + V(xi) * slope[1][i];
    }
  }
};

template<class V>
OSSATURA_FORCEINLINE_FUNCTION void cross_columns(const V (&a)[3], const V (&b)[3], V (&c)[3]) {
  for (int i = 0; i < 3; ++i)
    c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/// g[3 k + c] = du_c / dxi_k becomes weight det J (sigma J^-T)_ck, sigma = D epsilon; `d(m)` is
/// entry m of D (elasticity_entry).
template<class V, class Elasticity>
OSSATURA_FORCEINLINE_FUNCTION void point_stress(const V (&column)[3][3], double weight,
                                                const Elasticity& d, V (&g)[9]) {
  V dual[3][3]; // det J dxi_k / dx_i
  cross_columns(column[1], column[2], dual[0]);
  cross_columns(column[2], column[0], dual[1]);
  cross_columns(column[0], column[1], dual[2]);
  const V det = column[0][0] * dual[0][0] + column[0][1] * dual[0][1] + column[0][2] * dual[0][2];
  const V scale = V(weight) / det;
  V h[3][3];
  for (int c = 0; c < 3; ++c)
    for (int j = 0; j < 3; ++j)
      h[c][j] = g[c] * dual[0][j] + g[3 + c] * dual[1][j] + g[6 + c] * dual[2][j];
  const V strain[6] = {h[0][0],           h[1][1],           h[2][2],
                       h[1][2] + h[2][1], h[2][0] + h[0][2], h[0][1] + h[1][0]};
  V stress[6];
  for (int i = 0; i < 6; ++i) {
    stress[i] = d(elasticity_entry(i, 0)) * strain[0];
    for (int j = 1; j < 6; ++j)
      stress[i] += d(elasticity_entry(i, j)) * strain[j];
    stress[i] = stress[i] * scale;
  }
  for (int k = 0; k < 3; ++k)
    for (int c = 0; c < 3; ++c)
      g[3 * k + c] = stress[voigt(c, 0)] * dual[k][0] + stress[voigt(c, 1)] * dual[k][1] +
                     stress[voigt(c, 2)] * dual[k][2];
}

/// 1 or -1: mode `row` of HexaModes, [7], at vertex a.
OSSATURA_FORCEINLINE_FUNCTION double hexa_mode_sign(int row, int a) {
  const double xi = hexa_xi(a), eta = hexa_eta(a), zeta = hexa_zeta(a);
  switch (row) {
  case 0:
    return xi;
  case 1:
    return eta;
  case 2:
    return zeta;
  case 3:
    return eta * zeta;
  case 4:
    return zeta * xi;
  case 5:
    return xi * eta;
  default:
    return xi * eta * zeta;
  }
}

/// Entry m of HexaModes, [7, 3], of a hexahedron with vertices corner [8, 3].
OSSATURA_FORCEINLINE_FUNCTION double trilinear_coefficient(const double* corner, int m) {
  double sum = 0;
  for (int a = 0; a < 8; ++a)
    sum += 0.125 * hexa_mode_sign(m / 3, a) * corner[3 * a + m % 3];
  return sum;
}

} // namespace ossatura::detail
