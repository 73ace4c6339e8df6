// SPDX-License-Identifier: Apache-2.0
// Iso-surfaces of meshes of solid elements: closed, of the right volume, in as many parts as there
// are.
#include <ossatura/core/mesh/iso_surface.hpp>

#include "tests/catch.hpp"
#include "tests/solid_meshes.hpp"

#include <cmath>
#include <map>

using namespace ossatura;
using namespace ossatura_test;

namespace {

/// Edges of triangles less those in the opposite direction, which is none of a closed surface.
std::int64_t open_edges(const TriangleSurface& surface) {
  std::map<std::pair<int, int>, int> count;
  for (const auto& triangle : surface.triangle)
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = triangle[k], b = triangle[(k + 1) % 3];
      count[std::minmax(a, b)] += a < b ? 1 : -1;
    }
  std::int64_t open = 0;
  for (const auto& [edge, sum] : count)
    open += std::abs(sum);
  return open;
}

double enclosed(const TriangleSurface& surface) {
  double volume = 0;
  for (const auto& triangle : surface.triangle) {
    const auto &a = surface.vertex[std::size_t(triangle[0])],
               &b = surface.vertex[std::size_t(triangle[1])],
               &c = surface.vertex[std::size_t(triangle[2])];
    volume += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0])) /
              6;
  }
  return volume;
}

const std::array<double, 3> size{2, 1, 1};

SolidMesh bent_mesh(SolidKind kind, SolidKind other) {
  return make_solid_box([=](int i) { return i < 2 ? kind : other; }, {4, 2, 2}, size,
                        [](std::array<double, 3>& x) { bend_inside(size, x); });
}

} // namespace

// A linear field is cut in a plane; vertices keep a hundredth of an edge from its ends.
TEST_CASE("Half of a box of solids is cut off in a closed surface", "[solids]") {
  for (const auto& [kind, other] : {std::pair(SolidKind::tetra4, SolidKind::tetra4),
                                    {SolidKind::tetra10, SolidKind::tetra10},
                                    {SolidKind::prism6, SolidKind::hexa8},
                                    {SolidKind::hexa20, SolidKind::prism15}}) {
    INFO(name_of(kind) << ", " << name_of(other));
    const SolidMesh mesh = bent_mesh(kind, other);
    std::vector<double> field;
    for (std::size_t n = 0; n < mesh.num_points(); ++n)
      field.push_back(mesh.point[3 * n] + 0.2 * mesh.point[3 * n + 1]);
    const SolidParts part = solid_parts(mesh, field, 0.93);
    CHECK(part.num_parts == 1);
    CHECK(open_edges(part.surface) == 0);
    CHECK(enclosed(part.surface) == Approx(2 - 0.83).epsilon(2e-3));
    CHECK(enclosed(solid_parts(mesh, field, -1).surface) == Approx(2).epsilon(1e-13));
    CHECK(solid_parts(mesh, field, 9).surface.triangle.empty());
  }
}

TEST_CASE("Both ends of a box of solids are two parts", "[solids]") {
  const SolidMesh mesh = bent_mesh(SolidKind::tetra10, SolidKind::tetra10);
  for (const double mean : node_means(mesh, std::vector<double>(mesh.num_elem(), 0.7)))
    CHECK(mean == Approx(0.7).epsilon(1e-14));
  std::vector<double> field;
  for (std::size_t n = 0; n < mesh.num_points(); ++n)
    field.push_back(std::abs(mesh.point[3 * n] - 1));
  const SolidParts parts = solid_parts(mesh, field, 0.8);
  CHECK(parts.num_parts == 2);
  CHECK(open_edges(parts.surface) == 0);
}
