// SPDX-License-Identifier: Apache-2.0
// A user's program: counts the solid voxels of an image on every backend of the library.
#include "core/base/version.hpp"

#include <ossatura/core/base/version.hpp>
#include <ossatura/core/machine/kokkos_runtime.hpp>
#include <ossatura/kernels/image/array.hpp>

#include <cstdio>

template<class Exec>
struct CountSolid {
  ossatura::VoxelArray<Exec> voxels;
  KOKKOS_FUNCTION void operator()(int i, int& count) const { count += voxels.value(i) > 0; }
};

template<class Exec>
int count_solid(const Exec& exec, const ossatura::VoxelImage& image) {
  const auto voxels = ossatura::to_device(exec, image);
  int count = 0;
  Kokkos::parallel_reduce("count_solid", Kokkos::RangePolicy<Exec>(exec, 0, voxels.num_voxels()),
                          CountSolid<Exec>{voxels}, count);
  return count;
}

int main() {
  const ossatura::KokkosRuntime kokkos;
  ossatura::VoxelImage image;
  image.shape = {2, 2, 1};
  image.value = {0, 18000, 0, 12000};
  bool right = true;
  for (const std::string& name : ossatura::backend_names()) {
    const int count =
        ossatura::with_backend(name, [&](auto exec) { return count_solid(exec, image); });
    std::printf("consumer %s, ossatura %s, %s: %d solid voxels\n", consumer_version(),
                ossatura::version(), name.c_str(), count);
    right = right && count == 2;
  }
  return right ? 0 : 1;
}
