// SPDX-License-Identifier: Apache-2.0
// Trilinear modes multiply a hexahedron's stiffness matrix with a vector, without the matrix.
// Values at the corners become modes, m = sum over corners of (products of xi, eta, zeta there)
// times the value (24 additions a component), whose derivatives at the 2 x 2 x 2 Gauss points are
// sums of four modes; forces go back the same way. With C the cofactors of J = dx / dxi, H = du /
// dxi:
//
//   G = H C^T / det J,  sigma = lambda tr G I + mu (G + G^T),  T = w sigma C,
//
// and T(:, k) is what multiplies dN_a / dxi_k in the force on node a. `Real` is a number or a row
// of them (core/parallel/lanes.hpp).
#pragma once

#include <ossatura/core/base/function.hpp>

#include <utility>

namespace ossatura {

/// Modes of a vector field, but the constant one. By the bits 1: xi, 2: eta, 4: zeta, less 1. At
/// Gauss points xi = +-1 / sqrt 3: modes of two and three factors are kept times these.
template<class Real>
struct TrilinearModes {
  Real mode[7][3];

  OSSATURA_FORCEINLINE_FUNCTION Real operator()(int bits, int c) const { return mode[bits - 1][c]; }
  OSSATURA_FORCEINLINE_FUNCTION Real& operator()(int bits, int c) { return mode[bits - 1][c]; }
};

namespace detail {
inline constexpr double gauss = 0.57735026918962576451; ///< 1 / sqrt(3)

/// x, scaled or not: an unscaled mode is not multiplied by 1.
template<bool scaled, class Real>
OSSATURA_FORCEINLINE_FUNCTION Real scaled_mode(const Real& factor, const Real& x) {
  if constexpr (scaled)
    return factor * x;
  else
    return x;
}

/// One component: v at the corners in the order of ElementShape::hexa.
template<bool scaled, class Real>
OSSATURA_FORCEINLINE_FUNCTION void component_modes(const Real (&v)[24], int c,
                                                   TrilinearModes<Real>& m) {
  // Along xi, then eta, then zeta.
  const Real s00 = v[c] + v[3 + c], d00 = v[3 + c] - v[c];
  const Real s10 = v[9 + c] + v[6 + c], d10 = v[6 + c] - v[9 + c];
  const Real s01 = v[12 + c] + v[15 + c], d01 = v[15 + c] - v[12 + c];
  const Real s11 = v[21 + c] + v[18 + c], d11 = v[18 + c] - v[21 + c];
  const Real ss0 = s00 + s10, sd0 = s10 - s00, ds0 = d00 + d10, dd0 = d10 - d00;
  const Real ss1 = s01 + s11, sd1 = s11 - s01, ds1 = d01 + d11, dd1 = d11 - d01;
  const Real one(gauss), two(1.0 / 3);
  m(1, c) = ds0 + ds1;
  m(2, c) = sd0 + sd1;
  m(3, c) = scaled_mode<scaled>(one, dd0 + dd1);
  m(4, c) = ss1 - ss0;
  m(5, c) = scaled_mode<scaled>(one, ds1 - ds0);
  m(6, c) = scaled_mode<scaled>(one, sd1 - sd0);
  m(7, c) = scaled_mode<scaled>(two, dd1 - dd0);
}

/// The transpose, times `scale`.
template<bool scaled, class Real>
OSSATURA_FORCEINLINE_FUNCTION void component_corners(const TrilinearModes<Real>& m, int c,
                                                     const Real& scale, Real (&v)[24]) {
  const Real one(gauss), two(1.0 / 3);
  const Real m1 = scale * m(1, c), m2 = scale * m(2, c), m4 = scale * m(4, c),
             m3 = scaled_mode<scaled>(one, scale * m(3, c)),
             m5 = scaled_mode<scaled>(one, scale * m(5, c)),
             m6 = scaled_mode<scaled>(one, scale * m(6, c)),
             m7 = scaled_mode<scaled>(two, scale * m(7, c));
  // By zeta: of 1, xi, eta, xi eta below and above.
  const Real x0 = m1 - m5, x1 = m1 + m5, y0 = m2 - m6, y1 = m2 + m6, xy0 = m3 - m7, xy1 = m3 + m7;
  // By eta.
  const Real o00 = Real(0.0) - (m4 + y0), o10 = y0 - m4, o01 = m4 - y1, o11 = m4 + y1;
  const Real x00 = x0 - xy0, x10 = x0 + xy0, x01 = x1 - xy1, x11 = x1 + xy1;
  v[c] = o00 - x00;
  v[3 + c] = o00 + x00;
  v[9 + c] = o10 - x10;
  v[6 + c] = o10 + x10;
  v[12 + c] = o01 - x01;
  v[15 + c] = o01 + x01;
  v[21 + c] = o11 - x11;
  v[18 + c] = o11 + x11;
}

/// a + b or a - b. The signs are constants: left to a loop, they are selected at run time.
template<bool plus, class Real>
OSSATURA_FORCEINLINE_FUNCTION Real with_sign(const Real& a, const Real& b) {
  if constexpr (plus)
    return a + b;
  else
    return a - b;
}

/// 8 dv / dxi at a Gauss point whose coordinates have the signs of the bits of g. d[c][k].
template<int g, class Real>
OSSATURA_FORCEINLINE_FUNCTION void gauss_derivatives(const TrilinearModes<Real>& m,
                                                     Real (&d)[3][3]) {
  constexpr bool x = g & 1, y = g & 2, z = g & 4;
  for (int c = 0; c < 3; ++c) {
    const Real xy = with_sign<z>(m(3, c), m(7, c)); // of xi eta
    d[c][0] = with_sign<y>(with_sign<z>(m(1, c), m(5, c)), xy);
    d[c][1] = with_sign<x>(with_sign<z>(m(2, c), m(6, c)), xy);
    d[c][2] = with_sign<x>(with_sign<y>(m(4, c), m(6, c)), with_sign<y>(m(5, c), m(7, c)));
  }
}

/// The transpose: adds t to the modes.
template<int g, class Real>
OSSATURA_FORCEINLINE_FUNCTION void add_gauss_forces(const Real (&t)[3][3],
                                                    TrilinearModes<Real>& f) {
  constexpr bool x = g & 1, y = g & 2, z = g & 4;
  for (int c = 0; c < 3; ++c) {
    const Real xy = with_sign<x == y>(t[c][0], t[c][1]); // times the sign of y
    f(1, c) += t[c][0];
    f(2, c) += t[c][1];
    f(4, c) += t[c][2];
    f(3, c) = with_sign<y>(f(3, c), xy);
    f(5, c) = with_sign<z>(f(5, c), with_sign<x == z>(t[c][0], t[c][2]));
    f(6, c) = with_sign<z>(f(6, c), with_sign<y == z>(t[c][1], t[c][2]));
    const Real xyz = with_sign<x == z>(xy, t[c][2]); // times the signs of y and z
    f(7, c) = with_sign<y == z>(f(7, c), xyz);
  }
}

/// Cofactors of J[i][k]: c[i][k] det J^-1[k][i].
template<class Real>
OSSATURA_FORCEINLINE_FUNCTION void cofactors(const Real (&j)[3][3], Real (&c)[3][3]) {
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) {
      const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
      c[i][k] = j[i1][k1] * j[i2][k2] - j[i1][k2] * j[i2][k1];
    }
}

/// t = (lambda tr G I + mu (G + G^T)) C with G = H C^T.
template<class Real>
OSSATURA_FORCEINLINE_FUNCTION void gauss_forces(const Real (&h)[3][3], const Real (&c)[3][3],
                                                const Real& lambda, const Real& mu,
                                                Real (&t)[3][3]) {
  Real g[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      g[i][j] = h[i][0] * c[j][0] + h[i][1] * c[j][1] + h[i][2] * c[j][2];
  const Real trace = lambda * (g[0][0] + g[1][1] + g[2][2]);
  const Real two_mu = mu + mu;
  const Real xx = trace + two_mu * g[0][0], yy = trace + two_mu * g[1][1],
             zz = trace + two_mu * g[2][2], xy = mu * (g[0][1] + g[1][0]),
             yz = mu * (g[1][2] + g[2][1]), zx = mu * (g[2][0] + g[0][2]);
  for (int k = 0; k < 3; ++k) {
    t[0][k] = xx * c[0][k] + xy * c[1][k] + zx * c[2][k];
    t[1][k] = xy * c[0][k] + yy * c[1][k] + yz * c[2][k];
    t[2][k] = zx * c[0][k] + yz * c[1][k] + zz * c[2][k];
  }
}
} // namespace detail

/// Modes of a field given at the corners, component c of node a at 3 a + c. `scaled` as for Gauss
/// points, or bare sums.
template<bool scaled = true, class Real>
OSSATURA_FORCEINLINE_FUNCTION TrilinearModes<Real> trilinear_modes(const Real (&v)[24]) {
  TrilinearModes<Real> m;
  for (int c = 0; c < 3; ++c)
    detail::component_modes<scaled>(v, c, m);
  return m;
}

/// The transpose of trilinear_modes, times `scale`.
template<bool scaled = true, class Real>
OSSATURA_FORCEINLINE_FUNCTION void trilinear_corners(const TrilinearModes<Real>& m,
                                                     const Real& scale, Real (&v)[24]) {
  for (int c = 0; c < 3; ++c)
    detail::component_corners<scaled>(m, c, scale, v);
}

namespace detail {
template<class Real>
OSSATURA_FORCEINLINE_FUNCTION void clear_modes(TrilinearModes<Real>& m) {
  for (int bits = 1; bits < 8; ++bits)
    for (int c = 0; c < 3; ++c)
      m(bits, c) = Real(0.0);
}

/// Adds what Gauss point g has from the positions. Derivatives are times 8, cofactors times 64,
/// det J times 512.
template<int g, class Real>
OSSATURA_FORCEINLINE_FUNCTION void
add_gauss_point(const TrilinearModes<Real>& x, const TrilinearModes<Real>& u, const Real& lambda,
                const Real& mu, TrilinearModes<Real>& force) {
  Real j[3][3], h[3][3], c[3][3], t[3][3];
  gauss_derivatives<g>(x, j);
  cofactors(j, c);
  const Real inverse = Real(1.0) / (j[0][0] * c[0][0] + j[0][1] * c[0][1] + j[0][2] * c[0][2]);
  gauss_derivatives<g>(u, h);
  gauss_forces(h, c, lambda * inverse, mu * inverse, t);
  add_gauss_forces<g>(t, force);
}

/// The same with scaled cofactors, c(g, cofactors).
template<int g, class Real, class Geometry>
OSSATURA_FORCEINLINE_FUNCTION void
add_known_point(const Geometry& geometry, const TrilinearModes<Real>& u, const Real& lambda,
                const Real& mu, TrilinearModes<Real>& force) {
  Real h[3][3], c[3][3], t[3][3];
  geometry(g, c);
  gauss_derivatives<g>(u, h);
  gauss_forces(h, c, lambda, mu, t);
  add_gauss_forces<g>(t, force);
}

template<class Real, int... g>
OSSATURA_FORCEINLINE_FUNCTION void
add_gauss_points(const TrilinearModes<Real>& x, const TrilinearModes<Real>& u, const Real& lambda,
                 const Real& mu, TrilinearModes<Real>& force, std::integer_sequence<int, g...>) {
  (add_gauss_point<g>(x, u, lambda, mu, force), ...);
}

template<class Real, class Geometry, int... g>
OSSATURA_FORCEINLINE_FUNCTION void
add_known_points(const Geometry& geometry, const TrilinearModes<Real>& u, const Real& lambda,
                 const Real& mu, TrilinearModes<Real>& force, std::integer_sequence<int, g...>) {
  (add_known_point<g>(geometry, u, lambda, mu, force), ...);
}

using GaussPoints = std::make_integer_sequence<int, 8>;

template<int... g>
OSSATURA_FORCEINLINE_FUNCTION void point_geometry(const TrilinearModes<double>& x,
                                                  double (&c)[8][3][3], double (&det)[8],
                                                  std::integer_sequence<int, g...>) {
  double j[3][3];
  ((gauss_derivatives<g>(x, j), cofactors(j, c[g]),
    det[g] = j[0][0] * c[g][0][0] + j[0][1] * c[g][0][1] + j[0][2] * c[g][0][2]),
   ...);
}
} // namespace detail

/// f = K_e u from the modes of the nodes' positions x and of u. `lambda`, `mu`: Lame's moduli.
template<class Real>
OSSATURA_FORCEINLINE_FUNCTION void multiply_hexa(const TrilinearModes<Real>& x,
                                                 const TrilinearModes<Real>& u, const Real& lambda,
                                                 const Real& mu, Real (&f)[24]) {
  TrilinearModes<Real> force;
  detail::clear_modes(force);
  detail::add_gauss_points(x, u, lambda, mu, force, detail::GaussPoints());
  trilinear_corners(force, Real(1.0 / 512), f);
}

/// The same from what hexa_geometry gives at each Gauss point g, cofactors over
/// sqrt(512 determinant): geometry(g, cofactors[3][3]).
template<class Real, class Geometry>
OSSATURA_FORCEINLINE_FUNCTION void
multiply_hexa_partial(const Geometry& geometry, const TrilinearModes<Real>& u, const Real& lambda,
                      const Real& mu, Real (&f)[24]) {
  TrilinearModes<Real> force;
  detail::clear_modes(force);
  detail::add_known_points(geometry, u, lambda, mu, force, detail::GaussPoints());
  trilinear_corners(force, Real(1.0), f);
}

/// At the Gauss points, whose coordinates have the signs of the bits of their number (1: xi, 2:
/// eta, 4: zeta): 64 times the cofactors of dx / dxi, and 512 times its determinant.
OSSATURA_INLINE_FUNCTION void hexa_geometry(const TrilinearModes<double>& x, double (&c)[8][3][3],
                                            double (&determinant)[8]) {
  detail::point_geometry(x, c, determinant, detail::GaussPoints());
}

} // namespace ossatura
