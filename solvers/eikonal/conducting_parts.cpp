// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/eikonal/conducting_parts.hpp>

#include <ossatura/core/machine/joined_sets.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>

namespace ossatura {

ConductingParts::ConductingParts(const TetraMesh& mesh, const std::vector<bool>& blocked)
    : part_(mesh.num_points()) {
  constexpr std::size_t least_part = std::size_t(1) << 15;
  JoinedSets sets(mesh.num_points());
  std::vector<std::atomic<bool>> conducts(mesh.num_points());
  for_parts(mesh.num_tetra(), least_part, [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) {
      if (!blocked.empty() && blocked[e])
        continue;
      const std::int32_t* vertex = &mesh.tetra[4 * e];
      for (int k = 0; k < 4; ++k) {
        sets.join(vertex[0], vertex[k]);
        std::atomic<bool>& mark = conducts[std::size_t(vertex[k])];
        if (!mark.load(std::memory_order_relaxed)) // most are marked: they are read by all
          mark.store(true, std::memory_order_relaxed);
      }
    }
  });
  std::vector<std::int64_t> size;
  for (std::size_t v = 0; v < part_.size(); ++v) {
    if (!conducts[v].load(std::memory_order_relaxed)) {
      part_[v] = -1;
      ++num_blocked_;
      continue;
    }
    const std::int32_t root = sets.find(std::int32_t(v));
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
