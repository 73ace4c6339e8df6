// SPDX-License-Identifier: Apache-2.0
// mark_supported_voxels marks the voxels that supports hold.
#pragma once

#include <ossatura/kernels/image/grid.hpp>

namespace ossatura {

namespace detail {
template<class Exec>
struct MarkSupportedVoxels {
  VoxelGrid<Exec> grid;
  VoxelArray<Exec> image;
  Array<std::uint8_t, Exec> mask;
  Array<std::uint8_t, Exec> support;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    if (!(image.value_or_void(s.x, s.y, s.z) > 0))
      return;
    std::uint8_t held = 0;
    for (int v = 0; v < 8; ++v)
      held |= mask(grid.find(s.x + (v & 1), s.y + (v >> 1 & 1), s.z + (v >> 2)));
    support(image.index(s.x, s.y, s.z)) = held != 0;
  }
};
} // namespace detail

/// support [image voxels] = 1 for the voxels of a grid with a held component at a corner, else 0;
/// for finding parts that nothing holds. Does not fence.
template<class Exec>
Array<std::uint8_t, Exec> mark_supported_voxels(const Exec& exec, const VoxelGrid<Exec>& grid,
                                                const VoxelArray<Exec>& image,
                                                const Array<std::uint8_t, Exec>& mask) {
  const Array<std::uint8_t, Exec> support =
      make_zeros<std::uint8_t>(exec, image.num_voxels(), "ossatura::supported_voxels");
  Kokkos::parallel_for("ossatura::mark_supported_voxels", range(exec, grid.num_nodes),
                       detail::MarkSupportedVoxels<Exec>{grid, image, mask, support});
  return support;
}

} // namespace ossatura
