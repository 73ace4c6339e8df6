// SPDX-License-Identifier: Apache-2.0
#include "core/hierarchic_modes.hpp"

#include "core/require.hpp"

namespace femura {
namespace {

void require_order(int order) {
  FEMURA_REQUIRE(order >= 1 && order <= max_hexa_order,
                 "elements of order " << order << "; orders are 1 to " << max_hexa_order);
}

/// Vertices of the bottom by their ends along the first two axes, in the order of
/// ElementShape::hexa.
constexpr int bottom_vertex[2][2] = {{0, 3}, {1, 2}};

} // namespace

std::vector<HierarchicMode> hierarchic_modes(HexaSpace space, int order) {
  require_order(order);
  const auto degree = [](int index) { return index >= 2 ? index : 0; };
  std::vector<HierarchicMode> modes;
  for (int i = 0; i <= order; ++i)
    for (int j = 0; j <= order; ++j)
      for (int k = 0; k <= order; ++k)
        if (space == HexaSpace::tensor || degree(i) + degree(j) + degree(k) <= order)
          modes.push_back({{std::uint8_t(i), std::uint8_t(j), std::uint8_t(k)}});
  return modes;
}

int num_hierarchic_modes(HexaSpace space, int order) {
  require_order(order);
  if (space == HexaSpace::tensor)
    return (order + 1) * (order + 1) * (order + 1);
  // Vertices, edges, faces, the interior: each sum over indices is a binomial coefficient.
  const int face = order >= 4 ? 3 * (order - 2) * (order - 3) : 0;
  const int interior = order >= 6 ? (order - 3) * (order - 4) * (order - 5) / 6 : 0;
  return 8 + 12 * (order - 1) + face + interior;
}

ModeEntity entity_of(const HierarchicMode& mode) {
  int inner[3], end[3]; // axes along which the mode vanishes at both ends, and the others' ends
  int dimension = 0, num_ends = 0, axis_of_end = 0;
  for (int axis = 0; axis < 3; ++axis) {
    if (mode.index[axis] >= 2) {
      inner[dimension++] = axis;
    } else {
      axis_of_end = axis;
      end[num_ends++] = mode.index[axis];
    }
  }
  switch (dimension) {
  case 0:
    return {0, 4 * end[2] + bottom_vertex[end[0]][end[1]]};
  case 1:
    return {1, 4 * inner[0] + 2 * end[0] + end[1]};
  case 2:
    return {2, 2 * axis_of_end + end[0]};
  default:
    return {3, 0};
  }
}

} // namespace femura
