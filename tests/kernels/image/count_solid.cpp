// SPDX-License-Identifier: Apache-2.0
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/image/count_solid.hpp>
#include <ossatura/kernels/image/label_selection.hpp>
#include <ossatura/kernels/image/map_values.hpp>

#include <cmath>
#include <random>

namespace {

using namespace ossatura;

OSSATURA_BACKEND_TEST("Solid voxels are those above zero", "[count_solid]") {
  std::mt19937 random(8);
  std::vector<float> value(19 * 23 * 9);
  std::int64_t expected = 0;
  for (float& v : value) {
    const int kind = int(random() % 4);
    v = kind == 3 ? std::nanf("") : float(kind - 1);
    expected += kind == 2;
  }
  const auto image = ossatura::test::device_image(TestType(), {19, 23, 9}, value);
  CHECK(count_solid(TestType(), image) == expected);
}

OSSATURA_BACKEND_TEST("Voxels are counted in each layer across any axis", "[count_solid]") {
  std::mt19937 random(9);
  const std::array<int, 3> shape{7, 5, 6};
  std::vector<float> value(7 * 5 * 6);
  std::vector<std::int64_t> expected[3];
  for (std::size_t d = 0; d < 3; ++d)
    expected[d].assign(std::size_t(shape[d]), 0);
  for (std::size_t v = 0; v < value.size(); ++v) {
    value[v] = float(random() % 3);
    const std::size_t at[3] = {v % 7, v / 7 % 5, v / 35};
    for (std::size_t d = 0; d < 3; ++d)
      expected[d][at[d]] += value[v] > 0;
  }
  const auto image = ossatura::test::device_image(TestType(), shape, value);
  for (int axis = 0; axis < 3; ++axis)
    CHECK(count_in_layers(TestType(), image, SolidVoxels<TestType>{image.value}, axis) ==
          expected[axis]);
}

OSSATURA_BACKEND_TEST("The gap of a threshold is between the values next to it", "[map_values]") {
  const auto image = ossatura::test::device_image(TestType(), {2, 3, 1}, {0, 127, 3, 100, 0, 120});
  const ValueGap gap = find_gap(TestType(), ValueMap(), 100, image);
  CHECK(gap.is_between);
  CHECK(gap.below == 3);
  CHECK(gap.above == 100);
  CHECK(gap.part == 97 / 127.0f);
  ValueMap doubled;
  doubled.slope = 2;
  CHECK(find_gap(TestType(), doubled, 201, image).below == 200);
  for (const float beyond : {0.0f, 128.0f})
    CHECK_FALSE(find_gap(TestType(), ValueMap(), beyond, image).is_between);
}

} // namespace
