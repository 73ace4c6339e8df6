// SPDX-License-Identifier: Apache-2.0
// Sets that threads join: the connected parts that a walk through the same edges finds, each named
// by its least member.
#include "tests/catch.hpp"
#include "tests/core/io/io_threads.hpp"
#include <ossatura/core/machine/joined_sets.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace ossatura;

using Edges = std::vector<std::pair<std::int32_t, std::int32_t>>;

/// The least member of the part of each of `count`, by a walk from each that none has come to.
std::vector<std::int32_t> parts_by_walks(std::int32_t count, const Edges& edges) {
  std::vector<std::vector<std::int32_t>> beside(static_cast<std::size_t>(count));
  for (const auto& [a, b] : edges) {
    beside[std::size_t(a)].push_back(b);
    beside[std::size_t(b)].push_back(a);
  }
  std::vector<std::int32_t> part(beside.size(), -1), open;
  for (std::int32_t first = 0; first < count; ++first) {
    if (part[std::size_t(first)] >= 0)
      continue;
    part[std::size_t(first)] = first;
    for (open = {first}; !open.empty();) {
      const std::int32_t at = open.back();
      open.pop_back();
      for (const std::int32_t other : beside[std::size_t(at)])
        if (part[std::size_t(other)] < 0) {
          part[std::size_t(other)] = first;
          open.push_back(other);
        }
    }
  }
  return part;
}

} // namespace

TEST_CASE("Threads find the connected parts", "[joined_sets]") {
  constexpr std::int32_t count = 200000;
  std::mt19937 random(7);
  Edges scattered, chain;
  for (int i = 0; i < count / 2; ++i) // as many parts as that leaves, one of them large
    scattered.push_back({std::int32_t(random() % count), std::int32_t(random() % count)});
  for (std::int32_t i = count - 1; i > 0; --i) // the worst order: roots move all the time
    if (i % 1000 != 0)
      chain.push_back({i, i - 1});
  for (const Edges& edges : {scattered, chain, Edges{}}) {
    const std::vector<std::int32_t> expected = parts_by_walks(count, edges);
    for (const int threads : {1, 2, 5, 40}) {
      const ossatura_test::IoThreads chosen(threads);
      INFO(edges.size() << " edges, " << threads << " threads");
      JoinedSets sets(count);
      for_parts(edges.size(), 64, [&](std::size_t first, std::size_t end) {
        for (std::size_t i = first; i < end; ++i)
          sets.join(edges[i].first, edges[i].second);
      });
      std::vector<std::int32_t> found;
      for (std::int32_t i = 0; i < count; ++i)
        found.push_back(sets.find(i));
      CHECK((found == expected)); // in parentheses: not printed
    }
  }
}
