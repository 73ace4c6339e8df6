// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/surface/enclosed_volume.hpp>

#include <ossatura/core/mesh/surface/points.hpp>

namespace ossatura {

double enclosed_volume(const TriangleSurface& surface) {
  using namespace surface_points;
  double sum = 0;
  for (const auto& t : surface.triangle) {
    // From a vertex of the surface: far from the origin products would lose their digits.
    const Point& origin = surface.vertex[std::size_t(surface.triangle[0][0])];
    const auto edge = [&](std::size_t i) {
      return minus(surface.vertex[std::size_t(t[i])], origin);
    };
    sum += dot(edge(0), cross(edge(1), edge(2)));
  }
  return sum / 6;
}

} // namespace ossatura
