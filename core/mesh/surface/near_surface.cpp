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

double distance_to_segment(const Point& x, const Point& a, const Point& b) {
  const Point way = minus(b, a), from = minus(x, a);
  const double square = dot(way, way);
  const double t = square > 0 ? std::clamp(dot(from, way) / square, 0.0, 1.0) : 0;
  return std::hypot(from[0] - t * way[0], from[1] - t * way[1], from[2] - t * way[2]);
}

} // namespace

double distance_to_triangle(const Point& x, const Point& a, const Point& b, const Point& c) {
  const Point ab = minus(b, a), ac = minus(c, a), ax = minus(x, a);
  const Point normal = cross(ab, ac);
  const double square = dot(normal, normal);
  if (square > 0) {
    // Barycentric coordinates of the foot of the perpendicular.
    const double bb = dot(ab, ab), cc = dot(ac, ac), bc = dot(ab, ac);
    const double xb = dot(ax, ab), xc = dot(ax, ac);
    const double v = cc * xb - bc * xc, w = bb * xc - bc * xb;
    if (v >= 0 && w >= 0 && v + w <= bb * cc - bc * bc)
      return std::fabs(dot(ax, normal)) / std::sqrt(square);
  }
  return std::min(
      {distance_to_segment(x, a, b), distance_to_segment(x, b, c), distance_to_segment(x, c, a)});
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
