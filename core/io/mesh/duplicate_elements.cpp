// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/mesh/duplicate_elements.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace ossatura {
namespace {

using Nodes = std::array<std::int32_t, 8>;

Nodes sorted_nodes(const std::int32_t* node, std::size_t count) {
  Nodes nodes{};
  std::copy(node, node + count, nodes.begin());
  std::sort(nodes.begin(), nodes.begin() + std::ptrdiff_t(count));
  return nodes;
}

/// Well mixed, so that no mesh makes many elements meet.
std::uint64_t hash_of(const Nodes& nodes) {
  std::uint64_t hash = 0x9e3779b97f4a7c15u;
  for (const std::int32_t n : nodes) {
    hash = (hash ^ std::uint32_t(n)) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return hash;
}

} // namespace

std::optional<DuplicateElement> find_duplicate_element(const std::vector<std::int32_t>& node,
                                                       int nodes_per_elem) {
  OSSATURA_REQUIRE(nodes_per_elem >= 1 && nodes_per_elem <= 8,
                   nodes_per_elem << " nodes an element");
  const std::size_t count = std::size_t(nodes_per_elem), num_elem = node.size() / count;
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  OSSATURA_REQUIRE(num_elem < none, num_elem << " elements");
  // A table of element numbers, four fifths full at the end; the next place where one is taken.
  std::vector<std::uint32_t> table(num_elem + num_elem / 4 + 1, none);
  for (std::size_t elem = 0; elem < num_elem; ++elem) {
    const Nodes nodes = sorted_nodes(node.data() + elem * count, count);
    std::size_t at = std::size_t((hash_of(nodes) >> 32) * std::uint64_t(table.size()) >> 32);
    for (; table[at] != none; at = at + 1 == table.size() ? 0 : at + 1)
      if (sorted_nodes(node.data() + table[at] * count, count) == nodes)
        return DuplicateElement{table[at], elem};
    table[at] = std::uint32_t(elem);
  }
  return {};
}

} // namespace ossatura
