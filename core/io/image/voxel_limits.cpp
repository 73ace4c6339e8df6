// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/image/voxel_limits.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

std::array<int, 3> require_voxel_shape(const std::string& where, std::uint64_t nx, std::uint64_t ny,
                                       std::uint64_t nz) {
  for (const std::uint64_t extent : {nx, ny, nz}) {
    if (extent == 0)
      fail<InputError>(where, ": the image has no voxels (", nx, " x ", ny, " x ", nz,
                       " in x, y, z)");
    if (extent > max_voxels_per_axis)
      fail<InputError>(where, ": ", nx, " x ", ny, " x ", nz,
                       " voxels in x, y, z; at most 2^20 are taken along an axis");
  }
  // No overflow: each factor is at most 2^20.
  if (nx * ny * nz >= max_voxels)
    fail<InputError>(where, ": ", nx, " x ", ny, " x ", nz,
                     " voxels in x, y, z; fewer than 2^40 are taken in all");
  return {int(nx), int(ny), int(nz)};
}

void require_edge(const std::string& where, double edge) {
  if (!(edge >= min_length && edge <= max_length))
    fail<InputError>(where, ": the edge of a voxel is ", edge, " mm; ", min_length, " to ",
                     max_length, " mm are taken: correct the unit or the file");
}

void set_edges(const std::string& where, const std::array<double, 3>& spacing, VoxelShape voxels,
               VoxelImage& image) {
  std::array<double, 3> h{};
  for (int axis = 0; axis < 3; ++axis) {
    h[axis] = spacing[axis];
    if (!std::isfinite(h[axis]) || !(h[axis] > 0))
      fail<InputError>(where, ": the voxel spacing is ", spacing[0], " x ", spacing[1], " x ",
                       spacing[2], "; it must be positive and finite");
  }
  for (const double edge : h)
    require_edge(where, edge);
  const auto [low, high] = std::minmax_element(h.begin(), h.end());
  image.stretch = {1, 1, 1};
  if (*high - *low > 1e-3 * *high) {
    if (voxels == VoxelShape::cube)
      fail<InputError>(where, ": the voxels are not cubes (spacing ", h[0], " x ", h[1], " x ",
                       h[2], "); resample to ", *low,
                       " along every axis: ossatura bone does with --resample ", *low);
    image.spacing = *low;
    for (std::size_t axis = 0; axis < 3; ++axis)
      image.stretch[axis] = h[axis] / *low;
    return;
  }
  image.spacing = std::all_of(h.begin(), h.end(), [&](double x) { return x == h[0]; })
                      ? h[0]
                      : (h[0] + h[1] + h[2]) / 3;
}

} // namespace ossatura
