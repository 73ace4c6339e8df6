// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/mesh/mechanics/mesh_parts.hpp>

#include <algorithm>
#include <numeric>

namespace ossatura {

MeshParts find_mesh_parts(const ElementMesh& mesh) {
  // A forest whose roots are the first nodes of their parts.
  std::vector<std::int32_t> parent(mesh.num_points());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&parent](std::int32_t i) {
    while (parent[std::size_t(i)] != i)
      i = parent[std::size_t(i)] = parent[std::size_t(parent[std::size_t(i)])];
    return i;
  };
  const std::size_t n = std::size_t(nodes_per_elem(mesh.shape));
  for (std::size_t k = 0; k < mesh.node.size(); ++k) {
    const std::int32_t a = root(mesh.node[k - k % n]), b = root(mesh.node[k]);
    parent[std::size_t(std::max(a, b))] = std::min(a, b);
  }
  MeshParts parts;
  parts.part.resize(parent.size());
  for (std::size_t i = 0; i < parent.size(); ++i) {
    const std::int32_t r = root(std::int32_t(i));
    if (std::size_t(r) == i) {
      parts.part[i] = std::int32_t(parts.first.size());
      parts.first.push_back(r);
    } else {
      parts.part[i] = parts.part[std::size_t(r)]; // which is lower
    }
  }
  return parts;
}

} // namespace ossatura
