// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/surface/mirror_surface.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace ossatura {

MirroredSurface mirror_surface(const TriangleSurface& half, int axis, double place, double slack) {
  OSSATURA_REQUIRE(axis >= 0 && axis < 3, "a mirror normal to axis " << axis);
  const std::size_t num_vertices = half.vertex.size(), across = std::size_t(axis);
  const auto is_on = [&](int v) {
    return std::fabs(half.vertex[std::size_t(v)][across] - place) <= slack;
  };
  // Of triangles in the plane and of others that a vertex is of.
  std::vector<std::uint8_t> inside(num_vertices), outside(num_vertices);
  MirroredSurface whole;
  for (const std::array<int, 3>& corners : half.triangle) {
    for (const int v : corners)
      OSSATURA_REQUIRE(v >= 0 && std::size_t(v) < num_vertices,
                       "vertex " << v << " of " << num_vertices);
    const bool is_inside = std::all_of(corners.begin(), corners.end(), is_on);
    for (const int v : corners)
      (is_inside ? inside : outside)[std::size_t(v)] = 1;
    if (!is_inside)
      whole.surface.triangle.push_back(corners);
  }
  OSSATURA_REQUIRE(num_vertices <= std::size_t(std::numeric_limits<int>::max()) / 2,
                   "the surface has too many vertices to number");

  std::vector<std::array<double, 3>>& vertex = whole.surface.vertex;
  whole.number.assign(num_vertices, -1);
  for (std::size_t v = 0; v < num_vertices; ++v) {
    if (outside[v] == 0)
      continue;
    whole.number[v] = int(vertex.size());
    vertex.push_back(half.vertex[v]);
    if (inside[v] != 0)
      vertex.back()[across] = place;
  }
  std::vector<int> image(num_vertices, -1);
  for (std::size_t v = 0; v < num_vertices; ++v) {
    if (outside[v] == 0)
      continue;
    image[v] = inside[v] != 0 ? whole.number[v] : int(vertex.size());
    if (inside[v] != 0)
      continue;
    vertex.push_back(half.vertex[v]);
    vertex.back()[across] = 2 * place - half.vertex[v][across];
  }
  const std::size_t num_own = whole.surface.triangle.size();
  for (std::size_t t = 0; t < num_own; ++t) {
    const std::array<int, 3> own = whole.surface.triangle[t];
    for (std::size_t k = 0; k < 3; ++k)
      whole.surface.triangle[t][k] = whole.number[std::size_t(own[k])];
    whole.surface.triangle.push_back( // turned, lest it face inward
        {image[std::size_t(own[0])], image[std::size_t(own[2])], image[std::size_t(own[1])]});
  }
  return whole;
}

} // namespace ossatura
