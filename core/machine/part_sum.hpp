// SPDX-License-Identifier: Apache-2.0
// sum_parts sums over host arrays by all threads, where part_loop.hpp has loops.
#pragma once

#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace ossatura {

/// The sum of value(i), i in [0, count), by io_threads() threads: of blocks, and then of their
/// sums, so that the bits do not depend on the number of threads. `value` is called once for each
/// i.
template<class Value>
double sum_parts(std::size_t count, const Value& value) {
  constexpr std::size_t block_size = 1 << 12;
  std::vector<double> of_block((count + block_size - 1) / block_size);
  for_parts(of_block.size(), 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t block = first; block < end; ++block) {
      double sum = 0;
      for (std::size_t i = block_size * block; i < std::min(count, block_size * (block + 1)); ++i)
        sum += value(i);
      of_block[block] = sum;
    }
  });
  return std::accumulate(of_block.begin(), of_block.end(), 0.0);
}

} // namespace ossatura
