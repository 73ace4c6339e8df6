// SPDX-License-Identifier: Apache-2.0
// An image array is a voxel image in the memory of a backend.
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

#include <cstdint>

namespace ossatura {

/// nx * ny * nz values on the device, x fastest: value(x + nx * (y + ny * z)).
template<class Exec>
struct VoxelArray {
  Kokkos::Array<int, 3> shape{}; ///< nx, ny, nz
  Array<float, Exec> value;      ///< [nx * ny * nz]

  KOKKOS_FUNCTION std::int64_t num_voxels() const {
    return std::int64_t(shape[0]) * shape[1] * shape[2];
  }
  KOKKOS_FUNCTION std::int64_t index(int x, int y, int z) const {
    return x + std::int64_t(shape[0]) * (y + std::int64_t(shape[1]) * z);
  }
  /// The value at (x, y, z), 0 outside the image.
  KOKKOS_FUNCTION float value_or_void(int x, int y, int z) const {
    const bool inside = x >= 0 && y >= 0 && z >= 0 && x < shape[0] && y < shape[1] && z < shape[2];
    return inside ? value(index(x, y, z)) : 0.0f;
  }
};

/// An uninitialised array for an image of the given shape.
template<class Exec>
VoxelArray<Exec> make_voxel_array(const Exec& exec, std::array<int, 3> shape) {
  OSSATURA_REQUIRE(shape[0] > 0 && shape[1] > 0 && shape[2] > 0,
                   "image of " << shape[0] << " x " << shape[1] << " x " << shape[2] << " voxels");
  VoxelArray<Exec> array;
  for (int d = 0; d < 3; ++d)
    array.shape[d] = shape[d];
  array.value =
      Array<float, Exec>(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::voxels"),
                         array.num_voxels());
  return array;
}

/// Copies a host image to the backend; fences.
template<class Exec>
VoxelArray<Exec> to_device(const Exec& exec, const VoxelImage& image) {
  OSSATURA_REQUIRE(image.value.size() == image.num_voxels(),
                   image.value.size() << " values for " << image.num_voxels() << " voxels");
  VoxelArray<Exec> array = make_voxel_array(exec, image.shape);
  Kokkos::View<const float*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      image.value.data(), image.value.size());
  Kokkos::deep_copy(exec, array.value, host);
  fence(exec, "ossatura::to_device");
  return array;
}

} // namespace ossatura
