// SPDX-License-Identifier: Apache-2.0
// Components on the device against breadth-first search, and on shapes with known answers.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include "tests/reference/components.hpp"
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/component_selection.hpp>

#include <cmath>
#include <map>
#include <random>

namespace {

using namespace ossatura;
using ossatura::test::device_image;
using ossatura::test::host_values;
using Shape = std::array<int, 3>;

std::size_t num_voxels(const Shape& n) {
  return std::size_t(n[0]) * n[1] * n[2];
}

std::vector<float> random_image(const Shape& n, unsigned seed, double density) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<float> value(num_voxels(n));
  for (float& v : value)
    v = uniform(random) < density ? 1.0f : 0.0f;
  return value;
}

/// The labels of 32 and of 64 bits.
template<class Exec>
std::array<std::vector<std::int64_t>, 2> labels(const Shape& n, const std::vector<float>& value,
                                                Connectivity connectivity) {
  const Exec exec;
  const auto image = device_image(exec, n, value);
  const auto narrow = host_values(label_components<std::int32_t>(exec, image, connectivity));
  const auto wide = host_values(label_components<std::int64_t>(exec, image, connectivity));
  return {std::vector<std::int64_t>(narrow.begin(), narrow.end()),
          std::vector<std::int64_t>(wide.begin(), wide.end())};
}

constexpr Connectivity connectivities[] = {Connectivity::face, Connectivity::node};

/// One path through the box that visits every second row and plane: x forth and back, linked at
/// alternating ends.
std::vector<float> snake(const Shape& n, std::int64_t& length) {
  std::vector<float> value(num_voxels(n), 0.0f);
  const auto at = [&](int x, int y, int z) -> float& {
    return value[x + std::size_t(n[0]) * (y + std::size_t(n[1]) * z)];
  };
  bool far_x = false; // where the path stands
  bool far_y = false;
  for (int z = 0; z < n[2]; z += 2) {
    for (int j = 0; j < n[1]; j += 2) {
      const int y = far_y ? n[1] - 1 - j : j;
      for (int x = 0; x < n[0]; ++x)
        at(x, y, z) = 1;
      far_x = !far_x;
      if (j + 2 < n[1])
        at(far_x ? n[0] - 1 : 0, far_y ? y - 1 : y + 1, z) = 1;
    }
    far_y = !far_y;
    if (z + 2 < n[2])
      at(far_x ? n[0] - 1 : 0, far_y ? n[1] - 1 : 0, z + 1) = 1;
  }
  length = 0;
  for (float v : value)
    length += v > 0;
  return value;
}

OSSATURA_BACKEND_TEST("Components of random images are those of breadth-first search",
                      "[components]") {
  const Shape shapes[] = {{17, 19, 23}, {1, 40, 30}, {64, 1, 9}, {3, 50, 1}, {33, 32, 31}};
  unsigned seed = 0;
  for (const Shape& n : shapes)
    for (double density : {0.02, 0.1, 0.2, 0.31, 0.5, 0.7, 0.95, 1.0}) {
      const std::vector<float> value = random_image(n, ++seed, density);
      for (Connectivity connectivity : connectivities) {
        const auto expected = reference::components(n, value, connectivity == Connectivity::node);
        for (const auto& found : labels<TestType>(n, value, connectivity))
          CHECK(found == expected);
      }
    }
}

OSSATURA_BACKEND_TEST("A snake through the whole box is one component, and two when cut",
                      "[components]") {
  const Shape n{41, 43, 45};
  std::int64_t length = 0;
  std::vector<float> value = snake(n, length);
  const auto whole =
      summarise_components(TestType(), device_image(TestType(), n, value), Connectivity::face);
  CHECK(whole.count == 1);
  CHECK(whole.largest_size == length);
  CHECK(whole.largest_root == 0);
  value[20 + 41 * (42 + 43 * 20)] = 0; // inside a row of the path
  const auto cut =
      summarise_components(TestType(), device_image(TestType(), n, value), Connectivity::node);
  CHECK(cut.count == 2);
  CHECK(cut.num_solid == length - 1);
  const auto expected = reference::components(n, value, false);
  CHECK(labels<TestType>(n, value, Connectivity::face)[0] == expected);
}

