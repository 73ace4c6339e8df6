// SPDX-License-Identifier: Apache-2.0
// Generated problems and loads, on cases done by hand.
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/mechanics/traction.hpp>
#include <ossatura/solvers/topopt/generators.hpp>

#include "tests/catch.hpp"

using namespace ossatura;

TEST_CASE("an L has no elements in its corner, and no nodes that nothing has", "[topopt]") {
  HexaModel model = generate_design("lbeam", {5, 1, 10}, {5, 1, 10}).model;
  CHECK(model.mesh.num_elem() == 5 * 4 + 2 * 6);
  CHECK(model.mesh.num_points() == 2 * (6 * 5 + 3 * 6));
  for (std::size_t i = 0; i < model.mesh.point.size(); i += 3)
    CHECK((model.mesh.point[i] <= 2 || model.mesh.point[i + 2] <= 4));
  for (const std::int32_t node : model.node_sets["FIXED"])
    CHECK(model.mesh.point[3 * std::size_t(node) + 2] == 10);
  REQUIRE(model.node_sets["LOADED"].size() == 2);
  for (const std::int32_t node : model.node_sets["LOADED"]) {
    CHECK(model.mesh.point[3 * std::size_t(node)] == 5);
    CHECK(model.mesh.point[3 * std::size_t(node) + 2] == 4);
  }
  CHECK_THROWS_WITH(generate_design("lbeam", {1, 1, 2}, {1, 1, 2}),
                    ContainsSubstring("lbeam of 1x1x2 cells") &&
                        ContainsSubstring("at least 2x1x2"));
}

TEST_CASE("a line load has half a share at its ends", "[topopt]") {
  const HexaModel model = generate_design("cantilever", {2, 4, 1}, {2, 4, 1}).model;
  REQUIRE(model.loads.size() == 1);
  std::vector<double> force;
  for (const NodeForce& one : model.loads[0].forces)
    force.push_back(one.force[2]);
  CHECK(force == std::vector<double>{-0.125, -0.25, -0.25, -0.25, -0.125});
}

TEST_CASE("a traction is shared as the shape functions are", "[topopt]") {
  // The top of two cells of different widths, 1 and 3, and depth 2: by hand.
  ElementMesh mesh = make_hexa_box({2, 1, 1}, {2, 2, 1});
  for (std::size_t i = 0; i < mesh.point.size(); i += 3)
    if (mesh.point[i] == 2)
      mesh.point[i] = 4;
  const std::vector<NodeForce> forces = traction_forces(mesh, {6, 7, 8, 9, 10, 11}, {0, 2, -1});
  REQUIRE(forces.size() == 6);
  const double area[] = {0.5, 2, 1.5, 0.5, 2, 1.5};
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(forces[i].node == std::int32_t(6 + i));
    CHECK(forces[i].force[0] == 0);
    CHECK(forces[i].force[1] == Approx(2 * area[i]));
    CHECK(forces[i].force[2] == Approx(-area[i]));
  }
  // The face between the cells is not of the surface.
  CHECK(traction_forces(mesh, {1, 4, 7, 10}, {1, 0, 0}).empty());
}
