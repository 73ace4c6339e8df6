// SPDX-License-Identifier: Apache-2.0
// pair_with_triangle makes the pair of a node and the nearest triangle of another object.
#pragma once

#include <ossatura/kernels/softbody/contact/nearest_point.hpp>
#include <ossatura/kernels/softbody/contact/normal_cones.hpp>

namespace ossatura {

namespace detail {

/// Of a corner, below which a point is on the border of a triangle, but for rounding.
constexpr double border_weight = 1e-8;

/// Turns the normal of a pair at an edge or corner of a triangle, see turn_to_face.
template<class Exec>
KOKKOS_INLINE_FUNCTION void choose_face(const ContactSurfaces<Exec>& surfaces, ContactPair& pair,
                                        bool two_sided, const double* x, const double* x_free,
                                        const double* way, bool any) {
  double relative[3] = {0, 0, 0};
  SharedFeature<Exec> feature{surfaces, x, -1, -1, {0, 0, 0}, {0, 0, 0}};
  for (int k = 0; k < 4; ++k)
    for (int d = 0; d < 3; ++d)
      relative[d] += pair.weight[k] * x_free[3 * std::int64_t(pair.node[k]) + d];
  for (int k = 1; k < 4; ++k)
    if (-pair.weight[k] > border_weight)
      (feature.first < 0 ? feature.first : feature.second) = pair.node[k];
  for (int d = 0; d < 3; ++d) {
    feature.point[d] = x[3 * std::int64_t(pair.node[0]) + d] - way[d];
    feature.towards[d] = two_sided ? pair.frame[d] : 0.;
  }
  turn_to_face(feature, way, relative, any, pair.frame);
}

} // namespace detail

/// Node i against triangle `t` of `object`, at the nearest point at x. The normal is that of the
/// triangle where this point is inside it, else the direction to the node, in which the distance
/// grows; at its border, of a face there that the motion to x_free enters less far
/// (normal_cones.hpp), also where rounding has the point inside by a part of 1e-8. Bodies push to
/// their outside. What has two sides pushes to that where the node was in the last step, which
/// `last_normal` (or null) tells, because the node may be in the surface by now, and else to that
/// where it is.
template<class Exec>
KOKKOS_INLINE_FUNCTION ContactPair pair_with_triangle(const ContactSurfaces<Exec>& surfaces, int i,
                                                      int object, int t, const double* x,
                                                      const double* x_free,
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
  const bool is_near = length <= 1e-8 * sqrt(area), by_face = nearest.inside || is_near;
  bool on_border = !nearest.inside;
  for (int k = 0; k < 3; ++k)
    on_border = on_border || nearest.weight[k] <= detail::border_weight;
  for (int d = 0; d < 3; ++d)
    n[d] = by_face ? n[d] / area : way[d] / length;
  const double side = !surfaces.two_sided(object) ? (by_face ? 1 : height)
                      : last_normal               ? dot3(n, last_normal)
                                                  : dot3(n, way);
  for (int d = 0; d < 3; ++d)
    n[d] = side < 0 ? -n[d] : n[d];
  for (int k = 0; k < 3; ++k)
    pair.weight[k + 1] = -nearest.weight[k];
  if (on_border && (by_face || side >= 0))
    detail::choose_face(surfaces, pair, surfaces.two_sided(object), x, x_free, way, is_near);
  pair.friction = surfaces.friction;
  make_tangents(n, n + 3, n + 6);
  return pair;
}

} // namespace ossatura
