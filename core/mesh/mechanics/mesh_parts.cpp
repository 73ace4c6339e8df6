// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/mechanics/mesh_parts.hpp>

#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <atomic>
#include <utility>

namespace ossatura {

namespace {

constexpr std::size_t nodes_of_block = 1 << 14;

/// A forest whose roots become the first nodes of their parts: parents are lower. All threads join
/// trees at a time, as in S. V. Jayanti, R. E. Tarjan, Distrib. Comput. 34 (2021) 413-436,
/// doi:10.1007/s00446-020-00388-x.
class Forest {
public:
  explicit Forest(std::size_t num_nodes)
      : parent_(num_nodes) {
    for_parts(num_nodes, nodes_of_block, [this](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i)
        parent_[i].store(std::int32_t(i), std::memory_order_relaxed);
    });
  }

  std::int32_t root(std::int32_t i) {
    for (std::int32_t above = parent(i); above != i; above = parent(i)) {
      const std::int32_t next = parent(above);
      // Halves the way for those who come later; where another thread was first it is as good.
      of(i).compare_exchange_weak(above, next, std::memory_order_relaxed);
      i = next;
    }
    return i;
  }
  void join(std::int32_t a, std::int32_t b) {
    while (true) {
      a = root(a);
      b = root(b);
      if (a == b)
        return;
      if (a < b)
        std::swap(a, b);
      std::int32_t expected = a; // unless it has been joined to another by now
      if (of(a).compare_exchange_strong(expected, b, std::memory_order_relaxed))
        return;
    }
  }

private:
  std::atomic<std::int32_t>& of(std::int32_t i) { return parent_[std::size_t(i)]; }
  std::int32_t parent(std::int32_t i) { return of(i).load(std::memory_order_relaxed); }

  std::vector<std::atomic<std::int32_t>> parent_;
};

/// nodes_of(e) are the nodes of an element.
template<class NodesOf>
MeshParts join_elements(std::size_t num_points, std::size_t num_elem, const NodesOf& nodes_of) {
  Forest forest(num_points);
  for_parts(num_elem, 1 << 12, [&](std::size_t first, std::size_t end) {
    for (std::size_t e = first; e < end; ++e) {
      const NodeRange nodes = nodes_of(e);
      for (std::size_t a = 1; a < nodes.size(); ++a)
        forest.join(nodes[0], nodes[a]);
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
        parts.part[i] = forest.root(std::int32_t(i));
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
