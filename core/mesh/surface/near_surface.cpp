// SPDX-License-Identifier: Apache-2.0
// The nearest point of a triangle: C. Ericson, Real-time collision detection, Morgan Kaufmann 2005,
// section 5.1.5, by the regions of corners, edges and the face.
#include <ossatura/core/mesh/surface/near_surface.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/surface/points.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ossatura {

namespace {

using namespace surface_points;

/// The place of the segment that is nearest to x.
Point nearest_on_segment(const Point& x, const Point& a, const Point& b) {
  const Point way = minus(b, a);
  const double square = dot(way, way);
  Point place = a;
  add(place, square > 0 ? std::clamp(dot(minus(x, a), way) / square, 0.0, 1.0) : 0, way);
  return place;
}

double distance(const Point& a, const Point& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

} // namespace

Point nearest_on_triangle(const Point& x, const Point& a, const Point& b, const Point& c) {
  const Point ab = minus(b, a), ac = minus(c, a), ax = minus(x, a);
  const double bb = dot(ab, ab), cc = dot(ac, ac), bc = dot(ab, ac);
  const double square = bb * cc - bc * bc;
  if (square > 0) {
    // Barycentric coordinates of the foot of the perpendicular.
    const double v = (cc * dot(ax, ab) - bc * dot(ax, ac)) / square,
                 w = (bb * dot(ax, ac) - bc * dot(ax, ab)) / square;
    if (v >= 0 && w >= 0 && v + w <= 1) {
      Point foot = a;
      add(foot, v, ab);
      add(foot, w, ac);
      return foot;
    }
  }
  Point best = nearest_on_segment(x, a, b);
  for (const Point& other : {nearest_on_segment(x, b, c), nearest_on_segment(x, c, a)})
    if (distance(x, other) < distance(x, best))
      best = other;
  return best;
}

double distance_to_triangle(const Point& x, const Point& a, const Point& b, const Point& c) {
  return distance(x, nearest_on_triangle(x, a, b, c));
}

NearSurface::NearSurface(const TriangleSurface& surface, double within)
    : surface_(surface)
    , within_(within) {
  OSSATURA_REQUIRE(!surface.triangle.empty(), "a surface without triangles");
  OSSATURA_REQUIRE(within >= 0 && std::isfinite(within), "a distance of " << within);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  bounds_ = {infinity, infinity, infinity, -infinity, -infinity, -infinity};
  for (std::size_t t = 0; t < surface.triangle.size(); ++t) {
    Entry entry{0, t, {infinity, infinity, infinity, -infinity, -infinity, -infinity}};
    for (const int corner : surface.triangle[t])
      for (std::size_t d = 0; d < 3; ++d) {
        const double x = surface.vertex[std::size_t(corner)][d];
        entry.box[d] = std::min(entry.box[d], x - within);
        entry.box[d + 3] = std::max(entry.box[d + 3], x + within);
        bounds_[d] = std::min(bounds_[d], entry.box[d]);
        bounds_[d + 3] = std::max(bounds_[d + 3], entry.box[d + 3]);
      }
    sorted_.push_back(entry);
  }
  for (std::size_t d = 1; d < 3; ++d)
    if (bounds_[d + 3] - bounds_[d] > bounds_[axis_ + 3] - bounds_[axis_])
      axis_ = d;
  for (Entry& entry : sorted_) {
    entry.lower = entry.box[axis_];
    widest_ = std::max(widest_, entry.box[axis_ + 3] - entry.lower);
  }
  std::sort(sorted_.begin(), sorted_.end(),
            [](const Entry& a, const Entry& b) { return a.lower < b.lower; });
}

bool NearSurface::has(const double* x) const {
  if (!contains(bounds_, x, 0))
    return false;
  auto entry = std::lower_bound(sorted_.begin(), sorted_.end(), x[axis_] - widest_,
                                [](const Entry& each, double lower) { return each.lower < lower; });
  for (; entry != sorted_.end() && entry->lower <= x[axis_]; ++entry) {
    if (!contains(entry->box, x, 0))
      continue;
    const auto& corner = surface_.triangle[entry->triangle];
    const auto at = [this](int vertex) { return surface_.vertex[std::size_t(vertex)]; };
    if (distance_to_triangle({x[0], x[1], x[2]}, at(corner[0]), at(corner[1]), at(corner[2])) <=
        within_)
      return true;
  }
  return false;
}

} // namespace ossatura
