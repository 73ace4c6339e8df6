// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/sparse/index_set.hpp>

#include "tests/catch.hpp"

#include <algorithm>
#include <random>

using namespace ossatura;

TEST_CASE("an index set keeps each number once, in the order of the first", "[index_set]") {
  std::mt19937 random(5);
  IndexSet set;
  for (const int range : {1, 10, 1000, 2147483647})
    for (const int count : {0, 1, 40, 5000}) {
      std::vector<int> expected;
      for (int i = 0; i < count; ++i) {
        const int number = int(random() % unsigned(range));
        const auto at = std::find(expected.begin(), expected.end(), number);
        const int place = int(at - expected.begin());
        if (at == expected.end())
          expected.push_back(number);
        REQUIRE(set.add(number) == place);
      }
      CHECK(set.list() == expected);
      set.clear();
      CHECK(set.list().empty());
    }
}
