// SPDX-License-Identifier: Apache-2.0
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/image/array_target.hpp>

#include <algorithm>

using namespace ossatura;

OSSATURA_BACKEND_TEST("blocks of an image go where they are in the array", "[array_target]") {
  const TestType exec;
  VoxelImage image;
  image.shape = {3, 4, 50};
  std::vector<float> values(3 * 4 * 20);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = float(int(i * 37 % 101) - 20);
  for (const std::size_t block : {1, 7, 100, 240, 1000}) {
    ArrayTarget<TestType> target(exec);
    CHECK(target.least() > target.greatest());
    target.begin(image, {25, 45});
    for (std::size_t first = 0; first < values.size(); first += block) {
      const std::size_t count = std::min(block, values.size() - first);
      std::copy_n(&values[first], count, target.room(first, count));
      target.filled(first, count);
    }
    CHECK(test::host_values(target.array()) == values);
    CHECK(target.array().planes().begin == 25);
    CHECK(target.array().planes().end == 45);
    CHECK(target.array().shape[2] == 50);
    CHECK(target.least() == *std::min_element(values.begin(), values.end()));
    CHECK(target.greatest() == *std::max_element(values.begin(), values.end()));
  }
}
