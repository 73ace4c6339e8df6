// SPDX-License-Identifier: Apache-2.0
// Resampling takes an image of boxes, as of clinical CT, to one of cubes, which elements are.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/array.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace ossatura {

/// What a new voxel takes of the old ones.
enum class Resampling {
  /// Along an axis on which new voxels are shorter, what is between the centres of two, linearly;
  /// where they are longer, the mean of what they cover.
  blend,
  /// The one at its centre, of two the upper: for labels, of which there is nothing between two.
  nearest
};

namespace detail {

/// Edges of voxels are rounded, to 6e-8 of themselves in NIfTI, so that places in voxels are off by
/// this part of the image at most. What lies so near to a half is one, and goes up: else the kind
/// of file would decide which of two voxels is the nearest.
inline constexpr double edge_rounding = 1e-6;

/// Of the new voxels along an axis, the old ones that they take of and how much.
struct AxisTaps {
  int width = 1;              ///< old ones of each, at most
  std::vector<int> first;     ///< [new]
  std::vector<double> weight; ///< [new * width], 0 behind the last; of each new one their sum is 1
};

/// `ratio`: the edge of a new voxel by that of an old one; both begin at the same place.
inline AxisTaps axis_taps(int old_count, int new_count, double ratio, Resampling kind) {
  AxisTaps taps;
  const bool means = kind == Resampling::blend && ratio > 1;
  const int covers = means ? int(std::min(std::ceil(ratio) + 1, double(old_count))) : 2;
  taps.width = kind == Resampling::nearest ? 1 : covers;
  taps.first.resize(std::size_t(new_count));
  taps.weight.resize(std::size_t(new_count) * std::size_t(taps.width));
  for (int i = 0; i < new_count; ++i) {
    int& first = taps.first[std::size_t(i)];
    double* const weight = &taps.weight[std::size_t(i) * std::size_t(taps.width)];
    const double begin = i * ratio, end = begin + ratio, centre = begin + ratio / 2;
    if (kind == Resampling::nearest) {
      first = std::clamp(int(std::floor(centre + edge_rounding * old_count)), 0, old_count - 1);
      weight[0] = 1;
    } else if (means) {
      first = std::clamp(int(std::floor(begin)), 0, old_count - 1);
      const double covered = std::min(end, double(old_count)) - begin;
      for (int k = 0; k < taps.width && first + k < old_count; ++k)
        weight[k] =
            std::max(0.0, std::min(end, first + k + 1.0) - std::max(begin, double(first + k))) /
            covered;
    } else {
      const double x = std::clamp(centre - 0.5, 0.0, old_count - 1.0);
      first = std::min(int(x), std::max(old_count - 2, 0));
      weight[1] = old_count > 1 ? x - first : 0;
      weight[0] = 1 - weight[1];
    }
  }
  return taps;
}

/// The same on a backend.
template<class Exec>
struct AxisTapArrays {
  int width;
  Array<int, Exec> first;
  Array<double, Exec> weight;
};

template<class Exec>
struct ResampleVoxels {
  VoxelArray<Exec> from, to;
  Kokkos::Array<AxisTapArrays<Exec>, 3> axis;

  KOKKOS_FUNCTION double weight(int d, int i, int k) const {
    return axis[d].weight(std::int64_t(i) * axis[d].width + k);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t voxel) const {
    const std::int64_t row = voxel / to.shape[0];
    const int x = int(voxel - row * to.shape[0]), y = int(row % to.shape[1]),
              z = int(row / to.shape[1]);
    double sum = 0;
    for (int c = 0; c < axis[2].width; ++c) {
      const double by_z = weight(2, z, c);
      for (int b = 0; by_z != 0 && b < axis[1].width; ++b) {
        const double by_y = by_z * weight(1, y, b);
        for (int a = 0; by_y != 0 && a < axis[0].width; ++a)
          if (const double by_x = by_y * weight(0, x, a); by_x != 0)
            sum += by_x * double(from.value(from.index(axis[0].first(x) + a, axis[1].first(y) + b,
                                                       axis[2].first(z) + c)));
      }
    }
    to.value(voxel) = float(sum);
  }
};

} // namespace detail

/// Voxels along each axis of an image of so many boxes with these edges (mm) when they are cubes of
/// `edge`: as many as come nearest to its extent (halves up), at least one.
inline std::array<int, 3> resampled_shape(const Kokkos::Array<int, 3>& shape,
                                          const std::array<double, 3>& edges, double edge) {
  std::array<int, 3> cubes{};
  for (int d = 0; d < 3; ++d) {
    const double extent = shape[d] * edges[std::size_t(d)] / edge;
    cubes[std::size_t(d)] =
        int(std::clamp(std::floor(extent * (1 + detail::edge_rounding) + 0.5), 1.0, 1e9));
  }
  return cubes;
}

/// An image, all planes of which are here, as one of cubes whose first voxel has the same lower
/// corner. Sums are in double precision, in one order. Fences.
template<class Exec>
VoxelArray<Exec> resample(const Exec& exec, const VoxelArray<Exec>& image,
                          const std::array<double, 3>& edges, double edge, Resampling kind) {
  OSSATURA_REQUIRE(image.first_plane == 0 && image.planes().end == image.shape[2],
                   "only planes " << image.first_plane << " to " << image.planes().end << " of "
                                  << image.shape[2] << " are here");
  const VoxelArray<Exec> to = make_voxel_array(exec, resampled_shape(image.shape, edges, edge));
  detail::ResampleVoxels<Exec> kernel{image, to, {}};
  for (int d = 0; d < 3; ++d) {
    const detail::AxisTaps taps =
        detail::axis_taps(image.shape[d], to.shape[d], edge / edges[std::size_t(d)], kind);
    kernel.axis[d] = {taps.width, upload(exec, "ossatura::resample::first", taps.first),
                      upload(exec, "ossatura::resample::weight", taps.weight)};
  }
  Kokkos::parallel_for("ossatura::resample", range(exec, to.num_voxels()), kernel);
  fence(exec, "ossatura::resample");
  return to;
}

} // namespace ossatura
