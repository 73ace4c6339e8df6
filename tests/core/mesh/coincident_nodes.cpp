// SPDX-License-Identifier: Apache-2.0
// Nodes in the place of another one: made by hand, compared with all pairs, and none in good
// meshes.
#include <ossatura/core/mesh/mechanics/coincident_nodes.hpp>

#include <ossatura/core/mesh/generators/element_meshes.hpp>

#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace {

using namespace ossatura;

/// Both, whose nodes stay apart.
ElementMesh beside(const ElementMesh& a, const ElementMesh& b) {
  ElementMesh both = a;
  both.point.insert(both.point.end(), b.point.begin(), b.point.end());
  for (const std::int32_t node : b.node)
    both.node.push_back(node + std::int32_t(a.num_points()));
  return both;
}

ElementMesh moved(ElementMesh mesh, double x, double y, double z) {
  const double by[3] = {x, y, z};
  for (std::size_t i = 0; i < mesh.point.size(); ++i)
    mesh.point[i] += by[i % 3];
  return mesh;
}

TEST_CASE("boxes that were not joined have the nodes between them twice", "[coincident_nodes]") {
  const ElementMesh left = make_hexa_box({3, 2, 2}, {3, 2, 2});
  const ElementMesh both = beside(left, moved(left, 3, 0, 0));
  const CoincidentNodes found = find_coincident_nodes(both);
  CHECK(found.count == 9);
  CHECK(found.node[0] == 3); // the lowest on x = 3
  CHECK(found.node[1] == std::int32_t(left.num_points()));
  CHECK(found.place == std::array<double, 3>{3, 0, 0});
  CHECK(find_coincident_nodes(beside(left, left)).count == std::int64_t(left.num_points()));
  CHECK(find_coincident_nodes(beside(left, moved(left, 3.02, 0, 0))).count == 0); // a gap
}

TEST_CASE("places differ by the rounding of a file", "[coincident_nodes]") {
  const ElementMesh left = make_hexa_box({3, 2, 2}, {3, 2, 2});
  std::mt19937 random(7);
  std::uniform_real_distribution<double> rounding(-5e-7, 5e-7), place(-40, 40);
  for (int k = 0; k < 20; ++k) {
    ElementMesh both = beside(left, moved(left, 3, 0, 0));
    const double by[3] = {place(random), place(random), place(random)};
    for (std::size_t i = 0; i < both.point.size(); ++i)
      both.point[i] += by[i % 3] + rounding(random);
    CHECK(find_coincident_nodes(both).count == 9);
  }
}

TEST_CASE("all pairs have as many", "[coincident_nodes]") {
  // Nodes of distorted boxes on each other, some of which were moved out of their places.
  std::mt19937 random(5);
  std::uniform_real_distribution<double> shift(-0.2, 0.2);
  ElementMesh one = make_hexa_box({5, 4, 3}, {5, 4, 3});
  for (double& x : one.point)
    x += shift(random);
  ElementMesh both = beside(one, one);
  for (std::size_t i = one.num_points(); i < both.num_points(); i += 3)
    both.point[3 * i] += 0.05;
  std::int64_t pairs = 0;
  for (std::size_t i = 0; i < both.num_points(); ++i)
    for (std::size_t j = i + 1; j < both.num_points(); ++j)
      pairs += both.point[3 * i] == both.point[3 * j] &&
               both.point[3 * i + 1] == both.point[3 * j + 1] &&
               both.point[3 * i + 2] == both.point[3 * j + 2];
  CHECK(pairs > 0);
  CHECK(find_coincident_nodes(both).count == pairs);
}

