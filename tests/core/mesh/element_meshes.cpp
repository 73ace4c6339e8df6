// SPDX-License-Identifier: Apache-2.0
// Generated meshes of soft bodies and surfaces of meshes: sizes of the paper, elements that fill
// what they should, right way round, closed surfaces.
#include "tests/catch.hpp"
#include "tests/space_vectors.hpp"
#include <ossatura/core/mesh/element_surface.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>

#include <Kokkos_MathematicalConstants.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace {

using namespace ossatura;
using namespace ossatura_test;

Vector point_of(const ElementMesh& mesh, std::int32_t n) {
  return {mesh.point[3 * std::size_t(n)], mesh.point[3 * std::size_t(n) + 1],
          mesh.point[3 * std::size_t(n) + 2]};
}
Vector corner_of(const ElementMesh& mesh, std::size_t e, int corner) {
  return point_of(mesh, mesh.node[e * std::size_t(nodes_per_elem(mesh.shape)) + corner]);
}

/// Six times the volume of the tetrahedron of four corners of an element.
double volume_at(const ElementMesh& mesh, std::size_t e, const std::array<int, 4>& corner) {
  const Vector x = corner_of(mesh, e, corner[0]);
  return dot(cross(corner_of(mesh, e, corner[1]) - x, corner_of(mesh, e, corner[2]) - x),
             corner_of(mesh, e, corner[3]) - x);
}

/// All points used, each directed edge of the surface matched by the opposite one, and the volume
/// that the surface encloses. Returns the number of triangles.
std::size_t check_surface(const ElementMesh& mesh, double volume) {
  std::vector<bool> used(mesh.num_points());
  for (const std::int32_t n : mesh.node)
    used[std::size_t(n)] = true;
  CHECK(std::count(used.begin(), used.end(), false) == 0);
  const std::vector<std::int32_t> triangle = boundary_triangles(mesh);
  std::map<std::pair<int, int>, int> edge;
  double enclosed = 0;
  for (std::size_t t = 0; t < triangle.size(); t += 3) {
    const std::int32_t* n = &triangle[t];
    enclosed += dot(point_of(mesh, n[0]), cross(point_of(mesh, n[1]), point_of(mesh, n[2]))) / 6;
    for (int k = 0; k < 3; ++k)
      ++edge[{n[k], n[(k + 1) % 3]}];
  }
  CHECK(enclosed == Approx(volume).epsilon(1e-12));
  CHECK(std::all_of(edge.begin(), edge.end(), [&](const auto& e) {
    const auto opposite = edge.find({e.first.second, e.first.first});
    return e.second == 1 && opposite != edge.end() && opposite->second == 1;
  }));
  return triangle.size() / 3;
}

/// The least and the greatest angle between two faces of any tetrahedron, in degrees.
std::pair<double, double> angles_of(const ElementMesh& mesh) {
  double most = -1, least = 1; // cosines
  for (std::size_t e = 0; e < mesh.num_elem(); ++e)
    for (int a = 0; a < 4; ++a)
      for (int b = a + 1; b < 4; ++b) {
        const int c = a == 0 ? (b == 1 ? 2 : 1) : 0, d = 6 - a - b - c;
        const Vector x = corner_of(mesh, e, a), along = corner_of(mesh, e, b) - x;
        const Vector u = cross(along, corner_of(mesh, e, c) - x);
        const Vector v = cross(along, corner_of(mesh, e, d) - x);
        const double cosine = dot(u, v) / std::sqrt(dot(u, u) * dot(v, v));
        most = std::max(most, cosine);
        least = std::min(least, cosine);
      }
  return {std::acos(most) * 180 / Kokkos::numbers::pi,
          std::acos(least) * 180 / Kokkos::numbers::pi};
}

} // namespace

TEST_CASE("a cloth has the paper's size, its area and alternating diagonals", "[elements]") {
  const ElementMesh paper = make_cloth(70, 70, 1, 1);
  CHECK(paper.shape == ElementShape::triangle);
  CHECK(paper.num_points() == 4900);
  CHECK(paper.num_elem() == 9522);
  CHECK(boundary_triangles(paper) == paper.node);

  const ElementMesh mesh = make_cloth(4, 3, 1.5, 0.5);
  CHECK(mesh.num_points() == 12);
  CHECK(mesh.num_elem() == 12);
  CHECK(point_of(mesh, 1) == Vector{0.5, 0, 0});
  CHECK(point_of(mesh, 11) == Vector{1.5, 0.5, 0});
  std::map<std::pair<int, int>, int> edge;
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    const Vector x = corner_of(mesh, e, 0);
    const Vector area = cross(corner_of(mesh, e, 1) - x, corner_of(mesh, e, 2) - x);
    CHECK(area[2] == Approx(0.5 * 0.25));
    for (std::size_t k = 0; k < 3; ++k)
      ++edge[std::minmax(mesh.node[3 * e + k], mesh.node[3 * e + (k + 1) % 3])];
  }
  // 6 cells: 9 + 8 edges along the axes, 6 diagonals, of which four meet at an inner point.
  CHECK(edge.size() == 23);
  CHECK(std::count_if(edge.begin(), edge.end(), [](const auto& e) { return e.second == 2; }) == 13);
  CHECK(edge.count({0, 5}) + edge.count({2, 5}) + edge.count({5, 8}) + edge.count({5, 10}) == 4);
}

