// SPDX-License-Identifier: BSD-3-Clause
// The trilinear cube of isotropic linear elasticity: products and entries of its 24 x 24 stiffness
// matrix in closed form. Point bodies: no launch, no memory; callable on host and device.
//
// Vertex v of the cube has the coordinates (v & 1, v >> 1 & 1, v >> 2) h; a displacement vector is
// u[3 v + c]. K = h (lambda K_lambda + mu K_mu) for an edge of h.
//
// The product uses the cube's reflections. Over the vertices, a trilinear function is
// u = sum_p u^_p phi_p with phi_p = prod_{d in p} s_d, s_d = 2 x_d / h - 1, for the 8 subsets p of
// {x, y, z}, and u^_p = 1/8 sum_v chi_p(v) u(v) is a Walsh-Hadamard transform. Derivatives are
// d_d phi_p = (2 / h) phi_{p - d}, and the phi_p are orthogonal with mean 3^-|p|; hence the energy
// is a sum over the 8 modes m of products of the gradient amplitudes G_cd[m] = u^_c[m + d] (d not
// in m), and K is block diagonal with 45 of 576 entries.
#pragma once

#include <Kokkos_Core.hpp>

namespace femura {

namespace detail {

/// In place: f[p] = sum_v chi_p(v) f[v] for one component, chi_p(v) = prod_{d in p} (+1 or -1 as
/// bit d of v is 1 or 0). Its own transpose up to the signs; see transform_back.
template<class Scalar>
KOKKOS_INLINE_FUNCTION void transform_vertices(Scalar* f, int component) {
  for (int bit = 1; bit < 8; bit *= 2)
    for (int v = 0; v < 8; ++v)
      if (!(v & bit)) {
        const Scalar low = f[3 * v + component], high = f[3 * (v | bit) + component];
        f[3 * v + component] = high + low;
        f[3 * (v | bit) + component] = high - low;
      }
}

/// In place: f[v] = sum_p chi_p(v) f[p], the transpose of transform_vertices.
template<class Scalar>
KOKKOS_INLINE_FUNCTION void transform_modes(Scalar* f, int component) {
  for (int bit = 1; bit < 8; bit *= 2)
    for (int v = 0; v < 8; ++v)
      if (!(v & bit)) {
        const Scalar even = f[3 * v + component], odd = f[3 * (v | bit) + component];
        f[3 * v + component] = even - odd;
        f[3 * (v | bit) + component] = even + odd;
      }
}

} // namespace detail

/// In place u = K u, for Lame's constants `lambda` and `mu` times the edge h of the cube.
/// 72 additions, 45 multiply-adds on the modes, 72 additions.
template<class Scalar>
KOKKOS_INLINE_FUNCTION void apply_voxel_stiffness(Scalar lambda, Scalar mu, Scalar* u) {
  for (int c = 0; c < 3; ++c)
    detail::transform_vertices(u, c);
  // 4 h (derivatives, volume) / 64 (two transforms) and 3^-|m| (mean of phi_m squared).
  constexpr double weight[4] = {1. / 16, 1. / 48, 1. / 144, 1. / 432};
  Scalar f[24] = {};
  for (int m = 0; m < 8; ++m) {
    const int degree = (m & 1) + (m >> 1 & 1) + (m >> 2);
    const Scalar w_mu = Scalar(weight[degree]) * mu;
    const Scalar w_lambda = Scalar(weight[degree]) * lambda;
    Scalar trace = 0;
    for (int c = 0; c < 3; ++c)
      if (!(m >> c & 1))
        trace += u[3 * (m | 1 << c) + c];
    for (int c = 0; c < 3; ++c)
      for (int d = 0; d < 3; ++d) {
        if (m >> d & 1)
          continue;
        const int mode = 3 * (m | 1 << d) + c;
        if (c == d)
          f[mode] += w_lambda * trace + 2 * w_mu * u[mode];
        else if (m >> c & 1)
          f[mode] += w_mu * u[mode];
        else
          f[mode] += w_mu * (u[mode] + u[3 * (m | 1 << c) + d]);
      }
  }
  for (int c = 0; c < 3; ++c)
    detail::transform_modes(f, c);
  for (int i = 0; i < 24; ++i)
    u[i] = f[i];
}

/// The distinct magnitudes among the 576 entries of K, for a row-wise product.
template<class Scalar>
struct VoxelStiffnessEntries {
  Scalar same[2][3];  ///< equal components c: [vertices differ along c][others they differ along]
  Scalar cross[2][2]; ///< components c != d: [vertices differ along the third axis][signs agree]

  /// Lame's constants times the edge h.
  KOKKOS_INLINE_FUNCTION VoxelStiffnessEntries(Scalar lambda, Scalar mu) {
    // Products of the 1-D mass (1/3, 1/6) and stiffness (1, -1) entries.
    const Scalar along = (lambda + 2 * mu) / 9, across = mu / 9;
    same[0][0] = along + 2 * across;
    same[0][1] = along / 2 - across / 2;
    same[0][2] = along / 4 - across;
    same[1][0] = -along + across;
    same[1][1] = -along / 2 - across / 4;
    same[1][2] = -along / 4 - across / 2;
    cross[0][0] = (lambda - mu) / 12;
    cross[0][1] = (lambda + mu) / 12;
    cross[1][0] = (lambda - mu) / 24;
    cross[1][1] = (lambda + mu) / 24;
  }

  /// K[3 a + c][3 b + d]. With constant arguments this is one register.
  KOKKOS_INLINE_FUNCTION Scalar operator()(int a, int c, int b, int d) const {
    const int differ = a ^ b;
    if (c == d) {
      const int others = ((differ & 1) + (differ >> 1 & 1) + (differ >> 2)) - (differ >> c & 1);
      return same[differ >> c & 1][others];
    }
    const int third = 3 - c - d;
    const bool sign_lambda = (a >> c & 1) == (b >> d & 1), sign_mu = (a >> d & 1) == (b >> c & 1);
    const Scalar magnitude = cross[differ >> third & 1][sign_lambda == sign_mu];
    return sign_lambda ? magnitude : -magnitude;
  }

  /// The diagonal entry, the same for all 24 degrees of freedom.
  KOKKOS_INLINE_FUNCTION Scalar diagonal() const { return same[0][0]; }
};

} // namespace femura