TEST_CASE("nodes hang where neighbours are finer", "[coincident_nodes]") {
  const ElementMesh coarse = make_hexa_box({1, 1, 1}, {1, 1, 1});
  for (const int parts : {2, 3}) {
    // Corners of the face between are those of the coarse box.
    ElementMesh both =
        beside(coarse, moved(make_hexa_box({parts, parts, parts}, {1, 1, 1}), 1, 0, 0));
    CHECK(find_coincident_nodes(both).count == 4);
    const auto at = [&both](std::int32_t node) {
      return Catch::Detail::stringify(both.point[3 * std::size_t(node)]) + ' ' +
             Catch::Detail::stringify(both.point[3 * std::size_t(node) + 1]) + ' ' +
             Catch::Detail::stringify(both.point[3 * std::size_t(node) + 2]);
    };
    for (std::int32_t& node : both.node)
      for (std::int32_t corner = 0; corner < 8; ++corner)
        if (at(node) == at(corner))
          node = corner;
    const CoincidentNodes found = find_coincident_nodes(both);
    CHECK(found.count == 0);
    CHECK(found.hanging == 4 * (parts - 1));
    CHECK(found.hanging_place[0] == 1);
    CHECK(describe_coincident(found).find("hanging nodes") != std::string::npos);
  }
  CHECK(describe_coincident(find_coincident_nodes(coarse)).empty());
}

TEST_CASE("good meshes, and points without element, have none", "[coincident_nodes]") {
  ElementMesh mesh = make_hexa_box({20, 20, 20}, {1, 1e-3, 200});
  CHECK(find_coincident_nodes(mesh).count == 0);
  CHECK(find_coincident_nodes(mesh).hanging == 0);
  mesh.point.insert(mesh.point.end(), {0, 0, 0});
  CHECK(find_coincident_nodes(mesh).count == 0);
  CHECK(find_coincident_nodes(ElementMesh()).count == 0);

  SolidMesh solids;
  solids.point = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
  const std::int32_t first[] = {0, 1, 2, 3}, second[] = {4, 5, 6, 7};
  solids.add(SolidKind::tetra4, first);
  CHECK(find_coincident_nodes(solids).count == 0);
  solids.add(SolidKind::tetra4, second);
  CHECK(find_coincident_nodes(solids).count == 3);
}

TEST_CASE("tetrahedra that conduct are looked at as elements are", "[coincident_nodes]") {
  const ElementMesh left = make_tetra_box({3, 2, 2}, {3, 2, 2});
  const ElementMesh both = beside(left, moved(left, 3, 0, 0));
  TetraMesh tissue;
  tissue.point = both.point;
  tissue.tetra = both.node;
  const CoincidentNodes found = find_coincident_nodes(tissue),
                        expected = find_coincident_nodes(both);
  CHECK(found.count == expected.count);
  CHECK(found.node == expected.node);
  CHECK(found.place == expected.place);
  CHECK(describe_split_tissue(found).find("9 vertices lie in the place of another one") == 0);
  std::vector<bool> blocked(tissue.num_tetra());
  for (std::size_t e = left.num_elem(); e < blocked.size(); ++e)
    blocked[e] = true;
  CHECK(find_coincident_nodes(tissue, blocked).count == 0);
  CHECK(find_coincident_nodes(tissue, std::vector<bool>(tissue.num_tetra(), true)).count == 0);
  tissue.point = left.point;
  tissue.tetra = left.node;
  CHECK(find_coincident_nodes(tissue).count == 0);
  CHECK(describe_split_tissue(find_coincident_nodes(tissue)).empty());
  CHECK(find_coincident_nodes(TetraMesh()).count == 0);
  // A mesh that is fine in one place, where far more vertices are than on average.
  const ElementMesh fine = make_tetra_box({12, 12, 12}, {1e-3, 1e-3, 1e-3});
  const ElementMesh graded = beside(fine, moved(left, 7, 7, 7));
  tissue.point = graded.point;
  tissue.tetra = graded.node;
  CHECK(find_coincident_nodes(tissue).count == 0);
  std::copy_n(&tissue.point[3 * 5], 3, &tissue.point[3 * 700]);
  CHECK(find_coincident_nodes(tissue).count == 1);
}

} // namespace
