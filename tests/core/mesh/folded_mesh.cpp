// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/core/mesh/mechanics/folded_mesh.hpp>

#include "tests/catch.hpp"

#include <algorithm>
#include <utility>

using namespace ossatura;

namespace {

std::size_t middle_of_eight(const ElementMesh& mesh) {
  std::size_t middle = 0;
  while (mesh.point[3 * middle] != 1 || mesh.point[3 * middle + 1] != 1 ||
         mesh.point[3 * middle + 2] != 1)
    ++middle;
  return middle;
}

} // namespace

TEST_CASE("tetrahedra on the same side of their face are found", "[folded_mesh]") {
  ElementMesh mesh = make_tetra_box({2, 2, 2}, {2, 2, 2});
  const FoldedMesh plain = find_folds(mesh);
  CHECK(plain.count == 0);
  CHECK(plain.num_faces == (4 * std::int64_t(mesh.num_elem()) - 2 * 6 * 4) / 2); // less the surface
  const std::size_t middle = middle_of_eight(mesh);
  mesh.point[3 * middle + 2] = -0.2; // through the bottom
  const FoldedMesh folds = find_folds(mesh);
  CHECK(folds.count > 0);
  CHECK(folds.elem[0] < folds.elem[1]);
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) // the order of the nodes of one is nothing
    if (e % 3 == 0)
      std::swap(mesh.node[4 * e], mesh.node[4 * e + 1]);
  const FoldedMesh turned = find_folds(mesh);
  CHECK(turned.count == folds.count);
  CHECK(turned.elem == folds.elem);
  mesh.point[3 * middle + 2] = -1e-9; // flat but for rounding
  CHECK(find_folds(mesh).count == 0);
  CHECK(find_folds(make_hexa_box({1, 1, 1}, {1, 1, 1})).count == 0);
}

TEST_CASE("folds are those of tetrahedra that conduct", "[folded_mesh]") {
  ElementMesh mesh = make_tetra_box({2, 2, 2}, {2, 2, 2});
  mesh.point[3 * middle_of_eight(mesh) + 2] = -0.2;
  TetraMesh tissue;
  tissue.point = mesh.point;
  tissue.tetra = mesh.node;
  const FoldedMesh folds = find_folds(tissue);
  CHECK(folds.count == find_folds(mesh).count);
  std::vector<bool> blocked(tissue.num_tetra());
  blocked[std::size_t(folds.elem[0])] = true;
  const FoldedMesh fewer = find_folds(tissue, blocked);
  CHECK(fewer.count < folds.count);
  CHECK(fewer.elem[0] != folds.elem[0]);
  CHECK(find_folds(tissue, std::vector<bool>(tissue.num_tetra(), true)).count == 0);
  CHECK(find_folds(TetraMesh()).count == 0);
}

TEST_CASE("points in another order fold all of a mesh", "[folded_mesh]") {
  ElementMesh mesh = make_tetra_box({20, 20, 20}, {1, 1, 1}); // several parts of the loop
  CHECK(describe_folds(find_folds(mesh), "mm").empty());
  ElementMesh one = mesh;
  one.point[3 * (one.num_points() / 2)] += 0.2;
  const FoldedMesh few = find_folds(one);
  CHECK(few.count > 0);
  CHECK(describe_folds(few, "mm").find(") mm the first") != std::string::npos);
  CHECK(describe_folds(few, "mm").find("in another order") == std::string::npos);
  for (std::size_t i = 0; i < mesh.num_points(); ++i) // by 1009, prime to their number
    for (std::size_t d = 0; d < 3; ++d)
      mesh.point[3 * i + d] = one.point[3 * (i * 1009 % mesh.num_points()) + d];
  CHECK(describe_folds(find_folds(mesh), "mm").find("in another order") != std::string::npos);
}
