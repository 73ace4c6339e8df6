// SPDX-License-Identifier: Apache-2.0
// The moments of a specimen say where its voxels are and along which axes they extend.
#pragma once

#include <ossatura/core/base/principal_axes.hpp>
#include <ossatura/kernels/algebra/reproducible_sums/parts.hpp>
#include <ossatura/kernels/image/array.hpp>

#include <array>
#include <optional>

namespace ossatura {

namespace detail {
/// Number, sums of x, y, z, and of xx, yy, zz, xy, yz, zx, in voxels from the centre of the image.
template<class Exec>
struct SumMoments {
  VoxelArray<Exec> image;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double* own) const {
    if (!(image.value(i) > 0))
      return;
    const std::int64_t row = i / image.shape[0];
    const int x = int(i - row * image.shape[0]), y = int(row % image.shape[1]),
              z = int(row / image.shape[1]);
    const double at[3] = {x - 0.5 * (image.shape[0] - 1), y - 0.5 * (image.shape[1] - 1),
                          z - 0.5 * (image.shape[2] - 1)};
    own[0] += 1;
    for (int d = 0; d < 3; ++d) {
      own[1 + d] += at[d];
      own[4 + d] += at[d] * at[d];
      own[7 + d] += at[d] * at[(d + 1) % 3];
    }
  }
};
} // namespace detail

/// The principal axes of inertia of the solid voxels (values above 0), all of one mass, of a whole
/// image of boxes with these edges in mm. Empty of an image without any. Sums have a fixed order.
/// Fences.
template<class Exec>
std::optional<PrincipalAxes> find_principal_axes(const Exec& exec, const VoxelArray<Exec>& image,
                                                 const std::array<double, 3>& edges) {
  const std::array<double, 10> sum = part_sums<10>(
      exec, "ossatura::find_principal_axes", image.num_voxels(), detail::SumMoments<Exec>{image});
  if (sum[0] == 0)
    return {};
  std::array<double, 9> covariance{};
  for (std::size_t d = 0; d < 3; ++d) {
    const std::size_t e = (d + 1) % 3;
    const double own = sum[4 + d] / sum[0] - sum[1 + d] / sum[0] * (sum[1 + d] / sum[0]),
                 mixed = sum[7 + d] / sum[0] - sum[1 + d] / sum[0] * (sum[1 + e] / sum[0]);
    covariance[4 * d] = edges[d] * edges[d] * (own + 1.0 / 12); // and that of the voxel itself
    covariance[3 * d + e] = covariance[3 * e + d] = edges[d] * edges[e] * mixed;
  }
  return principal_axes(covariance);
}

} // namespace ossatura
