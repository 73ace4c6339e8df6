// SPDX-License-Identifier: Apache-2.0
// Enlarged images against plain loops, and by ranks against one.
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/image/enlarge.hpp>

#include <random>

namespace {

using namespace ossatura;
using ossatura::test::device_image;
using ossatura::test::host_values;

std::vector<float> voxel_values(std::size_t count) {
  std::mt19937 random(3);
  std::vector<float> values(count);
  for (float& value : values)
    value = float(1 + random() % 1000);
  return values;
}

OSSATURA_BACKEND_TEST("An image grows by planes of void across any axis", "[enlarge]") {
  const TestType exec;
  const std::array<int, 3> shape{4, 3, 5};
  const std::vector<float> values = voxel_values(60);
  const VoxelArray<TestType> image = device_image(exec, shape, values);
  for (int axis = 0; axis < 3; ++axis)
    for (const auto& [below, above] : {std::pair(2, 0), std::pair(0, 3), std::pair(1, 2)}) {
      const VoxelArray<TestType> large = enlarge(exec, image, axis, below, above);
      const std::vector<float> found = host_values(large);
      REQUIRE(large.shape[axis] == shape[std::size_t(axis)] + below + above);
      std::size_t i = 0;
      for (int z = 0; z < large.shape[2]; ++z)
        for (int y = 0; y < large.shape[1]; ++y)
          for (int x = 0; x < large.shape[0]; ++x, ++i) {
            int at[3] = {x, y, z};
            at[axis] -= below;
            const bool inside = at[axis] >= 0 && at[axis] < shape[std::size_t(axis)];
            CHECK(found[i] ==
                  (inside ? values[std::size_t(at[0] + 4 * (at[1] + 3 * at[2]))] : 0.0f));
          }
    }
  CHECK_THROWS_AS(enlarge(exec, image, 0, -1, 0), std::invalid_argument);
}

OSSATURA_RANKS_TEST("Ranks that share an image share the enlarged one", "[enlarge]") {
  const TestType exec;
  const Communicator world = Communicator::world();
  const std::array<int, 3> shape{5, 4, 21};
  const VoxelArray<TestType> whole = device_image(exec, shape, voxel_values(420));
  const VoxelArray<TestType> mine = take_planes(exec, whole, planes_of_rank(world, shape[2]));
  for (int axis = 0; axis < 3; ++axis)
    for (const auto& [below, above] : {std::pair(11, 0), std::pair(3, 9)}) {
      const VoxelArray<TestType> large = enlarge(exec, mine, axis, below, above, world);
      const ImagePlanes planes = planes_of_rank(world, large.shape[2]);
      CHECK(large.planes().count() == planes.count());
      const VoxelArray<TestType> expected =
          take_planes(exec, enlarge(exec, whole, axis, below, above), planes);
      CHECK(host_values(large) == host_values(expected));
    }
}

} // namespace
