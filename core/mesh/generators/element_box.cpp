// SPDX-License-Identifier: Apache-2.0
// The generator makes boxes of hexahedra, and of tetrahedra.
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/mesh/generators/element_meshes.hpp>

#include <cmath>

namespace ossatura {
namespace {

// Corners by their bits (1: x, 2: y, 4: z).
constexpr int hexa_corner[8] = {0, 1, 3, 2, 4, 5, 7, 6};
/// Four corners are cut off and one tetrahedron is left; the second way is the first one's mirror
/// image, so that faces of neighbours have the same diagonal where the ways alternate.
constexpr int tetra_corner[2][5][4] = {
    {{1, 0, 5, 3}, {2, 0, 3, 6}, {4, 0, 6, 5}, {7, 3, 5, 6}, {0, 3, 6, 5}},
    {{0, 1, 2, 4}, {3, 1, 7, 2}, {5, 1, 4, 7}, {6, 2, 7, 4}, {1, 2, 4, 7}}};

/// Calls visit(layer) for [0, count), by all threads.
template<class Visit>
void for_layers(int count, const Visit& visit) {
  for_parts(std::size_t(count), 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t layer = first; layer < end; ++layer)
      visit(int(layer));
  });
}

/// The points of a box of cells, x fastest.
ElementMesh box_points(const int (&cells)[3], const double (&size)[3]) {
  std::int64_t num_points = 1;
  for (int axis = 0; axis < 3; ++axis) {
    OSSATURA_REQUIRE(cells[axis] > 0 && cells[axis] < 10000,
                     "a box of " << cells[axis] << " cells along an axis");
    OSSATURA_REQUIRE(size[axis] > 0 && std::isfinite(size[axis]),
                     "a box of " << size[axis] << " m along an axis");
    num_points *= cells[axis] + 1;
  }
  OSSATURA_REQUIRE(num_points <= INT32_MAX,
                   "a box of " << num_points << " points; they are numbered with 32 bits");
  ElementMesh mesh;
  mesh.point.resize(3 * std::size_t(num_points));
  for_layers(cells[2] + 1, [&](int k) {
    double* x = &mesh.point[mesh.point.size() / std::size_t(cells[2] + 1) * std::size_t(k)];
    for (int j = 0; j <= cells[1]; ++j)
      for (int i = 0; i <= cells[0]; ++i) {
        *x++ = size[0] * i / cells[0];
        *x++ = size[1] * j / cells[1];
        *x++ = size[2] * k / cells[2];
      }
  });
  return mesh;
}

/// The nodes of elements, of which each cell has `nodes_of_cell`: list(i + j + k, corner, nodes)
/// writes those of a cell, corner(bits) the number of a point.
template<class List>
std::vector<std::int32_t> list_nodes(const int (&cells)[3], int nodes_of_cell, const List& list) {
  const int row = cells[0] + 1, layer = row * (cells[1] + 1);
  const std::size_t of_layer =
      std::size_t(nodes_of_cell) * std::size_t(cells[0]) * std::size_t(cells[1]);
  std::vector<std::int32_t> node(of_layer * std::size_t(cells[2]));
  for_layers(cells[2], [&](int k) {
    std::int32_t* next = &node[of_layer * std::size_t(k)];
    for (int j = 0; j < cells[1]; ++j)
      for (int i = 0; i < cells[0]; ++i, next += nodes_of_cell)
        list(
            i + j + k,
            [=](int bits) {
              return i + (bits & 1) + row * (j + (bits >> 1 & 1)) + layer * (k + (bits >> 2));
            },
            next);
  });
  return node;
}

} // namespace

ElementMesh make_hexa_box(const int (&cells)[3], const double (&size)[3]) {
  ElementMesh mesh = box_points(cells, size);
  mesh.shape = ElementShape::hexa;
  mesh.node = list_nodes(cells, 8, [](int, const auto& corner, std::int32_t* node) {
    for (const int bits : hexa_corner)
      *node++ = corner(bits);
  });
  return mesh;
}

ElementMesh make_hexa_box_without(const int (&cells)[3], const double (&size)[3],
                                  const int (&first)[3], const int (&last)[3]) {
  bool is_whole = true;
  for (int axis = 0; axis < 3; ++axis) {
    OSSATURA_REQUIRE(first[axis] >= 0 && first[axis] < last[axis] && last[axis] <= cells[axis],
                     "a hole from " << first[axis] << " to " << last[axis] << " in " << cells[axis]
                                    << " cells");
    is_whole = is_whole && last[axis] - first[axis] == cells[axis];
  }
  OSSATURA_REQUIRE(!is_whole, "a hole as large as the box");
  const ElementMesh box = make_hexa_box(cells, size);
  ElementMesh mesh;
  mesh.shape = ElementShape::hexa;
  std::vector<std::int32_t> number(box.num_points(), -1);
  const auto inside = [&](int i, int axis) { return i >= first[axis] && i < last[axis]; };
  auto node = box.node.begin();
  for (int k = 0; k < cells[2]; ++k)
    for (int j = 0; j < cells[1]; ++j)
      for (int i = 0; i < cells[0]; ++i, node += 8)
        if (!(inside(i, 0) && inside(j, 1) && inside(k, 2)))
          mesh.node.insert(mesh.node.end(), node, node + 8);
  for (const std::int32_t n : mesh.node)
    number[std::size_t(n)] = 0;
  for (std::size_t p = 0; p < number.size(); ++p)
    if (number[p] == 0) {
      number[p] = std::int32_t(mesh.num_points());
      mesh.point.insert(mesh.point.end(), &box.point[3 * p], &box.point[3 * p] + 3);
    }
  for (std::int32_t& n : mesh.node)
    n = number[std::size_t(n)];
  return mesh;
}

ElementMesh make_tetra_box(const int (&cells)[3], const double (&size)[3]) {
  ElementMesh mesh = box_points(cells, size);
  mesh.shape = ElementShape::tetra;
  mesh.node = list_nodes(cells, 20, [](int place, const auto& corner, std::int32_t* node) {
    for (const auto& tetra : tetra_corner[place % 2])
      for (const int bits : tetra)
        *node++ = corner(bits);
  });
  return mesh;
}

} // namespace ossatura
