// SPDX-License-Identifier: Apache-2.0
// Halves that are joined in a mirror: closed, without what is inside, and as smooth there as
// elsewhere. What touches a mirror along an edge alone is in tests/apps/topopt.py.
#include "tests/catch.hpp"
#include <ossatura/core/io/surface/reader.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/iso_surface.hpp>
#include <ossatura/core/mesh/lattice_body.hpp>
#include <ossatura/core/mesh/surface/mirror_surface.hpp>
#include <ossatura/core/mesh/surface/points.hpp>
#include <ossatura/core/mesh/surface/smooth_surface.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

namespace {

using namespace ossatura;
using Point = std::array<double, 3>;
namespace points = surface_points; // another file of the folder has vectors of its own

double volume_between(const TriangleSurface& surface) {
  double sum = 0;
  for (const auto& t : surface.triangle)
    sum += points::dot(
        surface.vertex[std::size_t(t[0])],
        points::cross(surface.vertex[std::size_t(t[1])], surface.vertex[std::size_t(t[2])]));
  return sum / 6;
}

/// Vertices less edges plus triangles: 2 of a ball, 0 of a torus.
int euler_number_of(const TriangleSurface& surface) {
  std::set<std::array<int, 2>> edges;
  std::set<int> vertices;
  for (const auto& t : surface.triangle)
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = t[k], b = t[(k + 1) % 3];
      edges.insert({std::min(a, b), std::max(a, b)});
      vertices.insert(a);
    }
  return int(vertices.size()) - int(edges.size()) + int(surface.triangle.size());
}

/// A quarter of a torus about z, of radii 6 and 3, from x = 0 and y = 0, as designs have it.
TriangleSurface quarter_torus() {
  const ElementMesh mesh = make_lattice_box({10, 10, 10}, {10, 10, 10}).mesh();
  std::vector<double> density;
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    Point centre{};
    for (std::size_t a = 8 * e; a < 8 * e + 8; ++a)
      for (std::size_t d = 0; d < 3; ++d)
        centre[d] += mesh.point[3 * std::size_t(mesh.node[a]) + d] / 8;
    const double away = std::hypot(std::hypot(centre[0], centre[1]) - 6, centre[2] - 5);
    density.push_back(away < 3 ? 1 : 0);
  }
  return iso_surface(mesh, node_means(mesh, density), 0.5);
}

} // namespace

TEST_CASE("a quarter of a torus becomes the torus", "[mirror_surface]") {
  const TriangleSurface quarter = quarter_torus();
  const MirroredSurface half = mirror_surface(quarter, 0, 0, 1e-9);
  const MirroredSurface whole = mirror_surface(half.surface, 1, 0, 1e-9);
  CHECK(euler_number_of(half.surface) == 2);
  CHECK(euler_number_of(whole.surface) == 0);
  CHECK(describe_first_open_edge(half.surface).empty());
  CHECK(describe_first_open_edge(whole.surface).empty());
  CHECK(volume_between(whole.surface) == Approx(4 * volume_between(quarter)).epsilon(1e-13));
  std::set<Point> places(whole.surface.vertex.begin(), whole.surface.vertex.end());
  CHECK(places.size() == whole.surface.vertex.size());
  // Triangles in a mirror are gone, and so are vertices of these alone.
  std::size_t outside = 0;
  for (const auto& t : quarter.triangle) {
    const auto is_in = [&](std::size_t d) {
      return std::all_of(t.begin(), t.end(),
                         [&](int v) { return quarter.vertex[std::size_t(v)][d] == 0; });
    };
    outside += is_in(0) || is_in(1) ? 0 : 1;
  }
  CHECK(whole.surface.triangle.size() == 4 * outside);
  for (std::size_t v = 0; v < quarter.vertex.size(); ++v)
    if (half.number[v] >= 0 && whole.number[std::size_t(half.number[v])] >= 0)
      CHECK(whole.surface.vertex[std::size_t(whole.number[std::size_t(half.number[v])])] ==
            quarter.vertex[v]);
}

TEST_CASE("a joined surface has no crease in the mirror when it is smoothed", "[mirror_surface]") {
  const TriangleSurface quarter = quarter_torus();
  const TriangleSurface half = mirror_surface(quarter, 0, 0, 1e-9).surface;
  const MirroredSurface joined = mirror_surface(half, 1, 0, 1e-9);
  const TriangleSurface whole =
      smooth_surface(joined.surface, 20, {-10, -10, 0, 10, 10, 10}).surface;
  CHECK(describe_first_open_edge(whole).empty());
  CHECK(volume_between(whole) == Approx(2 * volume_between(half)).epsilon(1e-9));
  // Vertices and their images, and those in the mirror y = 0 in the middle.
  std::vector<Point> normal(whole.vertex.size());
  for (const auto& t : whole.triangle) {
    const Point& a = whole.vertex[std::size_t(t[0])];
    const Point n = points::cross(points::minus(whole.vertex[std::size_t(t[1])], a),
                                  points::minus(whole.vertex[std::size_t(t[2])], a));
    for (const int v : t)
      points::add(normal[std::size_t(v)], 1, n);
  }
  int in_mirror = 0;
  double most_across = 0;
  for (std::size_t v = 0; v < half.vertex.size(); ++v) {
    const int own = joined.number[v];
    if (own < 0)
      continue;
    const Point& x = whole.vertex[std::size_t(own)];
    const Point& n = normal[std::size_t(own)];
    if (half.vertex[v][1] != 0)
      continue;
    ++in_mirror;
    CHECK(std::fabs(x[1]) < 1e-12);
    most_across = std::max(most_across, std::fabs(n[1]) / std::sqrt(points::dot(n, n)));
  }
  CHECK(in_mirror > 40);
  CHECK(most_across < 1e-9); // normals are in the mirror
  // Images: the second half of the triangles are those of the first, turned.
  const std::size_t count = whole.triangle.size() / 2;
  double farthest = 0;
  for (std::size_t t = 0; t < count; ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      Point a = whole.vertex[std::size_t(whole.triangle[t][k])];
      const Point& b = whole.vertex[std::size_t(whole.triangle[count + t][(3 - k) % 3])];
      a[1] = -a[1];
      const Point way = points::minus(a, b);
      farthest = std::max(farthest, std::sqrt(points::dot(way, way)));
    }
  CHECK(farthest < 1e-9);
}

TEST_CASE("a body away from the mirror has an image of its own", "[mirror_surface]") {
  const ElementMesh mesh = make_lattice_box({2, 3, 1}, {2, 3, 1}).mesh();
  const TriangleSurface box = iso_surface(mesh, std::vector<double>(mesh.num_points(), 1), 0.5);
  CHECK(volume_between(mirror_surface(box, 0, 0, 1e-9).surface) == Approx(12));
  const MirroredSurface away = mirror_surface(box, 0, -1, 1e-9); // nothing is shared
  CHECK(away.surface.vertex.size() == 2 * box.vertex.size());
  CHECK(volume_between(away.surface) == Approx(12));
  CHECK(away.surface.vertex.back()[0] == Approx(-2 - box.vertex.back()[0]));
}

TEST_CASE("mirrors refuse what they do not know", "[mirror_surface]") {
  CHECK_THROWS_AS(mirror_surface({}, 3, 0, 1e-9), std::invalid_argument);
  CHECK_THROWS_AS(mirror_surface({{{0, 0, 0}}, {{0, 0, 1}}}, 0, 0, 1e-9), std::invalid_argument);
  CHECK(mirror_surface({}, 0, 0, 1e-9).surface.triangle.empty());
}