TEST_CASE("a box of hexahedra has the paper's size and fills its size", "[elements]") {
  const ElementMesh paper = make_hexa_box({19, 19, 19}, {1, 1, 1});
  CHECK(paper.shape == ElementShape::hexa);
  CHECK(paper.num_points() == 8000);
  CHECK(paper.num_elem() == 6859);
  CHECK(check_surface(paper, 1) == 12 * 19 * 19);

  const ElementMesh mesh = make_hexa_box({2, 3, 4}, {1, 6, 2});
  CHECK(mesh.num_points() == 60);
  CHECK(point_of(mesh, 1) == Vector{0.5, 0, 0});
  CHECK(point_of(mesh, 59) == Vector{1, 6, 2});
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    CHECK(volume_at(mesh, e, {0, 1, 3, 4}) == Approx(0.5));
    CHECK(volume_at(mesh, e, {6, 5, 7, 2}) == Approx(0.5)); // the other end of the diagonal
    CHECK((corner_of(mesh, e, 6) - corner_of(mesh, e, 0)) == Vector{0.5, 2, 0.5});
  }
  CHECK(check_surface(mesh, 12) == 4 * (2 * 3 + 3 * 4 + 2 * 4));
}

TEST_CASE("a box of tetrahedra conforms for even and odd numbers of cells", "[elements]") {
  for (const int n : {1, 2, 3}) {
    const ElementMesh mesh = make_tetra_box({n, 3, 2}, {1, 2, 3});
    CHECK(mesh.shape == ElementShape::tetra);
    CHECK(mesh.num_elem() == std::size_t(5 * n * 3 * 2));
    double volume = 0, least = 1;
    for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
      const double each = volume_at(mesh, e, {0, 1, 2, 3}) / 6;
      volume += each;
      least = std::min(least, each);
    }
    CHECK(least == Approx(6.0 / (36 * n))); // a sixth of a cell
    CHECK(volume == Approx(6));
    CHECK(check_surface(mesh, 6) == std::size_t(4 * (n * 3 + n * 2 + 3 * 2)));
  }
}

TEST_CASE("an ellipsoid of tetrahedra is round, closed and of good elements", "[elements]") {
  for (const int cells : {2, 3, 6, 11}) {
    INFO(cells);
    const ElementMesh mesh = make_tetra_ellipsoid({1, 1, 1}, cells);
    CHECK(mesh.num_points() == std::size_t((cells + 1) * (cells + 1) * (cells + 1)));
    CHECK(mesh.num_elem() == std::size_t(6 * cells * cells * cells));
    double volume = 0, least = 1, most = 0;
    for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
      const double each = volume_at(mesh, e, {0, 1, 2, 3}) / 6;
      volume += each;
      least = std::min(least, each);
      most = std::max(most, each);
    }
    CHECK(least > 0.3 * most);
    const double ball = 4 * Kokkos::numbers::pi / 3;
    CHECK(volume < ball);
    CHECK(volume > ball * (1 - 3.0 / (cells * cells)));
    CHECK(check_surface(mesh, volume) == std::size_t(12 * cells * cells));
    const auto [low, high] = angles_of(mesh);
    CHECK(low > 25);
    CHECK(high < 120);
  }
  const ElementMesh ball = make_tetra_ellipsoid({1, 1, 1}, 5);
  const ElementMesh mesh = make_tetra_ellipsoid({3, 0.5, 2}, 5);
  CHECK(mesh.node == ball.node);
  double furthest = 0;
  for (const std::int32_t n : boundary_triangles(mesh)) {
    const Vector x = point_of(mesh, n);
    const double level = std::hypot(x[0] / 3, x[1] / 0.5, x[2] / 2);
    furthest = std::max(furthest, std::abs(level - 1));
  }
  CHECK(furthest < 1e-14);
}

TEST_CASE("a face of a hexahedron is cut from its lowest node", "[elements]") {
  ElementMesh mesh = make_hexa_box({1, 1, 1}, {1, 1, 1});
  CHECK(boundary_triangles(mesh) == std::vector<std::int32_t>{0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6,
                                                              0, 1, 5, 0, 5, 4, 1, 3, 7, 1, 7, 5,
                                                              2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2});
}

TEST_CASE("meshes of soft bodies that make no sense are refused", "[elements]") {
  const double nan = std::nan("");
  CHECK_THROWS_AS(make_cloth(1, 2, 1, 1), std::invalid_argument);
  CHECK_THROWS_AS(make_cloth(2, 2, 1, 0), std::invalid_argument);
  CHECK_THROWS_AS(make_cloth(2, 2, nan, 1), std::invalid_argument);
  CHECK_THROWS_AS(make_cloth(100000, 100000, 1, 1), std::invalid_argument);
  CHECK_THROWS_AS(make_hexa_box({1, 0, 1}, {1, 1, 1}), std::invalid_argument);
  CHECK_THROWS_AS(make_hexa_box({1, 1, 1}, {1, 1, -1}), std::invalid_argument);
  CHECK_THROWS_AS(make_tetra_box({1, 1, 1}, {nan, 1, 1}), std::invalid_argument);
  CHECK_THROWS_AS(make_tetra_box({2000, 2000, 2000}, {1, 1, 1}), std::invalid_argument);
  CHECK_THROWS_AS(make_tetra_ellipsoid({1, 1, 1}, 1), std::invalid_argument);
  CHECK_THROWS_AS(make_tetra_ellipsoid({1, 0, 1}, 4), std::invalid_argument);
}
