// SPDX-License-Identifier: Apache-2.0
// A ContactPair is a node and the obstacle, or the point on a triangle of another object, that the
// node may touch.
#pragma once

#include <ossatura/core/base/backend.hpp>

#include <cmath>
#include <cstdint>

namespace ossatura {

/// Rows of H: weight[k] frame[c] at node[k], for c the normal and two tangents. The gap is
/// normal . sum weight[k] q[node[k]] - offset.
struct ContactPair {
  std::int64_t slot; ///< node[0] times the number of targets, plus the target; lists ascend by it
  int node[4];       ///< the node, and the corners of the triangle; -1 where there is none
  int free;          ///< bit k: node[k] is there and can move
  double weight[4];  ///< 1, and minus the barycentric coordinates of the nearest point
  double frame[9];   ///< rows: unit normal, away from the target, and two tangents
  double offset;     ///< m
  double friction;   ///< Coulomb's coefficient
};

/// Unit vectors t, u such that n, t, u are orthonormal, from the axis least along n.
KOKKOS_INLINE_FUNCTION void make_tangents(const double* n, double* t, double* u) {
  const double a[3] = {n[0] < 0 ? -n[0] : n[0], n[1] < 0 ? -n[1] : n[1], n[2] < 0 ? -n[2] : n[2]};
  const int least = a[0] <= a[1] ? (a[0] <= a[2] ? 0 : 2) : (a[1] <= a[2] ? 1 : 2);
  const double e[3] = {least == 0 ? 1. : 0., least == 1 ? 1. : 0., least == 2 ? 1. : 0.};
  t[0] = n[1] * e[2] - n[2] * e[1];
  t[1] = n[2] * e[0] - n[0] * e[2];
  t[2] = n[0] * e[1] - n[1] * e[0];
  const double length = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
  for (int d = 0; d < 3; ++d)
    t[d] /= length;
  u[0] = n[1] * t[2] - n[2] * t[1];
  u[1] = n[2] * t[0] - n[0] * t[2];
  u[2] = n[0] * t[1] - n[1] * t[0];
}

} // namespace ossatura
