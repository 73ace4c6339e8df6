// SPDX-License-Identifier: Apache-2.0
// The element is the trilinear cube of isotropic linear elasticity; this file has the products and
// entries of its 24 x 24 stiffness matrix in closed form. Point bodies: no launch, no memory;
// callable on host and device.
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

#include <ossatura/core/base/function.hpp>

namespace ossatura {

namespace detail {

/// (low, high) = (high + low, high - low): even and odd part along one axis.
template<class Scalar>
OSSATURA_INLINE_FUNCTION void split(Scalar& low, Scalar& high) {
  const Scalar sum = high + low;
  high -= low;
  low = sum;
}

/// The transpose: (even, odd) = (even - odd, even + odd).
template<class Scalar>
OSSATURA_INLINE_FUNCTION void merge(Scalar& even, Scalar& odd) {
  const Scalar low = even - odd;
  odd += even;
  even = low;
}

/// In place: f[p] = sum_v chi_p(v) f[v], chi_p(v) = prod_{d in p} (+1 or -1 as bit d of v is 1 or
/// 0), for one component of a displacement vector. Spelled out: compilers leave a loop here.
template<class Scalar>
OSSATURA_INLINE_FUNCTION void transform_vertices(Scalar* f) {
  split(f[0], f[3]), split(f[6], f[9]), split(f[12], f[15]), split(f[18], f[21]);
  split(f[0], f[6]), split(f[3], f[9]), split(f[12], f[18]), split(f[15], f[21]);
  split(f[0], f[12]), split(f[3], f[15]), split(f[6], f[18]), split(f[9], f[21]);
}

/// In place: f[v] = sum_p chi_p(v) f[p], the transpose of transform_vertices.
template<class Scalar>
OSSATURA_INLINE_FUNCTION void transform_modes(Scalar* f) {
  merge(f[0], f[12]), merge(f[3], f[15]), merge(f[6], f[18]), merge(f[9], f[21]);
  merge(f[0], f[6]), merge(f[3], f[9]), merge(f[12], f[18]), merge(f[15], f[21]);
  merge(f[0], f[3]), merge(f[6], f[9]), merge(f[12], f[15]), merge(f[18], f[21]);
}

} // namespace detail

namespace detail {

/// In place, mode by mode: the stiffness of a cube between transform_vertices and transform_modes.
/// Mode p of component c is u[3 p + c], its force likewise.
template<class Scalar>
OSSATURA_INLINE_FUNCTION void apply_mode_stiffness(Scalar lambda, Scalar mu, Scalar* u) {
  // Weights: 4 h for derivatives and volume over 64 for two transforms, times the mean 3^-|m| of
  // phi_m squared for |m| = 0, 1, 2.
  const Scalar l0 = lambda * Scalar(1. / 16), m0 = mu * Scalar(1. / 16);
  const Scalar l1 = lambda * Scalar(1. / 48), m1 = mu * Scalar(1. / 48);
  const Scalar d1 = l1 + Scalar(3) * m1, d2 = (lambda + Scalar(4) * mu) * Scalar(1. / 144);

  // Rigid translations carry nothing. Uniform strain: m = {}.
  u[0] = u[1] = u[2] = Scalar(0);
  const Scalar x1 = u[3], y2 = u[7], z4 = u[14], trace = l0 * (x1 + y2 + z4), n0 = m0 + m0;
  u[3] = trace + n0 * x1;
  u[7] = trace + n0 * y2;
  u[14] = trace + n0 * z4;
  u[6] = u[4] = m0 * (u[6] + u[4]);
  u[13] = u[8] = m0 * (u[13] + u[8]);
  u[5] = u[12] = m0 * (u[5] + u[12]);

  // Linear strain: m = {x}, {y}, {z}. Pairs coupled by the trace, and the twist.
  const Scalar x3 = u[9], z6 = u[20], x5 = u[15], y6 = u[19], y3 = u[10], z5 = u[17];
  u[9] = d1 * x3 + l1 * z6;
  u[20] = d1 * z6 + l1 * x3;
  u[15] = d1 * x5 + l1 * y6;
  u[19] = d1 * y6 + l1 * x5;
  u[10] = d1 * y3 + l1 * z5;
  u[17] = d1 * z5 + l1 * y3;
  const Scalar x6 = u[18], y5 = u[16], z3 = u[11], twist = x6 + y5 + z3;
  u[18] = m1 * (twist + x6);
  u[16] = m1 * (twist + y5);
  u[11] = m1 * (twist + z3);

  // Bilinear strain: |m| = 2.
  u[21] = d2 * u[21];
  u[22] = d2 * u[22];
  u[23] = d2 * u[23];
}

} // namespace detail

/// In place u = K u, for Lame's constants `lambda` and `mu` times the edge h of the cube.
/// 72 additions, about 40 operations on the modes, 72 additions.
template<class Scalar>
OSSATURA_INLINE_FUNCTION void apply_voxel_stiffness(Scalar lambda, Scalar mu, Scalar* u) {
  for (int c = 0; c < 3; ++c)
    detail::transform_vertices(u + c);
  detail::apply_mode_stiffness(lambda, mu, u);
  for (int c = 0; c < 3; ++c)
    detail::transform_modes(u + c);
}

/// The largest eigenvalue of B^-1 K, B the 3 x 3 blocks on the diagonal of K. As assembled blocks
/// and matrix are sums over elements, the largest of this over the elements of a model bounds the
/// spectrum of its matrix scaled by blocks, or by anything larger, whatever is held. (In the modes
/// above, B couples what K couples; the two branches are uniform dilatation and uniform shear.)
OSSATURA_INLINE_FUNCTION double largest_scaled_eigenvalue(double lambda, double mu) {
  const double dilatation = (27 * lambda + 18 * mu) / (5 * lambda + 11 * mu);
  const double shear = 36 * mu / (lambda + 13 * mu);
  return shear > dilatation ? shear : dilatation;
}

/// The distinct magnitudes among the 576 entries of K, for a row-wise product.
template<class Scalar>
struct VoxelStiffnessEntries {
  Scalar same[2][3];  ///< equal components c: [vertices differ along c][others they differ along]
  Scalar cross[2][2]; ///< components c != d: [vertices differ along the third axis][signs agree]

  /// Lame's constants times the edge h.
  OSSATURA_INLINE_FUNCTION VoxelStiffnessEntries(Scalar lambda, Scalar mu) {
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

  /// K[3 a + c][3 b + d].
  OSSATURA_INLINE_FUNCTION constexpr Scalar operator()(int a, int c, int b, int d) const {
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

  /// sum[c] += sum_d K[3 A + c][3 B + d] x[d]. Vertices are template arguments so that each entry
  /// is one register: compilers do not unroll loops over them far enough.
  template<int A, int B>
  OSSATURA_INLINE_FUNCTION void add_block_product(const Scalar (&x)[3], Scalar (&sum)[3]) const {
    sum[0] += (*this)(A, 0, B, 0) * x[0] + (*this)(A, 0, B, 1) * x[1] + (*this)(A, 0, B, 2) * x[2];
    sum[1] += (*this)(A, 1, B, 0) * x[0] + (*this)(A, 1, B, 1) * x[1] + (*this)(A, 1, B, 2) * x[2];
    sum[2] += (*this)(A, 2, B, 0) * x[0] + (*this)(A, 2, B, 1) * x[1] + (*this)(A, 2, B, 2) * x[2];
  }

  /// The diagonal entry, the same for all 24 degrees of freedom.
  OSSATURA_INLINE_FUNCTION Scalar diagonal() const { return same[0][0]; }
};

} // namespace ossatura
