// SPDX-License-Identifier: Apache-2.0
// Meshes of cubes are found to lie on a lattice, and others are refused.
#include "tests/catch.hpp"
#include <ossatura/core/mesh/cube_lattice.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/generators/voxel_mesh.hpp>

#include <stdexcept>
#include <string>

namespace {

using namespace ossatura;
using Place = std::array<int, 3>;

std::string refusal(const ElementMesh& mesh) {
  try {
    find_cube_lattice(mesh);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("A mesh of voxels lies on the lattice of its image", "[cube_lattice]") {
  VoxelImage image;
  image.shape = {3, 2, 4};
  image.spacing = 0.1;
  image.origin = {-1, 2, 0.5};
  image.value.assign(24, 1);
  image.value[4] = image.value[17] = 0;
  const ElementMesh mesh = make_voxel_mesh(image, 10);
  CHECK(mesh.num_elem() == 22);
  CHECK(mesh.point[0] == Approx(-10));
  const CubeLattice lattice = find_cube_lattice(mesh);
  CHECK(lattice.shape == Place{3, 2, 4});
  CHECK(lattice.edge == Approx(1));
  CHECK(lattice.origin[1] == Approx(20));
  std::size_t e = 0;
  for (int i = 0; i < 24; ++i)
    if (i != 4 && i != 17)
      CHECK(lattice.elem[e++] == Place{i % 3, i / 3 % 2, i / 6});
  for (std::size_t i = 0; i < mesh.num_points(); ++i)
    for (std::size_t axis = 0; axis < 3; ++axis)
      CHECK(mesh.point[3 * i + axis] ==
            Approx(lattice.origin[axis] + lattice.edge * lattice.node[i][axis]));
}

TEST_CASE("Few digits are taken, other shapes are not", "[cube_lattice]") {
  ElementMesh mesh = make_hexa_box({3, 2, 2}, {3, 2, 2});
  for (std::size_t i = 0; i < mesh.point.size(); ++i)
    mesh.point[i] += i % 2 == 0 ? 3e-6 : -3e-6;
  CHECK(refusal(mesh).empty());
  mesh.point[3 * 17] += 1e-3;
  CHECK(refusal(mesh).find("no cube") != std::string::npos);
  CHECK(refusal(make_hexa_box({3, 2, 2}, {3, 2, 2.2})).find("no cube") != std::string::npos);

  // A second box half a cube beside, and one in the same place.
  const ElementMesh box = make_hexa_box({2, 1, 1}, {2, 1, 1});
  const auto with_another = [&](double dx, double dy) {
    ElementMesh two = box;
    for (std::size_t i = 0; i < box.point.size(); ++i)
      two.point.push_back(box.point[i] + (i % 3 == 0 ? dx : i % 3 == 1 ? dy : 0));
    for (const std::int32_t node : box.node)
      two.node.push_back(node + std::int32_t(box.num_points()));
    return two;
  };
  CHECK(refusal(with_another(0.5, 3)).find("between the places") != std::string::npos);
  CHECK(refusal(with_another(0, 0)).find("where another one is") != std::string::npos);
  CHECK(refusal(with_another(0, 1)).find("in one place") != std::string::npos);
  CHECK(refusal(with_another(0, 2)).empty());
  ElementMesh loose = box;
  loose.point.insert(loose.point.end(), {1, 0, 0});
  CHECK(refusal(loose).find("has no element") != std::string::npos);
  ElementMesh collapsed = box;
  collapsed.node[0] = collapsed.node[1];
  CHECK(!refusal(collapsed).empty());
  CHECK(!refusal(ElementMesh()).empty());
}

TEST_CASE("Images that make no mesh of cubes are refused", "[cube_lattice]") {
  VoxelImage image;
  image.shape = {2, 1, 1};
  image.value = {0, 0};
  CHECK_THROWS_AS(make_voxel_mesh(image), std::invalid_argument);
  image.value = {1, 1};
  image.stretch = {1, 2, 1};
  CHECK_THROWS_AS(make_voxel_mesh(image), std::invalid_argument);
  image.stretch = {1, 1, 1};
  image.value = {1};
  CHECK_THROWS_AS(make_voxel_mesh(image), std::invalid_argument);
}

} // namespace
