// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/sparse/inverse_map.hpp>

#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/processors.hpp>

#include <algorithm>
#include <utility>

namespace ossatura {

// A counting sort, in which each block of indices counts for itself.
HostGraph<> invert_map(const std::vector<int>& map, int num_targets) {
  const std::size_t num_indices = map.size(), targets = std::size_t(num_targets);
  // More blocks than a few are not worth their counters.
  const std::size_t num_blocks = std::clamp<std::size_t>(num_indices / (targets + 1), 1,
                                                         std::size_t(std::min(io_threads(), 32)));
  const auto for_block = [&](std::size_t block, const auto& visit) {
    for (std::size_t i = num_indices * block / num_blocks;
         i < num_indices * (block + 1) / num_blocks; ++i)
      if (map[i] >= 0)
        visit(std::size_t(map[i]), int(i));
  };
  std::vector<std::vector<int>> before(num_blocks);
  for_parts(num_blocks, 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t block = first; block < end; ++block) {
      std::vector<int>& count = before[block];
      count.assign(targets, 0);
      for_block(block, [&](std::size_t target, int) { ++count[target]; });
    }
  });
  HostGraph<> inverse;
  inverse.row_begin.assign(targets + 1, 0);
  for (std::size_t target = 0; target < targets; ++target) {
    int sum = 0;
    for (std::vector<int>& count : before)
      sum += std::exchange(count[target], sum);
    inverse.row_begin[target + 1] = inverse.row_begin[target] + sum;
  }
  inverse.column.resize(std::size_t(inverse.row_begin.back()));
  for_parts(num_blocks, 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t block = first; block < end; ++block)
      for_block(block, [&](std::size_t target, int i) {
        inverse.column[std::size_t(inverse.row_begin[target] + before[block][target]++)] = i;
      });
  });
  return inverse;
}

} // namespace ossatura
