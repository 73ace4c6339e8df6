// SPDX-License-Identifier: Apache-2.0
// Bodies that are stated by cells of a lattice have the meshes of the generators, number by number.
#include "tests/catch.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/cube_lattice.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/generators/voxel_mesh.hpp>
#include <ossatura/core/mesh/lattice_body.hpp>
#include <ossatura/core/mesh/mechanics/lattice_motion.hpp>
#include <ossatura/core/mesh/mechanics/mesh_parts.hpp>
#include <ossatura/core/mesh/mechanics/traction.hpp>

#include <random>
#include <stdexcept>

namespace {

using namespace ossatura;
using Place = LatticeBody::Place;

/// Voxels at random, in rows of several words.
VoxelImage random_image(unsigned seed, const std::array<int, 3>& shape, unsigned one_in) {
  VoxelImage image;
  image.shape = shape;
  image.spacing = 0.1;
  image.origin = {-1, 2, 0.5};
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < image.num_voxels(); ++i)
    image.value.push_back(random() % one_in == 0 ? 1.0f : 0.0f);
  return image;
}

void check_mesh(const LatticeBody& body, const ElementMesh& mesh) {
  const ElementMesh own = body.mesh();
  CHECK(own.point == mesh.point);
  CHECK(own.node == mesh.node);
  CHECK(body.bounds() == bounding_box(mesh.point));
  CHECK(body.is_one_part() == (find_mesh_parts(mesh).first.size() == 1));
  std::int32_t next = 0;
  for (std::int32_t n = 0; n < std::int32_t(body.num_nodes()); ++n)
    next += body.node().number(body.node().place(n)) == n ? 1 : 0;
  CHECK(next == body.num_nodes());
}

TEST_CASE("A box of cells has the mesh of the box", "[lattice_body]") {
  check_mesh(make_lattice_box({3, 2, 4}, {0.3, 0.7, 1}), make_hexa_box({3, 2, 4}, {0.3, 0.7, 1}));
  check_mesh(make_lattice_box({130, 1, 2}, {1.3, 1, 2}), make_hexa_box({130, 1, 2}, {1.3, 1, 2}));
  check_mesh(make_lattice_box({64, 2, 1}, {6, 2, 1}), make_hexa_box({64, 2, 1}, {6, 2, 1}));
  check_mesh(make_lattice_box({5, 2, 6}, {5, 2, 6}, {2, 0, 2}, {5, 2, 6}),
             make_hexa_box_without({5, 2, 6}, {5, 2, 6}, {2, 0, 2}, {5, 2, 6}));
  check_mesh(make_lattice_box({5, 4, 6}, {5, 2, 6}, {2, 1, 2}, {3, 3, 5}),
             make_hexa_box_without({5, 4, 6}, {5, 2, 6}, {2, 1, 2}, {3, 3, 5}));
}

TEST_CASE("The voxels of an image have the mesh of its voxels", "[lattice_body]") {
  for (const unsigned seed : {1u, 2u, 3u, 4u}) {
    INFO("seed " << seed);
    const VoxelImage image = random_image(seed, {70, 3, 4}, seed);
    const LatticeBody body = make_lattice_body(image, 10);
    check_mesh(body, make_voxel_mesh(image, 10));
    CHECK(body.is_of_cubes());
    CHECK(body.edge() == find_cube_lattice(make_voxel_mesh(image, 10)).edge);
  }
  VoxelImage image = random_image(1, {5, 4, 3}, 1);
  image.value.assign(60, 0);
  CHECK_THROWS_AS(make_lattice_body(image), std::invalid_argument);
  image.value[33] = image.value[39] = 1; // far from the faces, and touching along an edge
  check_mesh(make_lattice_body(image), make_voxel_mesh(image));
}

TEST_CASE("Tractions and free motions of a lattice are those of its mesh", "[lattice_body]") {
  const LatticeBody body = make_lattice_box({6, 4, 5}, {3, 2, 2.5}, {3, 0, 2}, {6, 4, 5});
  const ElementMesh mesh = body.mesh();
  std::vector<std::int32_t> nodes, number, chosen;
  for (std::int32_t n = 0; n < std::int32_t(mesh.num_points()); ++n)
    if (const double* x = &mesh.point[3 * std::size_t(n)]; x[2] == 1 || x[0] == 1.5)
      nodes.push_back(n); // the inner corner, and a plane that goes on inside
  const ElementMesh around = body.mesh_around(nodes, number);
  CHECK(around.num_elem() < mesh.num_elem());
  for (const std::int32_t node : nodes)
    chosen.push_back(
        std::int32_t(std::lower_bound(number.begin(), number.end(), node) - number.begin()));
  const std::vector<NodeForce> expected = traction_forces(mesh, nodes, {0.1, -0.2, 0.3}),
                               forces = traction_forces(around, chosen, {0.1, -0.2, 0.3});
  REQUIRE(forces.size() == expected.size());
  REQUIRE(!forces.empty());
  for (std::size_t i = 0; i < forces.size(); ++i) {
    CHECK(number[std::size_t(forces[i].node)] == expected[i].node);
    for (int c = 0; c < 3; ++c)
      CHECK(forces[i].force[c] == expected[i].force[c]);
  }
  using Held = std::vector<HeldComponents>;
  for (const Held& held : {Held{}, Held{{0, 7}}, Held{{0, 7}, {6, 6}}, Held{{0, 7}, {6, 6}, {8, 4}},
                           Held{{0, 7}, {6, 6}, {30, 4}}, Held{{3, 2}, {4, 2}, {60, 1}}})
    CHECK(describe_free_motion(body, held) == describe_free_motion(mesh, held));
  VoxelImage image = random_image(5, {9, 3, 3}, 9);
  const LatticeBody parts = make_lattice_body(image);
  REQUIRE(!parts.is_one_part());
  CHECK(describe_free_motion(parts, {{0, 7}}) == describe_free_motion(parts.mesh(), {{0, 7}}));
}

TEST_CASE("What is no lattice of cubes is told, and no lattice refused", "[lattice_body]") {
  CHECK(make_lattice_box({3, 2, 1}, {3, 2, 1}).is_of_cubes());
  CHECK(!make_lattice_box({3, 2, 1}, {3, 2, 1.1}).is_of_cubes());
  CHECK(
      !make_lattice_box({3, 2, 1}, {3, 2, 1}, {0, 0, 0}, {1, 2, 1}).is_of_cubes()); // an empty end
  const std::vector<double> two{0, 1};
  CHECK_THROWS_AS(LatticeBody({two, two, two}, {}), std::invalid_argument);
  CHECK_THROWS_AS(LatticeBody({two, two, {1, 0}}, {{{0, 0, 0}, {1, 1, 1}}}), std::invalid_argument);
  CHECK_THROWS_AS(LatticeBody({two, two, {1}}, {{{0, 0, 0}, {1, 1, 0}}}), std::invalid_argument);
  CHECK_THROWS_AS(LatticeBody({two, two, two}, {{{0, 0, 0}, {1, 1, 2}}}), std::invalid_argument);
  CHECK_THROWS_AS(make_lattice_box({3, 0, 1}, {3, 2, 1}), std::invalid_argument);
  CHECK_THROWS_AS(make_lattice_box({1300, 1300, 1300}, {1, 1, 1}), InputError);
}

} // namespace
