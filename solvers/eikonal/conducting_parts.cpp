// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/eikonal/conducting_parts.hpp>

#include <algorithm>
#include <numeric>

namespace ossatura {

namespace {

/// The vertex that stands for the part of v; shortens the way to it.
std::int32_t root_of(std::vector<std::int32_t>& parent, std::int32_t v) {
  while (parent[std::size_t(v)] != v) {
    std::int32_t& up = parent[std::size_t(v)];
    up = parent[std::size_t(up)];
    v = up;
  }
  return v;
}

} // namespace

ConductingParts::ConductingParts(const TetraMesh& mesh, const std::vector<bool>& blocked)
    : part_(mesh.num_points()) {
  // A forest whose roots are the least vertices of their parts.
  std::vector<std::int32_t> parent(mesh.num_points());
  std::iota(parent.begin(), parent.end(), 0);
  std::vector<bool> conducts(mesh.num_points());
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e) {
    if (!blocked.empty() && blocked[e])
      continue;
    const std::int32_t* vertex = &mesh.tetra[4 * e];
    std::int32_t root = root_of(parent, vertex[0]);
    for (int k = 0; k < 4; ++k) {
      conducts[std::size_t(vertex[k])] = true;
      const std::int32_t other = root_of(parent, vertex[k]);
      parent[std::size_t(std::max(root, other))] = std::min(root, other);
      root = std::min(root, other);
    }
  }
  std::vector<std::int64_t> size;
  for (std::size_t v = 0; v < parent.size(); ++v) {
    if (!conducts[v]) {
      part_[v] = -1;
      ++num_blocked_;
      continue;
    }
    const std::int32_t root = root_of(parent, std::int32_t(v));
    if (root == std::int32_t(v)) {
      part_[v] = std::int32_t(size.size());
      size.push_back(0);
    } else {
      part_[v] = part_[std::size_t(root)]; // which is lower
    }
    ++size[std::size_t(part_[v])];
  }
  std::vector<std::int32_t> order(size.size()), place(size.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return size[std::size_t(a)] > size[std::size_t(b)];
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[std::size_t(order[i])] = std::int32_t(i);
    size_.push_back(size[std::size_t(order[i])]);
  }
  for (std::int32_t& part : part_)
    part = part < 0 ? part : place[std::size_t(part)];
}

} // namespace ossatura
