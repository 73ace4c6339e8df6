// SPDX-License-Identifier: Apache-2.0
// The node graph of a mesh joins nodes that share an element, on the host.
#pragma once

#include <ossatura/core/sparse/graph.hpp>
#include <ossatura/kernels/softbody/assembly/element_map.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ossatura {

/// The neighbours of each node, without itself. Nodes of an element are neighbours of each other,
/// but for those with `fixed` set, which have none: the graph of the matrix in which their rows and
/// columns are those of the identity.
inline HostGraph<int> make_node_graph(int num_nodes, const std::vector<ElementGroup>& groups,
                                      const std::vector<std::uint8_t>& fixed) {
  std::vector<std::uint64_t> edges;
  for (const ElementGroup& group : groups) {
    const std::size_t n = std::size_t(nodes_per_elem(group.shape));
    for (std::size_t e = 0; e < group.node.size(); e += n)
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b = 0; b < n; ++b) {
          const int i = group.node[e + a], j = group.node[e + b];
          if (a != b && !fixed[std::size_t(i)] && !fixed[std::size_t(j)])
            edges.push_back(std::uint64_t(i) << 32 | std::uint32_t(j));
        }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  HostGraph<int> graph;
  graph.row_begin.assign(std::size_t(num_nodes) + 1, 0);
  for (const std::uint64_t edge : edges) {
    ++graph.row_begin[std::size_t(edge >> 32) + 1];
    graph.column.push_back(int(edge & 0xffffffffu));
  }
  for (int i = 0; i < num_nodes; ++i)
    graph.row_begin[i + 1] += graph.row_begin[i];
  return graph;
}

} // namespace ossatura
