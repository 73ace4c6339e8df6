// SPDX-License-Identifier: Apache-2.0
// JoinedSets finds connected parts by all threads, where part_loop.hpp has loops.
#pragma once

#include <ossatura/core/machine/part_loop.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace ossatura {

/// Disjoint sets of [0, count), each of one at first, that several threads may join at once. A set
/// is known by its least member, whatever the order of joins [1].
///
/// [1] J. Jaiganesh, M. Burtscher. A high-performance connected components implementation for GPUs.
///     HPDC 2018, 92-104, doi:10.1145/3208040.3208041 (its hooking and path halving).
class JoinedSets {
public:
  explicit JoinedSets(std::size_t count)
      : up_(count) {
    for_parts(count, 1 << 16, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = first; i < end; ++i)
        up_[i].store(std::int32_t(i), std::memory_order_relaxed);
    });
  }

  /// The least member of the set of `i`, as far as joins have come.
  std::int32_t find(std::int32_t i) {
    for (;;) {
      std::int32_t up = at(i).load(std::memory_order_relaxed);
      if (up == i)
        return i;
      const std::int32_t above = at(up).load(std::memory_order_relaxed);
      if (above != up) // shortens the way; a write that comes between is as good
        at(i).compare_exchange_weak(up, above, std::memory_order_relaxed);
      i = above;
    }
  }

  void join(std::int32_t a, std::int32_t b) {
    for (;;) {
      a = find(a);
      b = find(b);
      if (a == b)
        return;
      if (a < b)
        std::swap(a, b);
      std::int32_t root = a;
      if (at(a).compare_exchange_strong(root, b, std::memory_order_relaxed))
        return;
    }
  }

private:
  std::atomic<std::int32_t>& at(std::int32_t i) { return up_[std::size_t(i)]; }

  std::vector<std::atomic<std::int32_t>> up_; ///< towards the least of the set
};

} // namespace ossatura
