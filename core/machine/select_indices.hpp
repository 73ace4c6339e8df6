// SPDX-License-Identifier: Apache-2.0
// select_indices lists by all threads which of many entries are wanted.
#pragma once

#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ossatura {

/// The i of [0, count) for which test(i) holds, ascending. `test` is called by several threads.
template<class Test>
std::vector<std::int32_t> select_indices(std::size_t count, const Test& test) {
  constexpr std::size_t block_size = 1 << 14;
  const std::size_t num_blocks = (count + block_size - 1) / block_size;
  std::vector<std::vector<std::int32_t>> of_block(num_blocks);
  for_parts(num_blocks, 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t block = first; block < end; ++block)
      for (std::size_t i = block_size * block; i < std::min(count, block_size * (block + 1)); ++i)
        if (test(i))
          of_block[block].push_back(std::int32_t(i));
  });
  std::vector<std::int32_t> selected;
  for (const std::vector<std::int32_t>& found : of_block)
    selected.insert(selected.end(), found.begin(), found.end());
  return selected;
}

} // namespace ossatura
