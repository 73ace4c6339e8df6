// SPDX-License-Identifier: Apache-2.0
// ContactSurfaces hold all that nodes may touch: obstacles that do not move, and the triangles of
// objects that do.
#pragma once

#include <ossatura/kernels/softbody/contact/nearest_point.hpp>
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

/// Node i against triangle `t` of `object`, at the nearest point at x. The normal is that of the
/// triangle where this point is inside it, else the direction to the node, in which the distance
/// grows. Bodies push to their outside. What has two sides pushes to that where the node was in
/// the last step, which `last_normal` (or null) tells, because the node may be in the surface by
/// now, and else to that where it is.
template<class Exec>
KOKKOS_INLINE_FUNCTION ContactPair pair_with_triangle(const ContactSurfaces<Exec>& surfaces, int i,
                                                      int object, int t, const double* x,
                                                      const double* last_normal) {
  ContactPair pair{};
  pair.slot = std::int64_t(i) * surfaces.num_targets() + surfaces.num_obstacles + object;
  pair.node[0] = i;
  pair.weight[0] = 1;
  const double* corner[3];
  for (int k = 0; k < 3; ++k) {
    pair.node[k + 1] = surfaces.triangle(3 * t + k);
    corner[k] = x + 3 * std::int64_t(pair.node[k + 1]);
  }
  for (int k = 0; k < 4; ++k)
    pair.free |= (surfaces.fixed(pair.node[k]) ? 0 : 1) << k;
  const double* p = x + 3 * std::int64_t(i);
  const NearestPoint nearest = nearest_point(corner[0], corner[1], corner[2], p);
  double ab[3], ac[3], way[3];
  for (int d = 0; d < 3; ++d) {
    ab[d] = corner[1][d] - corner[0][d];
    ac[d] = corner[2][d] - corner[0][d];
    way[d] = p[d];
    for (int k = 0; k < 3; ++k)
      way[d] -= nearest.weight[k] * corner[k][d];
  }
  double* n = pair.frame;
  n[0] = ab[1] * ac[2] - ab[2] * ac[1];
  n[1] = ab[2] * ac[0] - ab[0] * ac[2];
  n[2] = ab[0] * ac[1] - ab[1] * ac[0];
  const double area = sqrt(dot3(n, n));
  const double length = sqrt(dot3(way, way));
  const double height = dot3(n, way);
  const bool by_face = nearest.inside || length <= 1e-8 * sqrt(area);
  for (int d = 0; d < 3; ++d)
    n[d] = by_face ? n[d] / area : way[d] / length;
  const double side = !surfaces.two_sided(object) ? (by_face ? 1 : height)
                      : last_normal               ? dot3(n, last_normal)
                                                  : dot3(n, way);
  for (int d = 0; d < 3; ++d)
    n[d] = side < 0 ? -n[d] : n[d];
  for (int k = 0; k < 3; ++k)
    pair.weight[k + 1] = -nearest.weight[k];
  pair.friction = surfaces.friction;
  make_tangents(n, n + 3, n + 6);
  return pair;
}

} // namespace ossatura
