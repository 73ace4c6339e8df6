// SPDX-License-Identifier: Apache-2.0
// sort_parts sorts a host array by all threads, where part_loop.hpp has loops.
#pragma once

#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace ossatura {

/// As std::sort(values.begin(), values.end(), less), by io_threads() threads. Takes as much memory
/// once more. The order does not depend on the number of threads, also that of equal values.
template<class Value, class Less>
void sort_parts(std::vector<Value>& values, const Less& less) {
  constexpr std::size_t num_parts = 16, least = 1 << 15;
  if (values.size() < least) {
    std::sort(values.begin(), values.end(), less);
    return;
  }
  std::array<std::size_t, num_parts + 1> begin;
  for (std::size_t i = 0; i <= num_parts; ++i)
    begin[i] = values.size() / num_parts * i + std::min(i, values.size() % num_parts);
  for_parts(num_parts, 1, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i)
      std::sort(values.data() + begin[i], values.data() + begin[i + 1], less);
  });
  std::vector<Value> merged(values.size());
  for (std::size_t width = 1; width < num_parts; width *= 2) {
    for_parts(num_parts / (2 * width), 1, [&](std::size_t first, std::size_t end) {
      for (std::size_t i = 2 * width * first; i < 2 * width * end; i += 2 * width) {
        const Value* const low = values.data() + begin[i];
        const Value* const middle = values.data() + begin[i + width];
        const Value* const high = values.data() + begin[i + 2 * width];
        std::merge(low, middle, middle, high, merged.data() + begin[i], less);
      }
    });
    values.swap(merged);
  }
}

} // namespace ossatura
