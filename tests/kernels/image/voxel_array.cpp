// SPDX-License-Identifier: Apache-2.0
#include "tests/backend_test.hpp"
#include "tests/kernels/image/host_values.hpp"
#include <ossatura/kernels/image/array.hpp>

namespace {

/// A 2 x 3 x 4 image whose values are their own index plus one.
ossatura::VoxelImage counting_image() {
  ossatura::VoxelImage image;
  image.shape = {2, 3, 4};
  for (int i = 0; i < 24; ++i)
    image.value.push_back(float(i + 1));
  return image;
}

/// Sums (1 + x + 10 y + 100 z) * value over a box one voxel larger than the image on each side.
template<class Exec>
struct WeightedSum {
  ossatura::VoxelArray<Exec> array;

  KOKKOS_FUNCTION void operator()(int i, double& sum) const {
    const int x = i % 4 - 1, y = i / 4 % 5 - 1, z = i / 20 - 1;
    sum += (1 + x + 10 * y + 100 * z) * double(array.value_or_void(x, y, z));
  }
};

} // namespace

OSSATURA_BACKEND_TEST("voxels are found where the image has them, void around it",
                      "[voxel_array]") {
  const TestType exec;
  const auto array = ossatura::to_device(exec, counting_image());
  CHECK(array.num_voxels() == 24);

  double sum = 0;
  Kokkos::parallel_reduce("test::weighted_sum", Kokkos::RangePolicy<TestType>(exec, 0, 4 * 5 * 6),
                          WeightedSum<TestType>{array}, sum);
  double expected = 0;
  for (int z = 0; z < 4; ++z)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 2; ++x)
        expected += (1 + x + 10 * y + 100 * z) * (1 + x + 2 * y + 6 * z);
  CHECK(sum == expected); // integers: exact
}

OSSATURA_BACKEND_TEST("planes of a host image go where they are in the whole", "[voxel_array]") {
  const TestType exec;
  ossatura::VoxelImage part = counting_image();
  part.value.erase(part.value.begin(), part.value.begin() + 6);
  part.value.resize(12);
  part.first_plane = 1;
  const auto array = ossatura::to_device(exec, part, {2, 3});
  CHECK(array.planes().begin == 2);
  CHECK(array.planes().end == 3);
  CHECK(ossatura::test::host_values(array) == std::vector<float>{13, 14, 15, 16, 17, 18});
  CHECK(ossatura::to_device(exec, part, part.planes()).num_voxels() == 12);
  CHECK(ossatura::to_device(exec, part, {3, 3}).num_voxels() == 0);
  for (const ossatura::ImagePlanes planes :
       {ossatura::ImagePlanes{0, 2}, ossatura::ImagePlanes{2, 4}})
    CHECK_THROWS_AS(ossatura::to_device(exec, part, planes), std::invalid_argument);
  CHECK_THROWS_AS(ossatura::to_device(exec, part), std::invalid_argument);
}

OSSATURA_BACKEND_TEST("an image whose size is not its shape is refused", "[voxel_array]") {
  ossatura::VoxelImage image = counting_image();
  image.value.pop_back();
  CHECK_THROWS_AS(ossatura::to_device(TestType(), image), std::invalid_argument);
  CHECK_THROWS_AS(ossatura::make_voxel_array(TestType(), {2, 0, 4}), std::invalid_argument);
}
