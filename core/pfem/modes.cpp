// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/pfem/modes.hpp>

#include <ossatura/core/base/require.hpp>

namespace ossatura {
namespace {

void require_order(int order) {
  OSSATURA_REQUIRE(order >= 1 && order <= max_hexa_order,
                   "elements of order " << order << "; orders are 1 to " << max_hexa_order);
}

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

} // namespace ossatura
