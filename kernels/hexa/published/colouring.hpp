// SPDX-License-Identifier: Apache-2.0
// A colouring divides hexahedra into colours such that elements of a colour have no common node; on
// the host.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ossatura {

/// Elements by colour: colour c has order[colour_begin[c]] .. order[colour_begin[c + 1]], which
/// ascend.
struct HexaColouring {
  std::vector<int> order, colour_begin;

  int num_colours() const { return int(colour_begin.size()) - 1; }
};

/// The least colour that no element before it has at a common node, in the order of the mesh. Nodes
/// are in range.
inline HexaColouring colour_hexa(const ElementMesh& mesh) {
  HexaColouring colouring;
  colouring.colour_begin = {0};
  std::vector<int> left(mesh.num_elem());
  for (std::size_t e = 0; e < left.size(); ++e)
    left[e] = int(e);
  while (!left.empty()) { // 64 colours at a time; more than once for nodes of more elements
    std::vector<std::uint64_t> taken(mesh.num_points(), 0);
    std::vector<std::vector<int>> colours(64);
    std::vector<int> later;
    for (const int e : left) {
      const std::int32_t* const node = mesh.node.data() + 8 * std::size_t(e);
      std::uint64_t around = 0;
      for (int a = 0; a < 8; ++a)
        around |= taken[std::size_t(node[a])];
      if (~around == 0) {
        later.push_back(e);
        continue;
      }
      int colour = 0;
      while (around >> colour & 1)
        ++colour;
      for (int a = 0; a < 8; ++a)
        taken[std::size_t(node[a])] |= std::uint64_t(1) << colour;
      colours[std::size_t(colour)].push_back(e);
    }
    for (const std::vector<int>& elems : colours)
      if (!elems.empty()) {
        colouring.order.insert(colouring.order.end(), elems.begin(), elems.end());
        colouring.colour_begin.push_back(int(colouring.order.size()));
      }
    left = later;
  }
  return colouring;
}

} // namespace ossatura