OSSATURA_BACKEND_TEST("Voxels that share an edge or a corner touch under node connectivity only",
                      "[components]") {
  const Shape n{2, 2, 2};
  for (int other : {3, 5, 6, 7}) { // over an edge or the middle of the cube from voxel 0
    std::vector<float> value(8, 0.0f);
    value[0] = value[other] = 1;
    const auto image = device_image(TestType(), n, value);
    CHECK(summarise_components(TestType(), image, Connectivity::face).count == 2);
    CHECK(summarise_components(TestType(), image, Connectivity::node).count == 1);
  }
}

OSSATURA_BACKEND_TEST("Images without or with one solid voxel have no or one component",
                      "[components]") {
  const TestType exec;
  for (Connectivity connectivity : connectivities) {
    std::vector<float> value(60, 0.0f);
    value[5] = -1; // negative and not a number are void
    value[6] = std::nanf("");
    const auto empty = device_image(exec, {3, 4, 5}, value);
    const ComponentSummary none = keep_largest_component(exec, empty, connectivity);
    CHECK(none.count == 0);
    CHECK(none.num_solid == 0);
    CHECK(none.largest_size == 0);
    CHECK(none.largest_root == -1);
    value[37] = 2;
    const auto one = device_image(exec, {3, 4, 5}, value);
    const ComponentSummary single = keep_largest_component(exec, one, connectivity);
    CHECK(single.count == 1);
    CHECK(single.num_solid == 1);
    CHECK(single.largest_root == 37);
    CHECK(host_values(one)[37] == 2);
    const auto all = device_image(exec, {1, 1, 1}, {1.0f});
    CHECK(summarise_components(exec, all, connectivity).largest_root == 0);
  }
}

OSSATURA_BACKEND_TEST("Sizes and summary count the labels of the oracle", "[components]") {
  const Shape n{29, 31, 27};
  for (double density : {0.1, 0.3, 0.6}) {
    const std::vector<float> value = random_image(n, unsigned(100 * density), density);
    for (Connectivity connectivity : connectivities) {
      std::map<std::int64_t, std::int64_t> members;
      for (std::int64_t label : reference::components(n, value, connectivity == Connectivity::node))
        if (label >= 0)
          ++members[label];
      const auto root = label_components<std::int32_t>(
          TestType(), device_image(TestType(), n, value), connectivity);
      const auto size = host_values(component_sizes<std::int32_t>(TestType(), root));
      std::int64_t wrong = 0;
      ComponentSummary expected;
      for (std::size_t i = 0; i < size.size(); ++i) {
        const auto at = members.find(i);
        const std::int64_t count = at == members.end() ? 0 : at->second;
        wrong += size[i] != count;
        expected.count += count > 0;
        expected.num_solid += count;
        if (count > expected.largest_size) {
          expected.largest_size = count;
          expected.largest_root = i;
        }
      }
      CHECK(wrong == 0);
      const ComponentSummary found = summarise_components<std::int32_t>(TestType(), root);
      CHECK(found.count == expected.count);
      CHECK(found.num_solid == expected.num_solid);
      CHECK(found.largest_size == expected.largest_size);
      CHECK(found.largest_root == expected.largest_root);
    }
  }
}

OSSATURA_BACKEND_TEST("Only the largest component stays, the first of two equal ones",
                      "[components]") {
  //                               two         two   one
  const std::vector<float> value{0, 3, 4, 0, 0, 5, 6, 0, 7};
  const auto image = device_image(TestType(), {9, 1, 1}, value);
  const ComponentSummary summary = keep_largest_component(TestType(), image, Connectivity::face);
  CHECK(summary.count == 3);
  CHECK(summary.num_solid - summary.largest_size == 3);
  CHECK(host_values(image) == std::vector<float>{0, 3, 4, 0, 0, 0, 0, 0, 0});
}

} // namespace
