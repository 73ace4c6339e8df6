// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/congruence.hpp>

#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <unordered_map>

namespace ossatura {
namespace {

/// The rotations of a hexahedron that bring corner `c` to place 0, with the corners that follow.
constexpr int rotation[8][3][8] = {
    {{0, 1, 2, 3, 4, 5, 6, 7}, {0, 3, 7, 4, 1, 2, 6, 5}, {0, 4, 5, 1, 3, 7, 6, 2}},
    {{1, 2, 3, 0, 5, 6, 7, 4}, {1, 0, 4, 5, 2, 3, 7, 6}, {1, 5, 6, 2, 0, 4, 7, 3}},
    {{2, 3, 0, 1, 6, 7, 4, 5}, {2, 1, 5, 6, 3, 0, 4, 7}, {2, 6, 7, 3, 1, 5, 4, 0}},
    {{3, 0, 1, 2, 7, 4, 5, 6}, {3, 2, 6, 7, 0, 1, 5, 4}, {3, 7, 4, 0, 2, 6, 5, 1}},
    {{4, 7, 6, 5, 0, 3, 2, 1}, {4, 5, 1, 0, 7, 6, 2, 3}, {4, 0, 3, 7, 5, 1, 2, 6}},
    {{5, 4, 7, 6, 1, 0, 3, 2}, {5, 6, 2, 1, 4, 7, 3, 0}, {5, 1, 0, 4, 6, 2, 3, 7}},
    {{6, 5, 4, 7, 2, 1, 0, 3}, {6, 7, 3, 2, 5, 4, 0, 1}, {6, 2, 1, 5, 7, 3, 0, 4}},
    {{7, 6, 5, 4, 3, 2, 1, 0}, {7, 4, 0, 3, 6, 5, 1, 2}, {7, 3, 2, 6, 4, 0, 1, 5}}};

using Position = std::array<std::int64_t, 3>;
using Shape = std::array<Position, 7>; ///< of nodes 1 to 7 from node 0

struct ShapeHash {
  std::size_t operator()(const Shape& shape) const {
    std::uint64_t h = 0;
    for (const Position& p : shape)
      for (std::int64_t c : p) {
        h = (h ^ std::uint64_t(c)) * 0x9e3779b97f4a7c15ull;
        h ^= h >> 29;
      }
    return std::size_t(h);
  }
};

constexpr std::size_t elements_of_block = 1 << 14;

double longest_edge(const ElementMesh& mesh) {
  double longest = 0;
  std::mutex mutex;
  for_parts(mesh.num_elem(), elements_of_block, [&](std::size_t first, std::size_t end) {
    double of_part = 0;
    for (std::size_t e = first; e < end; ++e)
      for (std::size_t a : {1u, 3u, 4u, 6u}) { // from node 0, and the diagonal for the flattest
        double square = 0;
        for (std::size_t c = 0; c < 3; ++c) {
          const double d = mesh.point[3 * std::size_t(mesh.node[8 * e + a]) + c] -
                           mesh.point[3 * std::size_t(mesh.node[8 * e]) + c];
          square += d * d;
        }
        of_part = std::max(of_part, square);
      }
    const std::lock_guard<std::mutex> lock(mutex);
    longest = std::max(longest, of_part);
  });
  return std::sqrt(longest);
}

/// The shape of an element with its nodes counted from the lowest corner, in the way whose node 1
/// is highest: the same however the mesh counts them. Returns the way.
const int* canonical_shape(const ElementMesh& mesh, std::size_t e, double quantum, Shape& shape) {
  Position at[8];
  for (std::size_t a = 0; a < 8; ++a)
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t i = std::size_t(mesh.node[8 * e + a]), o = std::size_t(mesh.node[8 * e]);
      at[a][c] =
          std::int64_t(std::llround((mesh.point[3 * i + c] - mesh.point[3 * o + c]) / quantum));
    }
  const std::size_t corner = std::size_t(std::min_element(at, at + 8) - at);
  const int* way = rotation[corner][0];
  for (const auto& other : rotation[corner])
    if (at[other[1]] > at[way[1]])
      way = other;
  for (std::size_t a = 1; a < 8; ++a)
    for (std::size_t c = 0; c < 3; ++c)
      shape[a - 1][c] = at[way[a]][c] - at[way[0]][c];
  return way;
}

/// The shapes of a block of elements, numbered in the order in which they come.
struct BlockShapes {
  std::vector<Shape> shape;
  std::vector<std::size_t> first; ///< element of each
  bool turned = false;            ///< whether nodes of elements are counted from another corner
};

/// Numbers the shapes of a block in classes.of_elem, up to most + 1 of them.
BlockShapes number_shapes(const ElementMesh& mesh, std::size_t block, double quantum, int most,
                          CongruenceClasses& classes) {
  BlockShapes found;
  std::unordered_map<Shape, int, ShapeHash> known;
  Shape shape;
  int last = -1;
  for (std::size_t e = elements_of_block * block;
       e < std::min(mesh.num_elem(), elements_of_block * (block + 1)); ++e) {
    if (canonical_shape(mesh, e, quantum, shape) != rotation[0][0])
      found.turned = true;
    // Neighbours in the list tend to agree.
    if (last < 0 || shape != found.shape[std::size_t(last)]) {
      last = known.emplace(shape, int(known.size())).first->second;
      if (std::size_t(last) == found.shape.size()) {
        if (last > most)
          return found;
        found.shape.push_back(shape);
        found.first.push_back(e);
      }
    }
    classes.of_elem[e] = last;
  }
  return found;
}

/// The nodes of elements in the order of their shapes.
std::vector<std::int32_t> turn_nodes(const ElementMesh& mesh, double quantum) {
  std::vector<std::int32_t> node(mesh.node.size());
  for_parts(mesh.num_elem(), elements_of_block, [&](std::size_t first, std::size_t end) {
    Shape shape;
    for (std::size_t e = first; e < end; ++e) {
      const int* const way = canonical_shape(mesh, e, quantum, shape);
      for (std::size_t a = 0; a < 8; ++a)
        node[8 * e + a] = mesh.node[8 * e + std::size_t(way[a])];
    }
  });
  return node;
}

} // namespace

