// SPDX-License-Identifier: Apache-2.0
// count_solid counts the solid voxels of an image.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/image/array.hpp>

#include <cstdint>

namespace ossatura {

/// Whether a voxel that is here is solid.
template<class Exec>
struct SolidVoxels {
  Array<float, Exec> value;
  KOKKOS_FUNCTION bool operator()(std::int64_t i) const { return value(i) > 0; }
};

namespace detail {
template<class Exec>
struct CountSolid {
  Array<float, Exec> value;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& count) const {
    count += value(i) > 0;
  }
};
} // namespace detail

/// Number of voxels with a value > 0 that are here; fences.
template<class Exec>
std::int64_t count_solid(const Exec& exec, const VoxelArray<Exec>& image) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_solid", range(exec, image.num_voxels()),
                          detail::CountSolid<Exec>{image.value}, count);
  return count;
}

} // namespace ossatura
