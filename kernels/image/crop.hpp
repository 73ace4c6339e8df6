// SPDX-License-Identifier: Apache-2.0
// Cropping takes a box of an image.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/image/array.hpp>

namespace ossatura {

/// Voxels [begin, end) along each axis.
struct VoxelBox {
  std::array<int, 3> begin{0, 0, 0}, end{0, 0, 0};

  std::array<int, 3> shape() const {
    return {end[0] - begin[0], end[1] - begin[1], end[2] - begin[2]};
  }
};

namespace detail {
template<class Exec>
struct TakeBox {
  VoxelArray<Exec> from, to;
  Kokkos::Array<int, 3> begin;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = i / to.shape[0];
    to.value(i) = from.value(from.index(begin[0] + int(i - row * to.shape[0]),
                                        begin[1] + int(row % to.shape[1]),
                                        begin[2] + int(row / to.shape[1])));
  }
};
} // namespace detail

/// The voxels of `image`, all planes of which are here, in a box inside it. Fences.
template<class Exec>
VoxelArray<Exec> crop(const Exec& exec, const VoxelArray<Exec>& image, const VoxelBox& box) {
  OSSATURA_REQUIRE(image.first_plane == 0 && image.planes().end == image.shape[2],
                   "only planes " << image.first_plane << " to " << image.planes().end << " of "
                                  << image.shape[2] << " are here");
  for (int d = 0; d < 3; ++d) {
    const auto k = std::size_t(d);
    OSSATURA_REQUIRE(0 <= box.begin[k] && box.begin[k] < box.end[k] && box.end[k] <= image.shape[d],
                     "voxels " << box.begin[k] << " to " << box.end[k] << " of " << image.shape[d]);
  }
  const VoxelArray<Exec> to = make_voxel_array(exec, box.shape());
  Kokkos::parallel_for(
      "ossatura::crop", range(exec, to.num_voxels()),
      detail::TakeBox<Exec>{image, to, {box.begin[0], box.begin[1], box.begin[2]}});
  fence(exec, "ossatura::crop");
  return to;
}

} // namespace ossatura
