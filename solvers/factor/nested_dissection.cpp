// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/factor/nested_dissection.hpp>

#include <ossatura/core/base/require.hpp>

#include <metis.h>

#include <limits>
#include <stdexcept>

namespace ossatura {

std::vector<int> nested_dissection(const std::vector<int>& row_begin,
                                   const std::vector<int>& column) {
  OSSATURA_REQUIRE(!row_begin.empty(), "a graph has at least the beginning of row 0");
  const int num_nodes = int(row_begin.size()) - 1;
  OSSATURA_REQUIRE(column.size() < std::size_t(std::numeric_limits<idx_t>::max()),
                   "METIS on this machine counts in " << 8 * sizeof(idx_t)
                                                      << " bits; the graph has " << column.size()
                                                      << " edges");
  // METIS divides by the number of edges, and knows no edge from a node to itself.
  std::vector<int> order;
  order.reserve(std::size_t(num_nodes));
  std::vector<idx_t> number(std::size_t(num_nodes), -1);
  std::vector<int> connected;
  for (int i = 0; i < num_nodes; ++i) {
    bool has_neighbour = false;
    for (int k = row_begin[i]; k < row_begin[i + 1]; ++k)
      has_neighbour = has_neighbour || column[k] != i;
    if (has_neighbour) {
      number[i] = idx_t(connected.size());
      connected.push_back(i);
    } else {
      order.push_back(i);
    }
  }
  if (connected.empty())
    return order;
  std::vector<idx_t> begin(1, 0), neighbour;
  for (const int i : connected) {
    for (int k = row_begin[i]; k < row_begin[i + 1]; ++k)
      if (column[k] != i)
        neighbour.push_back(number[column[k]]);
    begin.push_back(idx_t(neighbour.size()));
  }
  idx_t num_connected = idx_t(connected.size());
  std::vector<idx_t> node(connected.size()), position(connected.size());
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  if (METIS_NodeND(&num_connected, begin.data(), neighbour.data(), nullptr, options, node.data(),
                   position.data()) != METIS_OK)
    throw std::runtime_error("METIS_NodeND failed on a graph of " +
                             std::to_string(connected.size()) + " nodes");
  for (const idx_t k : node)
    order.push_back(connected[std::size_t(k)]);
  return order;
}

} // namespace ossatura
