// SPDX-License-Identifier: Apache-2.0
// A duplicate element has the nodes of another one, and its stiffness and mass would count twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ossatura {

struct DuplicateElement {
  std::size_t first, second; ///< elements with the same nodes, first < second
};

/// The first element, in their order, that has the same nodes as one before it, in any sequence.
/// `node` [num_elem, nodes_per_elem] with 1 to 8 different nodes each. Linear time on average, by
/// all threads; 8 bytes for each element, and 10 for those of a 64th for each thread.
std::optional<DuplicateElement> find_duplicate_element(const std::vector<std::int32_t>& node,
                                                       int nodes_per_elem);

/// The remedy for duplicate elements, for the end of a message.
inline constexpr const char* duplicate_remedy = ": it would count twice; remove one of the two "
                                                "(Gmsh's format 2 has an element once for each of "
                                                "its physical groups: save format 4, or one group)";

} // namespace ossatura
