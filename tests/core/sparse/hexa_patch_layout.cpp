// SPDX-License-Identifier: Apache-2.0
// Patches of a mesh that is large enough for all threads to cut it.
#include <ossatura/core/sparse/hexa_patch_layout.hpp>

#include <ossatura/core/machine/processors.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>

#include "tests/catch.hpp"

#include <algorithm>
#include <numeric>
#include <random>

namespace {

using namespace ossatura;

constexpr std::size_t cells[3] = {60, 56, 48};

/// A box whose elements are listed at random.
ElementMesh shuffled_box() {
  ElementMesh box = make_hexa_box({int(cells[0]), int(cells[1]), int(cells[2])}, {60, 56, 48});
  std::vector<std::size_t> order(box.num_elem());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(7));
  ElementMesh mesh = box;
  for (std::size_t e = 0; e < order.size(); ++e)
    std::copy_n(box.node.begin() + std::ptrdiff_t(8 * order[e]), 8,
                mesh.node.begin() + std::ptrdiff_t(8 * e));
  return mesh;
}

double centre_x(const ElementMesh& mesh, int elem) {
  double sum = 0;
  for (std::size_t a = 0; a < 8; ++a)
    sum += mesh.point[3 * std::size_t(mesh.node[8 * std::size_t(elem) + a])];
  return sum / 8;
}

TEST_CASE("patches of many elements are halves of halves, by any number of threads",
          "[hexa_patches]") {
  const ElementMesh mesh = shuffled_box();
  constexpr int size = 128;
  const int before = io_threads();
  set_io_threads(1);
  const HexaPatchLayout alone = make_hexa_patch_layout(mesh, mesh.node, {}, size);
  set_io_threads(5);
  const HexaPatchLayout layout = make_hexa_patch_layout(mesh, mesh.node, {}, size);
  set_io_threads(before);
  CHECK(layout.elem == alone.elem);
  CHECK(layout.node == alone.node);
  CHECK(layout.local == alone.local);
  CHECK(layout.slot == alone.slot);
  CHECK(layout.shared == alone.shared);
  CHECK(layout.partial_of_shared == alone.partial_of_shared);
  CHECK(layout.partial == alone.partial);

  std::vector<int> sorted = layout.elem;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t e = 0; e < sorted.size(); ++e)
    REQUIRE(sorted[e] == int(e));
  // The box is longest along x: the first cut is there, and full patches are on its left.
  const std::size_t num_patches = (mesh.num_elem() + size - 1) / size;
  REQUIRE(layout.patch.size() == num_patches);
  double left = 0, right = 60;
  for (std::size_t p = 0; p < num_patches; ++p) {
    const HexaPatch& patch = layout.patch[p];
    REQUIRE((patch.num_elem == size || p + 1 == num_patches));
    for (int k = 0; k < patch.num_elem; ++k) {
      const double x = centre_x(mesh, layout.elem[std::size_t(patch.elem_begin + k)]);
      if (p < num_patches / 2)
        left = std::max(left, x);
      else
        right = std::min(right, x);
    }
  }
  CHECK(left <= right);
  CHECK(right < 60);

  // Each patch's sum at each of its shared nodes, once.
  std::vector<int> node_of(std::size_t(layout.num_partials()), -1);
  for (const HexaPatch& patch : layout.patch)
    for (int n = patch.num_own; n < patch.num_nodes; ++n)
      node_of[std::size_t(patch.partial_begin + n - patch.num_own)] =
          layout.node[std::size_t(patch.node_begin + n)];
  REQUIRE(layout.partial_of_shared.back() == layout.num_partials());
  for (std::size_t s = 0; s < layout.shared.size(); ++s) {
    REQUIRE(layout.partial_of_shared[s + 1] - layout.partial_of_shared[s] > 1);
    for (int k = layout.partial_of_shared[s]; k < layout.partial_of_shared[s + 1]; ++k) {
      const int partial = layout.partial[std::size_t(k)];
      REQUIRE(node_of[std::size_t(partial)] == layout.shared[s]);
      REQUIRE((k == layout.partial_of_shared[s] || layout.partial[std::size_t(k - 1)] < partial));
    }
  }
}

} // namespace
