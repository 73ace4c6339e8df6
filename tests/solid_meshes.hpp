// SPDX-License-Identifier: Apache-2.0
// Meshes of solid elements for tests: boxes whose cells are elements of a kind.
#pragma once

#include <ossatura/core/mesh/solids/mesh.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

namespace ossatura_test {

inline constexpr ossatura::SolidKind all_solid_kinds[] = {
    ossatura::SolidKind::tetra4,  ossatura::SolidKind::tetra10, ossatura::SolidKind::prism6,
    ossatura::SolidKind::prism15, ossatura::SolidKind::hexa8,   ossatura::SolidKind::hexa20,
    ossatura::SolidKind::hexa20r};

/// The corners of the elements with the corners of `kind` that fill a cell with the given corners,
/// which are in the order of hexa8.
inline std::vector<std::vector<std::int32_t>> cell_pieces(ossatura::SolidKind kind,
                                                          const std::array<std::int32_t, 8>& c) {
  const int corners = ossatura::shape_of(kind).num_corners;
  if (corners == 8)
    return {{c.begin(), c.end()}};
  if (corners == 6)
    return {{c[0], c[1], c[2], c[4], c[5], c[6]}, {c[0], c[2], c[3], c[4], c[6], c[7]}};
  std::vector<std::vector<std::int32_t>> pieces; // ways along the axes from corner 0 to corner 6
  constexpr int corner_at[8] = {0, 1, 3, 2, 4, 5, 7, 6}; // by bits of x, y, z
  std::array<int, 3> axis{0, 1, 2};
  do {
    int at = 0;
    std::vector<std::int32_t> piece{c[0]};
    for (const int one : axis)
      piece.push_back(c[std::size_t(corner_at[at |= 1 << one])]);
    const bool even = (axis[1] - axis[0] + 3) % 3 == 1;
    if (!even)
      std::swap(piece[1], piece[2]);
    pieces.push_back(piece);
  } while (std::next_permutation(axis.begin(), axis.end()));
  return pieces;
}

/// A box from the origin whose cells along x are of kind_of(i), the corners moved by move(point);
/// mid-nodes are in the middle of their edges. Prisms and hexahedra may be beside each other along
/// x.
template<class KindOf, class Move>
ossatura::SolidMesh make_solid_box(const KindOf& kind_of, const std::array<int, 3>& cells,
                                   const std::array<double, 3>& size, const Move& move) {
  ossatura::SolidMesh mesh;
  const int row = cells[0] + 1, layer = row * (cells[1] + 1);
  for (int k = 0; k <= cells[2]; ++k)
    for (int j = 0; j <= cells[1]; ++j)
      for (int i = 0; i <= cells[0]; ++i) {
        std::array<double, 3> x{size[0] * i / cells[0], size[1] * j / cells[1],
                                size[2] * k / cells[2]};
        move(x);
        mesh.point.insert(mesh.point.end(), x.begin(), x.end());
      }
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> middle;
  for (int k = 0; k < cells[2]; ++k)
    for (int j = 0; j < cells[1]; ++j)
      for (int i = 0; i < cells[0]; ++i) {
        const std::int32_t n = i + j * row + k * layer;
        const ossatura::SolidKind kind = kind_of(i);
        for (std::vector<std::int32_t> nodes :
             cell_pieces(kind, {n, n + 1, n + row + 1, n + row, n + layer, n + layer + 1,
                                n + layer + row + 1, n + layer + row})) {
          const ossatura::SolidShape& shape = ossatura::shape_of(kind);
          for (int e = 0; is_second_order(kind) && e < shape.num_edges; ++e) {
            const auto ends = std::minmax(nodes[std::size_t(shape.edge[e][0])],
                                          nodes[std::size_t(shape.edge[e][1])]);
            const auto [found, is_new] =
                middle.try_emplace(ends, std::int32_t(mesh.point.size() / 3));
            for (int d = 0; is_new && d < 3; ++d)
              mesh.point.push_back((mesh.point[std::size_t(3 * ends.first + d)] +
                                    mesh.point[std::size_t(3 * ends.second + d)]) /
                                   2);
            nodes.push_back(found->second);
          }
          mesh.add(kind, nodes.data());
        }
      }
  return mesh;
}

inline ossatura::SolidMesh make_solid_box(ossatura::SolidKind kind, const std::array<int, 3>& cells,
                                          const std::array<double, 3>& size) {
  return make_solid_box([kind](int) { return kind; }, cells, size, [](std::array<double, 3>&) {});
}

/// Moves points inside the box of `size` by up to a tenth of it; those of a face stay in it.
inline void bend_inside(const std::array<double, 3>& size, std::array<double, 3>& x) {
  std::array<double, 3> by{};
  for (std::size_t d = 0; d < 3; ++d) {
    const double bubble = 4 * x[d] * (size[d] - x[d]) / (size[d] * size[d]);
    const double p = x[(d + 1) % 3] / size[(d + 1) % 3], q = x[(d + 2) % 3] / size[(d + 2) % 3];
    by[d] = 0.1 * size[d] * bubble * (0.3 + p - 0.7 * q);
  }
  for (std::size_t d = 0; d < 3; ++d)
    x[d] += by[d];
}

} // namespace ossatura_test
