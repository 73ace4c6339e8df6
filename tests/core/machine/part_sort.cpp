// SPDX-License-Identifier: Apache-2.0
// Arrays that threads sort: as one alone does, with equal values in the same order for any number
// of threads.
#include "tests/catch.hpp"
#include "tests/core/io/io_threads.hpp"
#include <ossatura/core/machine/part_sort.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace {

using namespace ossatura;

using Pairs = std::vector<std::pair<int, int>>;

/// Keys that occur several times, with the places where they stood.
Pairs pairs(std::size_t count) {
  std::mt19937 random(3);
  Pairs values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = {int(random() % (count / 3 + 1)), int(i)};
  return values;
}

} // namespace

TEST_CASE("Threads sort as one does", "[part_sort]") {
  for (const std::size_t count : {0u, 1u, 1000u, 32767u, 32768u, 32769u, 100003u}) {
    std::optional<Pairs> by_key_before;
    for (const int threads : {1, 2, 5, 40}) {
      const ossatura_test::IoThreads chosen(threads);
      INFO(count << " values, " << threads << " threads");
      const Pairs values = pairs(count);
      Pairs all = values, expected = values;
      std::sort(expected.begin(), expected.end());
      sort_parts(all, std::less<>());
      CHECK(all == expected);

      const auto by_key = [](const auto& a, const auto& b) { return a.first < b.first; };
      Pairs keys = values;
      sort_parts(keys, by_key);
      CHECK(std::is_sorted(keys.begin(), keys.end(), by_key));
      CHECK(keys == by_key_before.value_or(keys));
      by_key_before = keys;
      std::sort(keys.begin(), keys.end());
      CHECK(keys == expected); // none lost, none twice
    }
  }
}
