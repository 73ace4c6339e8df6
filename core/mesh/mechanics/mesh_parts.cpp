// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/mechanics/mesh_parts.hpp>

#include <ossatura/core/machine/joined_sets.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>

namespace ossatura {

namespace {

constexpr std::size_t nodes_of_block = 1 << 14;

/// nodes_of(e) are the nodes of an element.
template<class NodesOf>
MeshParts join_elements(std::size_t num_points, std::size_t num_elem, const NodesOf& nodes_of) {
  JoinedSets sets(num_points);
  for_parts(num_elem, 1 << 12, [&](std::size_t first, std::size_t end) {
    for (std::size_t e = first; e < end; ++e) {
      const NodeRange nodes = nodes_of(e);
      for (std::size_t a = 1; a < nodes.size(); ++a)
        sets.join(nodes[0], nodes[a]);
    }
  });
  MeshParts parts;
  parts.part.resize(num_points); // roots at first
  const std::size_t num_blocks = (num_points + nodes_of_block - 1) / nodes_of_block;
  std::vector<std::vector<std::int32_t>> first_of(num_blocks); // parts that begin in a block
  for_parts(num_blocks, 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t block = first; block < end; ++block)
      for (std::size_t i = nodes_of_block * block;
           i < std::min(num_points, nodes_of_block * (block + 1)); ++i) {
        parts.part[i] = sets.find(std::int32_t(i));
        if (std::size_t(parts.part[i]) == i)
          first_of[block].push_back(std::int32_t(i));
      }
  });
  for (const std::vector<std::int32_t>& of_block : first_of)
    parts.first.insert(parts.first.end(), of_block.begin(), of_block.end());
  for_parts(num_points, nodes_of_block, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i)
      parts.part[i] =
          std::int32_t(std::lower_bound(parts.first.begin(), parts.first.end(), parts.part[i]) -
                       parts.first.begin());
  });
  return parts;
}

} // namespace

MeshParts find_mesh_parts(const ElementMesh& mesh) {
  const std::size_t n = std::size_t(nodes_per_elem(mesh.shape));
  return join_elements(mesh.num_points(), mesh.num_elem(), [&mesh, n](std::size_t e) {
    return NodeRange{mesh.node.data() + n * e, mesh.node.data() + n * (e + 1)};
  });
}

MeshParts find_mesh_parts(const SolidMesh& mesh) {
  return join_elements(mesh.num_points(), mesh.num_elem(),
                       [&mesh](std::size_t e) { return mesh.nodes_of(e); });
}

} // namespace ossatura
