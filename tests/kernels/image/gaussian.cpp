// SPDX-License-Identifier: Apache-2.0
// Filtered and cropped images against sums over all voxels.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/image/crop.hpp>
#include <ossatura/kernels/image/gaussian.hpp>
#include <ossatura/kernels/image/map_values.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace {

using namespace ossatura;
using ossatura::test::device_image;
using ossatura::test::host_values;

constexpr std::array<int, 3> filter_shape{7, 5, 6};

std::vector<float> noisy_values() {
  std::mt19937 random(2);
  std::vector<float> values(7 * 5 * 6);
  for (float& value : values)
    value = float(random() % 2000) - 1000;
  return values;
}

OSSATURA_BACKEND_TEST("A Gaussian filter is the normalised sum over the box of its support",
                      "[gaussian]") {
  const TestType exec;
  const std::vector<float> values = noisy_values();
  const std::array<double, 3> sigma{0.8, 1.7, 0.5};
  const std::array<int, 3> support{1, 4, 2}; // 4 reaches both ends
  const auto found =
      host_values(filter_gaussian(exec, device_image(exec, filter_shape, values), sigma, support));
  std::size_t i = 0;
  for (int z = 0; z < 6; ++z)
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 7; ++x, ++i) {
        double sum = 0, weights = 0;
        for (int c = 0; c < 6; ++c)
          for (int b = 0; b < 5; ++b)
            for (int a = 0; a < 7; ++a) {
              const int away[3] = {std::abs(a - x), std::abs(b - y), std::abs(c - z)};
              double weight = 1;
              for (std::size_t d = 0; d < 3; ++d)
                weight *= away[d] > support[d]
                              ? 0
                              : std::exp(-away[d] * away[d] / (2 * sigma[d] * sigma[d]));
              sum += weight * double(values[std::size_t(a + 7 * (b + 5 * c))]);
              weights += weight;
            }
        CHECK(double(found[i]) == Approx(sum / weights).margin(1e-3)); // of 1000, three roundings
      }
}

OSSATURA_BACKEND_TEST("A filter keeps what is uniform, and without support all", "[gaussian]") {
  const TestType exec;
  const std::vector<float> same(7 * 5 * 6, 42.5f), values = noisy_values();
  CHECK(host_values(filter_gaussian(exec, device_image(exec, filter_shape, same), {1, 1, 1},
                                    {3, 3, 3})) == same);
  const VoxelArray<TestType> image = device_image(exec, filter_shape, values);
  CHECK(host_values(filter_gaussian(exec, image, {1, 1, 1}, {0, 0, 0})) == values);
  CHECK_THROWS_AS(filter_gaussian(exec, image, {0, 1, 1}, {1, 1, 1}), std::invalid_argument);
  CHECK_THROWS_AS(filter_gaussian(exec, take_planes(exec, image, {1, 3}), {1, 1, 1}, {1, 1, 1}),
                  std::invalid_argument);
}

OSSATURA_BACKEND_TEST("Values are mapped along a line and then clamped", "[map_values]") {
  const TestType exec;
  const std::vector<float> values = noisy_values();
  const VoxelArray<TestType> image = device_image(exec, filter_shape, values);
  map_values(exec, {-0.5, 20, -100, 300}, image);
  fence(exec, "test");
  const std::vector<float> found = host_values(image);
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(found[i] == std::clamp(20 - 0.5f * values[i], -100.0f, 300.0f)); // exact in halves
}

OSSATURA_BACKEND_TEST("Values in bins are within half a bin, and void stays", "[map_values]") {
  const TestType exec;
  std::vector<float> values = noisy_values();
  float least = 1e9f, greatest = 0;
  for (float& value : values) {
    value = value < 0 ? 0.0f : value + 1;
    if (value > 0) {
      least = std::min(least, value);
      greatest = std::max(greatest, value);
    }
  }
  for (const int bins : {1, 2, 7}) {
    const VoxelArray<TestType> image = device_image(exec, filter_shape, values);
    bin_values(exec, least, greatest, bins, image);
    fence(exec, "test");
    const std::vector<float> found = host_values(image);
    const double width = (double(greatest) - double(least)) / bins;
    std::set<float> different;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] > 0)
        different.insert(found[i]);
      CHECK(std::abs(double(found[i]) - double(values[i])) <=
            (values[i] > 0 ? 0.5001 * width : 0.0));
    }
    CHECK(int(different.size()) == bins);
  }
  const VoxelArray<TestType> same = device_image(exec, filter_shape, values);
  bin_values(exec, 5, 5, 3, same); // all alike
  fence(exec, "test");
  CHECK(host_values(same) == values);
}

OSSATURA_BACKEND_TEST("A box of an image has its voxels", "[crop]") {
  const TestType exec;
  const std::vector<float> values = noisy_values();
  const VoxelArray<TestType> image = device_image(exec, filter_shape, values);
  const VoxelArray<TestType> part = crop(exec, image, {{1, 0, 2}, {4, 5, 4}});
  REQUIRE((part.shape[0] == 3 && part.shape[1] == 5 && part.shape[2] == 2));
  const std::vector<float> found = host_values(part);
  std::size_t i = 0;
  for (int z = 2; z < 4; ++z)
    for (int y = 0; y < 5; ++y)
      for (int x = 1; x < 4; ++x, ++i)
        CHECK(found[i] == values[std::size_t(x + 7 * (y + 5 * z))]);
  CHECK_THROWS_AS(crop(exec, image, {{1, 0, 2}, {1, 5, 4}}), std::invalid_argument);
  CHECK_THROWS_AS(crop(exec, image, {{0, 0, 0}, {7, 5, 7}}), std::invalid_argument);
}

} // namespace
