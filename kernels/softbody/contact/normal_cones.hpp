// SPDX-License-Identifier: Apache-2.0
// Normal cones tell which directions a node and an edge or corner of a triangle can press each
// other in. The direction between two points alone does not: from a node of a flat floor to the
// edge of a block that glides over it, it lies in the floor, and the half-space that it bounds
// stops the block. Two rules keep such ghosts out:
//
//   the node   -n must be near the cone of the normals of the triangles around it; other nodes, or
//              the other side of the pair, touch there
//   the edge   where the free motion would enter the half-space of a convex edge or corner, the
//              plane of the face that it enters least far is taken: a convex body is left through
//              any face
#pragma once

#include <ossatura/kernels/softbody/contact/surfaces.hpp>

namespace ossatura {

namespace detail {

/// The unit normal of a triangle at x; false where it has no area.
template<class Exec>
KOKKOS_INLINE_FUNCTION bool triangle_normal(const ContactSurfaces<Exec>& surfaces, int t,
                                            const double* x, double* n) {
  const double* corner[3];
  for (int k = 0; k < 3; ++k)
    corner[k] = x + 3 * std::int64_t(surfaces.triangle(3 * t + k));
  double ab[3], ac[3];
  for (int d = 0; d < 3; ++d) {
    ab[d] = corner[1][d] - corner[0][d];
    ac[d] = corner[2][d] - corner[0][d];
  }
  n[0] = ab[1] * ac[2] - ab[2] * ac[1];
  n[1] = ab[2] * ac[0] - ab[0] * ac[2];
  n[2] = ab[0] * ac[1] - ab[1] * ac[0];
  const double area = sqrt(dot3(n, n));
  for (int d = 0; d < 3; ++d)
    n[d] /= area > 0 ? area : 1.;
  return area > 0;
}

/// An edge or a corner of a triangle with the triangles that share it.
template<class Exec>
struct SharedFeature {
  const ContactSurfaces<Exec>& surfaces;
  const double* x;
  int first, second; ///< its nodes; second = -1: a corner
  double point[3];   ///< on it
  double towards[3]; ///< the side of a surface that has two; null vector: outside is known

  KOKKOS_INLINE_FUNCTION int begin() const { return surfaces.around_begin(first); }
  KOKKOS_INLINE_FUNCTION int end() const { return surfaces.around_begin(first + 1); }

  /// The triangle at this place around the first node, or -1 where it has not the second.
  KOKKOS_INLINE_FUNCTION int triangle(int place) const {
    const int t = surfaces.around(place);
    bool has = second < 0;
    for (int k = 0; k < 3; ++k)
      has = has || surfaces.triangle(3 * t + k) == second;
    return has ? t : -1;
  }

  KOKKOS_INLINE_FUNCTION bool normal(int t, double* n) const {
    if (!triangle_normal(surfaces, t, x, n))
      return false;
    if (dot3(n, towards) < 0)
      for (int d = 0; d < 3; ++d)
        n[d] = -n[d];
    return true;
  }

  /// No triangle of the feature rises by more than a tenth above the plane through it with normal
  /// n.
  KOKKOS_INLINE_FUNCTION bool is_below(const double* n) const {
    for (int place = begin(); place < end(); ++place) {
      const int t = triangle(place);
      for (int k = 0; t >= 0 && k < 3; ++k) {
        double way[3];
        for (int d = 0; d < 3; ++d)
          way[d] = x[3 * std::int64_t(surfaces.triangle(3 * t + k)) + d] - point[d];
        const double height = dot3(n, way);
        if (height > 0 && height * height > 0.01 * dot3(way, way))
          return false;
      }
    }
    return true;
  }
};

/// Where the free motion of a pair at an edge or corner enters its half-space: the normal of the
/// face there that it enters least far, if that is less than half as far, or `any` less. Leaves n
/// as it is where the edge or corner is not convex. way: from the nearest point to the node;
/// relative: that after the free motion.
template<class Exec>
KOKKOS_INLINE_FUNCTION void turn_to_face(const SharedFeature<Exec>& feature, const double* way,
                                         const double* relative, bool any, double* n) {
  const double entered = dot3(n, relative);
  if (!(entered < 0))
    return;
  double best = any ? entered : 0.5 * entered, chosen[3] = {n[0], n[1], n[2]};
  const double rounding = 1e-8 * sqrt(dot3(way, way)); // of a node in the plane of the face
  for (int place = feature.begin(); place < feature.end(); ++place) {
    const int t = feature.triangle(place);
    double normal[3];
    if (t < 0 || !feature.normal(t, normal))
      continue;
    if (!feature.is_below(normal))
      return;
    const double left = dot3(normal, relative);
    if (left > best && (any || dot3(normal, way) >= -rounding)) {
      best = left;
      for (int d = 0; d < 3; ++d)
        chosen[d] = normal[d];
    }
  }
  for (int d = 0; d < 3; ++d)
    n[d] = chosen[d];
}

} // namespace detail

/// Whether a body at the node i can be pressed along n: -n is at most 45 degrees outside the cone
/// about the mean normal of the triangles around the node that has all of theirs. Always at the
/// border of a surface with two sides.
template<class Exec>
KOKKOS_INLINE_FUNCTION bool can_press(const ContactSurfaces<Exec>& surfaces, int i, const double* x,
                                      const double* n) {
  if (surfaces.border(i))
    return true;
  const bool both = surfaces.two_sided(surfaces.object_of(i));
  double mean[3] = {0, 0, 0}, normal[3];
  for (int place = surfaces.around_begin(i); place < surfaces.around_begin(i + 1); ++place)
    if (detail::triangle_normal(surfaces, surfaces.around(place), x, normal)) {
      const double sign = both && dot3(normal, mean) < 0 ? -1 : 1;
      for (int d = 0; d < 3; ++d)
        mean[d] += sign * normal[d];
    }
  const double length = sqrt(dot3(mean, mean));
  if (!(length > 1e-3))
    return true;
  double cosine = 1; // of half the cone's angle
  for (int place = surfaces.around_begin(i); place < surfaces.around_begin(i + 1); ++place)
    if (detail::triangle_normal(surfaces, surfaces.around(place), x, normal)) {
      const double c = dot3(normal, mean) / length;
      cosine = Kokkos::min(cosine, both ? fabs(c) : c);
    }
  constexpr double half = 0.70710678118654752440; // cos 45 degrees
  if (cosine <= -half)
    return true;
  const double sine = sqrt(Kokkos::max(1 - cosine * cosine, 0.));
  const double against = -dot3(n, mean) / length;
  return (both ? fabs(against) : against) >= half * (cosine - sine);
}

} // namespace ossatura
