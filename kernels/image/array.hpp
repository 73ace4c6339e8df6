// SPDX-License-Identifier: Apache-2.0
// An image array is a voxel image in the memory of a backend, or the planes of one that a process
// has, where several share it.
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

#include <cstdint>

namespace ossatura {

/// nx * ny values of each plane on the device, x fastest: value(x + nx * (y + ny * (z -
/// first_plane))).
template<class Exec>
struct VoxelArray {
  Kokkos::Array<int, 3> shape{}; ///< nx, ny, nz of the whole image
  Array<float, Exec> value;      ///< [nx * ny * planes]
  int first_plane = 0;           ///< z of the first one that is here

  /// Those that are here.
  KOKKOS_FUNCTION std::int64_t num_voxels() const { return std::int64_t(value.extent(0)); }
  KOKKOS_FUNCTION std::int64_t num_rows() const { return num_voxels() / shape[0]; }
  KOKKOS_FUNCTION std::int64_t index(int x, int y, int z) const {
    return x + std::int64_t(shape[0]) * (y + std::int64_t(shape[1]) * (z - first_plane));
  }
  /// The number in the whole image, x + nx * (y + ny * z), of the first voxel that is here.
  KOKKOS_FUNCTION std::int64_t first_voxel() const {
    return std::int64_t(shape[0]) * shape[1] * first_plane;
  }
  ImagePlanes planes() const { return {first_plane, first_plane + int(num_rows() / shape[1])}; }
  /// The value at (x, y, z), 0 where this array has none.
  KOKKOS_FUNCTION float value_or_void(int x, int y, int z) const {
    const bool inside = x >= 0 && y >= 0 && z >= first_plane && x < shape[0] && y < shape[1];
    const std::int64_t i = index(x, y, z);
    return inside && i < num_voxels() ? value(i) : 0.0f;
  }
};

/// An uninitialised array for planes of an image of the given shape.
template<class Exec>
VoxelArray<Exec> make_voxel_array(const Exec& exec, std::array<int, 3> shape, ImagePlanes planes) {
  OSSATURA_REQUIRE(shape[0] > 0 && shape[1] > 0 && shape[2] > 0,
                   "image of " << shape[0] << " x " << shape[1] << " x " << shape[2] << " voxels");
  VoxelArray<Exec> array;
  for (int d = 0; d < 3; ++d)
    array.shape[d] = shape[d];
  array.first_plane = planes.begin;
  array.value =
      Array<float, Exec>(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::voxels"),
                         std::int64_t(shape[0]) * shape[1] * planes.count());
  return array;
}

/// The same for a whole image.
template<class Exec>
VoxelArray<Exec> make_voxel_array(const Exec& exec, std::array<int, 3> shape) {
  return make_voxel_array(exec, shape, {0, shape[2]});
}

/// Copies planes that a host image has to the backend; fences.
template<class Exec>
VoxelArray<Exec> to_device(const Exec& exec, const VoxelImage& image, ImagePlanes planes) {
  VoxelArray<Exec> array = make_voxel_array(exec, image.shape, planes);
  const ImagePlanes here = image.planes();
  const std::size_t voxels_here = image.voxels_per_plane() * std::size_t(here.count());
  OSSATURA_REQUIRE(image.value.size() == voxels_here && here.begin <= planes.begin &&
                       planes.end <= here.end && here.end <= image.shape[2],
                   image.value.size()
                       << " values from plane " << here.begin << " on for planes " << planes.begin
                       << " to " << planes.end << " of " << image.num_voxels() << " voxels");
  Kokkos::View<const float*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      image.value.data() + (std::size_t(array.first_voxel()) - image.first_voxel()),
      std::size_t(array.num_voxels()));
  Kokkos::deep_copy(exec, array.value, host);
  fence(exec, "ossatura::to_device");
  return array;
}

/// Copies a whole host image to the backend; fences.
template<class Exec>
VoxelArray<Exec> to_device(const Exec& exec, const VoxelImage& image) {
  return to_device(exec, image, {0, image.shape[2]});
}

/// A copy of planes that an array has. Does not fence.
template<class Exec>
VoxelArray<Exec> take_planes(const Exec& exec, const VoxelArray<Exec>& image, ImagePlanes planes) {
  const VoxelArray<Exec> part =
      make_voxel_array(exec, {image.shape[0], image.shape[1], image.shape[2]}, planes);
  const std::int64_t begin = part.first_voxel() - image.first_voxel();
  Kokkos::deep_copy(exec, part.value,
                    Kokkos::subview(image.value, std::make_pair(begin, begin + part.num_voxels())));
  return part;
}

} // namespace ossatura
