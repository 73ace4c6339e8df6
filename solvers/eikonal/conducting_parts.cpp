// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/eikonal/conducting_parts.hpp>

#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <atomic>
#include <numeric>

namespace ossatura {

namespace {

/// A forest that threads make together: of each part the root is the least vertex in the end,
/// whatever the order. (R. J. Anderson, H. Woll. Wait-free parallel algorithms for the union-find
/// problem. STOC 1991, 370-380.)
class VertexForest {
public:
  explicit VertexForest(std::size_t num_vertices)
      : parent_(num_vertices) {
    for_parts(num_vertices, least_part, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v)
        at(std::int32_t(v)).store(std::int32_t(v), std::memory_order_relaxed);
    });
  }
  static constexpr std::size_t least_part = std::size_t(1) << 15;

  /// The vertex that stands for the part of v; shortens the way to it.
  std::int32_t root_of(std::int32_t v) {
    for (;;) {
      std::int32_t up = at(v).load(std::memory_order_relaxed);
      if (up == v)
        return v;
      const std::int32_t above = at(up).load(std::memory_order_relaxed);
      at(v).compare_exchange_weak(up, above, std::memory_order_relaxed);
      v = above;
    }
  }
  void unite(std::int32_t a, std::int32_t b) {
    for (;;) {
      a = root_of(a);
      b = root_of(b);
      if (a == b)
        return;
      std::int32_t upper = std::max(a, b);
      if (at(upper).compare_exchange_strong(upper, std::min(a, b), std::memory_order_relaxed))
        return;
    }
  }

private:
  std::atomic<std::int32_t>& at(std::int32_t v) { return parent_[std::size_t(v)]; }
  std::vector<std::atomic<std::int32_t>> parent_;
};

} // namespace

ConductingParts::ConductingParts(const TetraMesh& mesh, const std::vector<bool>& blocked)
    : part_(mesh.num_points()) {
  VertexForest forest(mesh.num_points());
  std::vector<std::atomic<bool>> conducts(mesh.num_points());
  for_parts(mesh.num_tetra(), VertexForest::least_part, [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) {
      if (!blocked.empty() && blocked[e])
        continue;
      const std::int32_t* vertex = &mesh.tetra[4 * e];
      for (int k = 0; k < 4; ++k) {
        forest.unite(vertex[0], vertex[k]);
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
    const std::int32_t root = forest.root_of(std::int32_t(v));
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