CongruenceClasses find_congruence_classes(const ElementMesh& mesh, int max_classes) {
  CongruenceClasses classes;
  const double quantum = 1e-10 * longest_edge(mesh);
  if (!(quantum > 0) || mesh.shape != ElementShape::hexa)
    return {};
  classes.of_elem.resize(mesh.num_elem());
  const std::size_t num_blocks = (mesh.num_elem() + elements_of_block - 1) / elements_of_block;
  std::vector<BlockShapes> blocks(num_blocks);
  std::atomic<bool> too_many = false;
  for_parts(num_blocks, 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t block = first; block < end && !too_many; ++block) {
      blocks[block] = number_shapes(mesh, block, quantum, max_classes, classes);
      if (blocks[block].shape.size() > std::size_t(std::max(0, max_classes)))
        too_many = true;
    }
  });
  if (too_many)
    return {};
  std::unordered_map<Shape, int, ShapeHash> known;
  std::vector<std::vector<int>> number(num_blocks); // of the shapes of a block
  for (std::size_t block = 0; block < num_blocks; ++block)
    for (std::size_t i = 0; i < blocks[block].shape.size(); ++i) {
      number[block].push_back(
          known.emplace(blocks[block].shape[i], int(known.size())).first->second);
      if (number[block].back() < classes.num_classes())
        continue;
      if (number[block].back() == max_classes)
        return {};
      classes.first.push_back(int(blocks[block].first[i]));
    }
  for_parts(mesh.num_elem(), elements_of_block, [&](std::size_t first, std::size_t end) {
    for (std::size_t e = first; e < end; ++e)
      classes.of_elem[e] = number[e / elements_of_block][std::size_t(classes.of_elem[e])];
  });
  if (std::any_of(blocks.begin(), blocks.end(), [](const BlockShapes& b) { return b.turned; }))
    classes.turned_node = turn_nodes(mesh, quantum);
  for (const int e : classes.first) {
    const auto node = classes.node(mesh).begin() + 8 * std::ptrdiff_t(e);
    classes.first_node.insert(classes.first_node.end(), node, node + 8);
  }
  return classes;
}

} // namespace ossatura
