// SPDX-License-Identifier: Apache-2.0
// polar_rotation extracts the rotation of a deformation gradient, for every matrix of finite
// numbers: flat and inverted elements have a rotation, too.
//
// [1] N. J. Higham. Computing the polar decomposition with applications. SIAM J. Sci. Stat. Comput.
//     7 (1986), doi:10.1137/0907079.
// [2] B. K. P. Horn. Closed-form solution of absolute orientation using unit quaternions. J. Opt.
//     Soc. Am. A 4 (1987), doi:10.1364/JOSAA.4.000629.
#pragma once

#include <ossatura/kernels/algebra/dense/small_matrix.hpp>

namespace ossatura {

namespace detail {

/// Turns columns p and q of the symmetric matrix a and of the vectors, so that a[p][q] = 0.
template<int n>
KOKKOS_INLINE_FUNCTION void jacobi_turn(double (&a)[n][n], double (&vector)[n][n], int p, int q) {
  if (a[p][q] == 0)
    return;
  const double theta = 0.5 * (a[q][q] - a[p][p]) / a[p][q];
  const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
  const double c = 1 / sqrt(t * t + 1), s = t * c;
  for (int k = 0; k < n; ++k) {
    const double kp = a[k][p], kq = a[k][q];
    a[k][p] = c * kp - s * kq;
    a[k][q] = s * kp + c * kq;
  }
  for (int k = 0; k < n; ++k) {
    const double pk = a[p][k], qk = a[q][k];
    a[p][k] = c * pk - s * qk;
    a[q][k] = s * pk + c * qk;
    const double vp = vector[k][p], vq = vector[k][q];
    vector[k][p] = c * vp - s * vq;
    vector[k][q] = s * vp + c * vq;
  }
}

/// Newton's iteration [1] for det f > 0; false where it does not settle.
KOKKOS_INLINE_FUNCTION bool polar_by_newton(const Matrix3& f, Matrix3& r) {
  r = f;
  bool scaled = inner(f, f) > 6; // far from a rotation
  for (int iteration = 0; iteration < 20; ++iteration) {
    const Matrix3 c = cofactor(r);
    const double inverse = 1 / dot(r.row[0], c.row[0]);
    const double scale = scaled ? sqrt(sqrt(inner(c, c) / inner(r, r)) * fabs(inverse)) : 1;
    const Matrix3 next = (0.5 * scale) * r + (0.5 * inverse / scale) * c;
    const Matrix3 step = next + (-1) * r;
    r = next;
    const double change = inner(step, step);
    // The error squares in every iteration: this change leaves one of rounding.
    if (change < 1e-16)
      return true;
    scaled = change > 0.1;
  }
  return false;
}

} // namespace detail

/// The rotation r that maximises r : f, which is the nearest to f, by the quaternion [2] that
/// belongs to the largest eigenvalue. One of them where there are several: the identity for f = 0.
KOKKOS_INLINE_FUNCTION Matrix3 nearest_rotation(const Matrix3& f) {
  double a[4][4], vector[4][4];
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      vector[i][j] = i == j;
  a[0][0] = trace(f);
  for (int i = 0; i < 3; ++i) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    a[0][i + 1] = a[i + 1][0] = f(k, j) - f(j, k);
    a[i + 1][i + 1] = f(i, i) - f(j, j) - f(k, k);
    a[i + 1][j + 1] = a[j + 1][i + 1] = f(i, j) + f(j, i);
  }
  for (int sweep = 0; sweep < 12; ++sweep) {
    double beside = 0, all = 0;
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) {
        all += a[i][j] * a[i][j];
        beside += i == j ? 0 : a[i][j] * a[i][j];
      }
    if (!(beside > 1e-34 * all))
      break;
    for (int p = 0; p < 3; ++p)
      for (int q = p + 1; q < 4; ++q)
        detail::jacobi_turn(a, vector, p, q);
  }
  int best = 0;
  for (int i = 1; i < 4; ++i)
    best = a[i][i] > a[best][best] ? i : best;
  const double w = vector[0][best], x = vector[1][best], y = vector[2][best], z = vector[3][best];
  const double s = 2 / (w * w + x * x + y * y + z * z);
  return {{{{1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)}},
           {{s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)}},
           {{s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)}}}};
}

/// R of F = R S, S symmetric and positive; the nearest rotation where det F <= 0 or nearly so.
KOKKOS_INLINE_FUNCTION Matrix3 polar_rotation(const Matrix3& f) {
  const double square = inner(f, f);
  Matrix3 r;
  if (determinant(f) > 1e-3 * square * sqrt(square) && detail::polar_by_newton(f, r))
    return r;
  return nearest_rotation(f);
}

/// The frame whose first axis is along a and whose second is beside it towards b, as columns; any
/// such frame where a and b have no or one direction.
KOKKOS_INLINE_FUNCTION Matrix3 edge_frame(const Vector3& a, const Vector3& b) {
  const double length = sqrt(dot(a, a));
  const Vector3 x = length > 0 ? (1 / length) * a : Vector3{{1, 0, 0}};
  Vector3 z = cross(x, b);
  double square = dot(z, z);
  if (!(square > 1e-24 * dot(b, b))) {
    // Beside the axis that is most across x.
    const double ax = fabs(x[0]), ay = fabs(x[1]), az = fabs(x[2]);
    z = cross(x, ax <= ay && ax <= az ? Vector3{{1, 0, 0}}
                 : ay <= az           ? Vector3{{0, 1, 0}}
                                      : Vector3{{0, 0, 1}});
    square = dot(z, z);
  }
  z = (1 / sqrt(square)) * z;
  return from_columns(x, cross(z, x), z);
}

} // namespace ossatura
