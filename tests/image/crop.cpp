// SPDX-License-Identifier: Apache-2.0
// Bounding box, crop and grey values against plain loops.
#include "kernels/crop.hpp"
#include "tests/backend_test.hpp"
#include "tests/image/host_values.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace {

using namespace femura;
using femura::test::device_image;
using femura::test::host_values;

std::vector<float> random_image(std::size_t n, unsigned seed, double density) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<float> value(n);
  for (float& v : value)
    v = uniform(random) < density ? 1 + uniform(random) : -uniform(random);
  return value;
}

FEMURA_BACKEND_TEST("The solid box is the tightest around the solid voxels", "[crop]") {
  const std::array<int, 3> n{19, 23, 9};
  for (unsigned seed = 0; seed < 20; ++seed) {
    const std::vector<float> value = random_image(19 * 23 * 9, seed, seed * seed * 1e-4);
    VoxelBox expected;
    std::int64_t num_solid = 0;
    for (int z = 0; z < n[2]; ++z)
      for (int y = 0; y < n[1]; ++y)
        for (int x = 0; x < n[0]; ++x)
          if (value[x + n[0] * (y + n[1] * z)] > 0) {
            const int p[3] = {x, y, z};
            for (int d = 0; d < 3; ++d) {
              if (num_solid == 0 || p[d] < expected.lower[d])
                expected.lower[d] = p[d];
              if (p[d] + 1 > expected.upper[d])
                expected.upper[d] = p[d] + 1;
            }
            ++num_solid;
          }
    const auto image = device_image(TestType(), n, value);
    const VoxelBox box = solid_box(TestType(), image);
    CHECK(box.lower == expected.lower);
    CHECK(box.upper == expected.upper);
    CHECK(box.empty() == (num_solid == 0));
    CHECK(count_solid(TestType(), image) == num_solid);
  }
}

FEMURA_BACKEND_TEST("Cropping keeps every value and moves the origin", "[crop]") {
  const std::array<int, 3> n{6, 5, 7};
  const std::vector<float> value = random_image(6 * 5 * 7, 3, 0.5);
  const VoxelBox box{{1, 0, 3}, {5, 4, 7}};
  const auto cropped = crop(TestType(), device_image(TestType(), n, value), box);
  std::vector<float> expected;
  for (int z = 3; z < 7; ++z)
    for (int y = 0; y < 4; ++y)
      for (int x = 1; x < 5; ++x)
        expected.push_back(value[x + 6 * (y + 5 * z)]);
  CHECK(host_values(cropped) == expected);
  CHECK(cropped.shape[0] == 4);
  CHECK(crop_origin({10, 20, 30}, 0.5, box) == std::array<double, 3>{10.5, 20, 31.5});
}

FEMURA_BACKEND_TEST("Boxes outside the image or without voxels are rejected", "[crop]") {
  const auto image = device_image(TestType(), {2, 2, 2}, std::vector<float>(8, 1));
  CHECK_THROWS_AS(crop(TestType(), image, VoxelBox{}), std::invalid_argument);
  CHECK_THROWS_AS(crop(TestType(), image, VoxelBox{{0, 0, 0}, {2, 3, 2}}), std::invalid_argument);
  CHECK_THROWS_AS(crop(TestType(), image, VoxelBox{{0, -1, 0}, {2, 2, 2}}), std::invalid_argument);
}

FEMURA_BACKEND_TEST("The grey range leaves NaN out and counts it", "[crop]") {
  std::vector<float> value = random_image(1000, 8, 0.3);
  value[17] = -7.5f;
  value[500] = 9.25f;
  value[0] = value[999] = std::nanf("");
  std::int64_t num_solid = 0;
  for (float v : value)
    num_solid += v > 0;
  const GreyRange range =
      find_grey_range(TestType(), device_image(TestType(), {10, 10, 10}, value));
  CHECK(range.minimum == -7.5f);
  CHECK(range.maximum == 9.25f);
  CHECK(range.num_nan == 2);
  CHECK(range.num_solid == num_solid);
  const GreyRange nothing = find_grey_range(
      TestType(), device_image(TestType(), {2, 1, 1}, {std::nanf(""), std::nanf("")}));
  CHECK(nothing.num_nan == 2);
  CHECK(nothing.minimum == 0);
  CHECK(nothing.maximum == 0);
}

FEMURA_BACKEND_TEST("The histogram counts both ends and nothing beyond", "[crop]") {
  const std::vector<float> small{-0.1f, 0, 0.24f, 0.25f, 0.5f, 0.74f, 1, 1.01f, std::nanf("")};
  const auto by_hand =
      grey_histogram(TestType(), device_image(TestType(), {9, 1, 1}, small), 0, 1, 4);
  CHECK(by_hand == std::vector<std::int64_t>{2, 1, 2, 1});

  const std::vector<float> value = random_image(30 * 31 * 33, 4, 0.4);
  std::vector<std::int64_t> expected(16);
  for (float v : value)
    if (v >= -1 && v <= 3)
      ++expected[std::min(15, int((double(v) + 1) * 4))];
  CHECK(grey_histogram(TestType(), device_image(TestType(), {30, 31, 33}, value), -1, 3, 16) ==
        expected);
  CHECK_THROWS_AS(grey_histogram(TestType(), device_image(TestType(), {9, 1, 1}, small), 1, 1, 4),
                  std::invalid_argument);
}

} // namespace
