// SPDX-License-Identifier: Apache-2.0
// Edges that go through surfaces: cases done by hand, and the same found wherever the scene lies.
#include "tests/catch.hpp"
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/surface_crossings.hpp>

#include <cmath>
#include <vector>

namespace {

using namespace ossatura;

/// A box of one cell from `lower` on.
ElementMesh box(const double (&size)[3], const double (&lower)[3]) {
  ElementMesh mesh = make_hexa_box({1, 1, 1}, size);
  for (std::size_t i = 0; i < mesh.point.size(); ++i)
    mesh.point[i] += lower[i % 3];
  return mesh;
}

ElementMesh sheet() {
  ElementMesh mesh;
  mesh.shape = ElementShape::triangle;
  mesh.point = {-1, -1, 0, 1, -1, 0, 0, 2, 0};
  mesh.node = {0, 1, 2};
  return mesh;
}

std::vector<double> positions(const std::vector<ElementMesh>& meshes) {
  std::vector<double> all;
  for (const ElementMesh& mesh : meshes)
    all.insert(all.end(), mesh.point.begin(), mesh.point.end());
  return all;
}

std::vector<SurfaceCrossing> find(const std::vector<ElementMesh>& meshes,
                                  const std::vector<double>& x) {
  std::vector<const ElementMesh*> pointers;
  for (const ElementMesh& mesh : meshes)
    pointers.push_back(&mesh);
  return SurfaceCrossings(pointers).find(x);
}

std::vector<SurfaceCrossing> find(const std::vector<ElementMesh>& meshes) {
  return find(meshes, positions(meshes));
}

/// A bar along x and one along y, whose lower side is `depth` below the other's upper side.
std::vector<ElementMesh> bars(double depth) {
  return {box({3, 1, 1}, {-1.5, -0.5, 0}), box({1, 3, 1}, {-0.5, -1.5, 1 - depth})};
}

} // namespace

TEST_CASE("crossed bars are in each other from a twentieth of their size on",
          "[surface_crossings]") {
  CHECK(find(bars(-0.1)).empty());
  CHECK(find(bars(0)).empty());
  CHECK(find(bars(0.04)).empty()); // of triangles 0.95 high
  CHECK(find(bars(0.06)).size() == 1);
  const auto found = find(bars(0.4));
  REQUIRE(found.size() == 1);
  CHECK(found[0].first == 0);
  CHECK(found[0].second == 1);
  // Two edges of either, and the diagonals of the faces between them.
  CHECK(found[0].count >= 4);
  CHECK(found[0].depth == Approx(0.4).epsilon(1e-12));
  CHECK(std::abs(found[0].place[2] - 0.8) < 0.21);
}

TEST_CASE("an edge sticks through a sheet by its shorter side", "[surface_crossings]") {
  // A tetrahedron stands on a point 0.25 below the sheet, with its other points 1.75 above.
  ElementMesh tetra;
  tetra.shape = ElementShape::tetra;
  tetra.point = {0, 0, -0.25, 0.5, 0, 1.75, 0, 0.5, 1.75, -0.5, -0.5, 1.75};
  tetra.node = {0, 1, 2, 3};
  const auto found = find({tetra, sheet()});
  REQUIRE(found.size() == 1);
  CHECK(found[0].count == 3);
  CHECK(found[0].depth == Approx(0.25).epsilon(1e-12));
  CHECK(found[0].place[2] == Approx(0).margin(1e-12));
  for (std::size_t i = 2; i < tetra.point.size(); i += 3)
    tetra.point[i] += 0.25 - 1e-9; // stands on the sheet but for rounding
  CHECK(find({tetra, sheet()}).empty());
}

TEST_CASE("a corner in a body is as deep as it is below the face", "[surface_crossings]") {
  ElementMesh tetra;
  tetra.shape = ElementShape::tetra;
  tetra.point = {0.1, 0, 0.6, 0.6, 0, 2.6, 0.1, 0.5, 2.6, -0.4, -0.5, 2.6};
  tetra.node = {0, 1, 2, 3};
  const auto found = find({box({1, 1, 1}, {-0.45, -0.45, 0}), tetra});
  REQUIRE(found.size() == 1);
  CHECK(found[0].count == 3);
  CHECK(found[0].depth == Approx(0.4).epsilon(1e-12));
  CHECK(found[0].place[2] == Approx(1).epsilon(1e-12));
}

TEST_CASE("crossings do not depend on where the scene lies and which body is first",
          "[surface_crossings]") {
  auto meshes = bars(0.3);
  const auto expected = find(meshes);
  REQUIRE(expected.size() == 1);
  std::vector<double> turned = positions(meshes);
  const double c = std::cos(0.7), s = std::sin(0.7);
  for (std::size_t i = 0; i < turned.size(); i += 3) {
    const double x = turned[i], y = turned[i + 1], z = turned[i + 2];
    turned[i] = c * x - s * y + 3;
    turned[i + 1] = c * (s * x + c * y) - s * z - 1;
    turned[i + 2] = s * (s * x + c * y) + c * z + 2;
  }
  const auto there = find(meshes, turned);
  REQUIRE(there.size() == 1);
  CHECK(there[0].depth == Approx(expected[0].depth).epsilon(1e-9));
  std::swap(meshes[0], meshes[1]);
  const auto swapped = find(meshes);
  REQUIRE(swapped.size() == 1);
  CHECK(swapped[0].count == expected[0].count);
  CHECK(swapped[0].depth == expected[0].depth);
}
