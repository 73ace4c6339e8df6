// SPDX-License-Identifier: Apache-2.0
// A Gaussian filter takes noise from an image, axis by axis, as the programs for CT have it.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/array.hpp>

#include <array>
#include <cmath>
#include <vector>

namespace ossatura {

namespace detail {

/// Weighs the voxels on either side along an axis; those outside of the image have no weight.
template<class Exec>
struct FilterAlong {
  VoxelArray<Exec> from, to;
  int axis, support;
  Array<double, Exec> weight; ///< [support + 1], by distance

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = i / from.shape[0];
    const int at[3] = {int(i - row * from.shape[0]), int(row % from.shape[1]),
                       int(row / from.shape[1])};
    const std::int64_t stride = axis == 0   ? 1
                                : axis == 1 ? from.shape[0]
                                            : std::int64_t(from.shape[0]) * from.shape[1];
    const int first = at[axis] < support ? -at[axis] : -support,
              last = at[axis] + support >= from.shape[axis] ? from.shape[axis] - 1 - at[axis]
                                                            : support;
    double sum = 0, weights = 0;
    for (int k = first; k <= last; ++k) {
      const double w = weight(k < 0 ? -k : k);
      sum += w * double(from.value(i + k * stride));
      weights += w;
    }
    to.value(i) = float(sum / weights);
  }
};

} // namespace detail

/// Weights exp(-k^2 / (2 sigma^2)) of voxels at distances 0 to `support`, for sigma in voxels.
inline std::vector<double> gaussian_weights(double sigma, int support) {
  std::vector<double> weights;
  for (int k = 0; k <= support; ++k)
    weights.push_back(std::exp(-0.5 * (k / sigma) * (k / sigma)));
  return weights;
}

/// An image, all planes of which are here, filtered by a Gaussian: along each axis a voxel becomes
/// the mean of those up to support[d] voxels away, weighted by gaussian_weights(sigma[d]) and
/// normalised over those that are in the image. Axes with support 0 are left. Values between the
/// three passes are in single precision, sums in double, in one order. Fences.
template<class Exec>
VoxelArray<Exec> filter_gaussian(const Exec& exec, const VoxelArray<Exec>& image,
                                 const std::array<double, 3>& sigma,
                                 const std::array<int, 3>& support) {
  OSSATURA_REQUIRE(image.first_plane == 0 && image.planes().end == image.shape[2],
                   "only planes " << image.first_plane << " to " << image.planes().end << " of "
                                  << image.shape[2] << " are here");
  const std::array<int, 3> shape{image.shape[0], image.shape[1], image.shape[2]};
  VoxelArray<Exec> filtered = image;
  for (int d = 0; d < 3; ++d) {
    const auto k = std::size_t(d);
    OSSATURA_REQUIRE(sigma[k] > 0 && support[k] >= 0,
                     "sigma " << sigma[k] << ", support " << support[k]);
    if (support[k] == 0)
      continue;
    const VoxelArray<Exec> to = make_voxel_array(exec, shape);
    const auto weight =
        upload(exec, "ossatura::filter_gaussian::weight", gaussian_weights(sigma[k], support[k]));
    Kokkos::parallel_for("ossatura::filter_gaussian", range(exec, image.num_voxels()),
                         detail::FilterAlong<Exec>{filtered, to, d, support[k], weight});
    fence(exec, "ossatura::filter_gaussian");
    filtered = to;
  }
  return filtered;
}

} // namespace ossatura
