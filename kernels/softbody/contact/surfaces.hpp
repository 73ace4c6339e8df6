// SPDX-License-Identifier: Apache-2.0
// ContactSurfaces hold all that nodes may touch: obstacles that do not move, and the triangles of
// objects that do.
#pragma once

#include <ossatura/kernels/algebra/dense/small_matrix.hpp>
#include <ossatura/kernels/softbody/contact/pair.hpp>

namespace ossatura {

/// A plane, or a sphere about `point`.
struct ContactObstacle {
  int sphere;
  double point[3];
  double normal[3]; ///< of a plane, of length 1
  double radius;
  double friction;
};

/// Targets of a node are the obstacles, then the objects: all but its own.
template<class Exec>
struct ContactSurfaces {
  int num_nodes = 0;
  int num_obstacles = 0;
  int num_objects = 0; ///< that are watched; 0 where objects do not touch each other
  double distance = 0; ///< m: nearer pairs are watched
  double friction = 0; ///< between objects
  Array<ContactObstacle, Exec> obstacle;
  Array<int, Exec> fixed;          ///< [num_nodes] 1: does not move
  Array<int, Exec> object_of;      ///< [num_nodes] whose surface the node is on; -1: inside
  Array<int, Exec> triangle;       ///< [num_triangles, 3], by object, outside counter-clockwise
  Array<int, Exec> triangle_begin; ///< [num_objects + 1]
  Array<int, Exec> surface_node;   ///< of all objects, by object
  Array<int, Exec> surface_begin;  ///< [num_objects + 1]
  Array<int, Exec> two_sided;      ///< [num_objects] 1: has no inside
  Array<int, Exec> around;         ///< triangles around each node, by node
  Array<int, Exec> around_begin;   ///< [num_nodes + 1]
  Array<int, Exec> border;         ///< [num_nodes] 1: on an edge of one triangle alone

  KOKKOS_FUNCTION int num_targets() const { return num_obstacles + num_objects; }
  int num_triangles() const { return int(triangle.extent(0) / 3); }
};

/// normal . sum weight q - offset.
KOKKOS_INLINE_FUNCTION double gap_of(const ContactPair& pair, const double* q) {
  double gap = -pair.offset;
  for (int k = 0; k < 4; ++k)
    if (pair.node[k] >= 0)
      gap += pair.weight[k] * dot3(pair.frame, q + 3 * std::int64_t(pair.node[k]));
  return gap;
}

/// Node i against an obstacle, linear at x.
template<class Exec>
KOKKOS_INLINE_FUNCTION ContactPair pair_with_obstacle(const ContactSurfaces<Exec>& surfaces, int i,
                                                      int target, const double* x) {
  const ContactObstacle& obstacle = surfaces.obstacle(target);
  const double* p = x + 3 * std::int64_t(i);
  ContactPair pair{};
  pair.slot = std::int64_t(i) * surfaces.num_targets() + target;
  pair.node[0] = i;
  pair.node[1] = pair.node[2] = pair.node[3] = -1;
  pair.weight[0] = 1;
  pair.free = surfaces.fixed(i) ? 0 : 1;
  pair.friction = obstacle.friction;
  double* n = pair.frame;
  if (obstacle.sphere) {
    double length = 0;
    for (int d = 0; d < 3; ++d) {
      n[d] = p[d] - obstacle.point[d];
      length += n[d] * n[d];
    }
    length = sqrt(length);
    for (int d = 0; d < 3; ++d)
      n[d] = length > 0 ? n[d] / length : d == 2 ? 1. : 0.; // any way out of the centre
  } else {
    for (int d = 0; d < 3; ++d)
      n[d] = obstacle.normal[d];
  }
  pair.offset = dot3(n, obstacle.point) + (obstacle.sphere ? obstacle.radius : 0);
  make_tangents(n, n + 3, n + 6);
  return pair;
}

} // namespace ossatura
