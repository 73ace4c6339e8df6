// SPDX-License-Identifier: Apache-2.0
// What stress adds to the stiffness of a corotational element when its rotation R follows the
// nodes. R K0 R^T holds R; without the rest, the waves of taut bodies would be stepped as if
// explicitly, and gain energy. For the polar R of F = R U the rest of the second derivative of the
// energy is along the three turns w of the gradient, in the plane of each two principal axes
// [1, 2]:
//
//   K_ab += V [d_a]^T G [d_b],   [d] u = d x u,   d_a = R D_a,
//   G = sum over principal axes n of 1/2 c n n^T,   c = (sigma_i + sigma_j) / (s_i + s_j)
//
// with the stresses and stretches of the two other axes. Where stress pushes c is left out, so that
// K stays positive semidefinite; elsewhere K is then exact.
//
// Backward Euler damps what K knows of, free spin among it, whose stress is small. A step h carries
// waves of slack tension as it is: lumped masses rho V / N of the N nodes bound their frequencies
// by
//
//   omega^2 <= c S N / (2 rho),   S = sum_a |D_a|^2,
//
// for each axis, and what is stepped as if explicitly is stable below omega h = 2. So c is taken
// less what has (omega h)^2 = 1/4, `spared_tension` / (S N).
//
// A linear step that turns an element by theta leaves it longer by theta^2 / 2. The next one takes
// that back, and its stress is no tension that the motion has: taken for one it brakes stiff bodies
// that turn under forces, the more the stiffer they are. So one iteration of Newton's a step takes
// the tension of the strain that the system of the step before ended at, sym(R_b^T F) - I with the
// R_b where it began, at x - h v (`last_step` h). Where that is 0 it takes the strain U - I of x.
//
// [1] J. Barbic. Exact corotational linear FEM stiffness matrix. Technical report, University of
//     Southern California (2012).
// [2] B. Smith, F. de Goes, T. Kim. Analytic eigensystems for isotropic distortion energies. ACM
//     Trans. Graph. 38 (2019) 3, doi:10.1145/3241041.
#pragma once

#include <ossatura/kernels/softbody/elements/polar_rotation.hpp>

namespace ossatura::detail {

/// Lame's coefficients times a volume.
struct ScaledLame {
  double lambda, mu;
};

/// c of two principal axes from the sums of their stresses and of their stretches, where it pulls.
/// Stretches of less than a tenth count as that, for the tension to stay finite.
KOKKOS_FORCEINLINE_FUNCTION double turning_tension(double stresses, double stretches) {
  return fmax(stresses, 0.0) / fmax(stretches, 0.2);
}

/// Turns the symmetric a to its principal axes, the columns of `axis`.
KOKKOS_INLINE_FUNCTION void diagonalise(double (&a)[3][3], double (&axis)[3][3]) {
  double square = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      square += a[i][j] * a[i][j];
      axis[i][j] = i == j;
    }
  for (int sweep = 0; sweep < 8; ++sweep) {
    const double beside = a[0][1] * a[0][1] + a[1][2] * a[1][2] + a[0][2] * a[0][2];
    if (!(beside > 1e-32 * square))
      break;
    jacobi_turn(a, axis, 0, 1);
    jacobi_turn(a, axis, 1, 2);
    jacobi_turn(a, axis, 0, 2);
  }
}

/// Whether a strain may have tension beyond `spared`: no principal strain is as small as -size.
KOKKOS_FORCEINLINE_FUNCTION bool may_pull(const ScaledLame& lame, const Matrix3& strain,
                                          double spared) {
  const double sum = trace(strain), size = sqrt(inner(strain, strain));
  return turning_tension(2 * (lame.lambda + lame.mu) * sum + 2 * lame.mu * size, 2 + sum - size) >
         spared;
}

/// G of a strain, in its frame, of tension beyond `spared`, times the volume as lame is.
KOKKOS_INLINE_FUNCTION Matrix3 turning_stiffness(const ScaledLame& lame, const Matrix3& strain,
                                                 double spared) {
  if (!may_pull(lame, strain, spared))
    return zero_matrix();
  const double sum = trace(strain);
  const double stresses = 2 * (lame.lambda + lame.mu) * sum; // of two axes: less 2 mu of the third
  double a[3][3], axis[3][3];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      a[i][j] = strain(i, j);
  diagonalise(a, axis);
  Matrix3 g = zero_matrix();
  for (int k = 0; k < 3; ++k) {
    const double all = turning_tension(stresses - 2 * lame.mu * a[k][k], 2 + sum - a[k][k]);
    const double c = 0.5 * fmax(all - spared, 0.0);
    const Vector3 n{{axis[0][k], axis[1][k], axis[2][k]}};
    for (int i = 0; i < 3; ++i)
      g.row[i] = g.row[i] + (c * n[i]) * n;
  }
  return g;
}

/// [a]^T G [b]
KOKKOS_FORCEINLINE_FUNCTION Matrix3 turning_block(const Matrix3& g, const Vector3& a,
                                                  const Vector3& b) {
  const Vector3 x = cross(g.row[0], b), y = cross(g.row[1], b), z = cross(g.row[2], b);
  return {{a[2] * y - a[1] * z, a[0] * z - a[2] * x, a[1] * x - a[0] * y}};
}

/// The sum of d_a x u_a, where `gradient` is that of u_a d_a^T.
KOKKOS_FORCEINLINE_FUNCTION Vector3 turn_of(const Matrix3& gradient) {
  return {{gradient(2, 1) - gradient(1, 2), gradient(0, 2) - gradient(2, 0),
           gradient(1, 0) - gradient(0, 1)}};
}

/// [g] r: its product with D_a is g x (r D_a).
KOKKOS_FORCEINLINE_FUNCTION Matrix3 cross_rows(const Vector3& g, const Matrix3& r) {
  return {{g[1] * r.row[2] - g[2] * r.row[1], g[2] * r.row[0] - g[0] * r.row[2],
           g[0] * r.row[1] - g[1] * r.row[0]}};
}

} // namespace ossatura::detail
