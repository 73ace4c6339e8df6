// SPDX-License-Identifier: Apache-2.0
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/image/count_solid.hpp>

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

} // namespace
