// SPDX-License-Identifier: Apache-2.0
// What of an image is solid, where that lies, and the image cut down to it.
#pragma once

#include "core/vector.hpp"
#include "kernels/upload.hpp"
#include "kernels/voxel_array.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace femura {

/// Voxels lower <= (x, y, z) < upper; all zero if empty.
struct VoxelBox {
  std::array<int, 3> lower{0, 0, 0};
  std::array<int, 3> upper{0, 0, 0};

  std::array<int, 3> shape() const {
    return {upper[0] - lower[0], upper[1] - lower[1], upper[2] - lower[2]};
  }
  bool empty() const { return upper[0] <= lower[0]; }
};

/// One pass over the values of an image.
struct GreyRange {
  std::int64_t num_solid = 0; ///< values > 0
  std::int64_t num_nan = 0;   ///< not part of the range
  float minimum = 0;          ///< 0 if there is no value at all
  float maximum = 0;
};

namespace detail {

template<class Exec>
struct SolidExtent {
  VoxelArray<Exec> image;
  KOKKOS_FUNCTION void operator()(std::int64_t row, int& x0, int& x1, int& y0, int& y1, int& z0,
                                  int& z1) const {
    const int nx = image.shape[0];
    const float* value = &image.value(row * nx);
    int first = 0;
    while (first < nx && !(value[first] > 0))
      ++first;
    if (first == nx)
      return;
    int last = nx - 1;
    while (!(value[last] > 0))
      --last;
    const int y = int(row % image.shape[1]);
    const int z = int(row / image.shape[1]);
    x0 = first < x0 ? first : x0;
    x1 = last > x1 ? last : x1;
    y0 = y < y0 ? y : y0;
    y1 = y > y1 ? y : y1;
    z0 = z < z0 ? z : z0;
    z1 = z > z1 ? z : z1;
  }
};

template<class Exec>
struct CopyBox {
  VoxelArray<Exec> from;
  VoxelArray<Exec> to;
  Kokkos::Array<int, 3> lower;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t row = i / to.shape[0];
    const int x = int(i - row * to.shape[0]);
    const int y = int(row % to.shape[1]);
    const int z = int(row / to.shape[1]);
    to.value(i) = from.value(from.index(x + lower[0], y + lower[1], z + lower[2]));
  }
};

template<class Exec>
struct CountSolid {
  Array<float, Exec> value;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& count) const {
    count += value(i) > 0;
  }
};

template<class Exec>
struct FindGreyRange {
  Array<float, Exec> value;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& num_solid, std::int64_t& num_nan,
                                  float& minimum, float& maximum) const {
    const float v = value(i);
    num_solid += v > 0;
    num_nan += v != v;
    minimum = v < minimum ? v : minimum;
    maximum = v > maximum ? v : maximum;
  }
};

/// A thread counts a stretch of voxels and adds a run of voxels of one bin at once: neighbours are
/// alike, and most of an image is void, so threads seldom meet at a counter.
template<class Exec>
struct CountBins {
  static constexpr std::int64_t stretch = 256;
  Array<float, Exec> value;
  double lower;
  double upper;
  Array<std::int64_t, Exec> count; ///< [num_bins]

  KOKKOS_FUNCTION int bin(float v) const {
    if (!(v >= lower && v <= upper))
      return -1;
    const int num_bins = int(count.extent(0));
    const int b = int((v - lower) / (upper - lower) * num_bins);
    return b < num_bins ? b : num_bins - 1;
  }
  KOKKOS_FUNCTION void flush(int b, std::int64_t run) const {
    if (b >= 0 && run > 0)
      Kokkos::atomic_add(&count(b), run);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t part) const {
    const std::int64_t begin = part * stretch;
    const std::int64_t n = std::int64_t(value.extent(0));
    const std::int64_t end = begin + stretch < n ? begin + stretch : n;
    int current = -1;
    std::int64_t run = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      const int b = bin(value(i));
      if (b != current) {
        flush(current, run);
        current = b;
        run = 0;
      }
      ++run;
    }
    flush(current, run);
  }
};

} // namespace detail

/// Number of voxels with a value > 0; fences.
template<class Exec>
std::int64_t count_solid(const Exec& exec, const VoxelArray<Exec>& image) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("femura::count_solid", range(exec, image.num_voxels()),
                          detail::CountSolid<Exec>{image.value}, count);
  return count;
}

/// The smallest box with all voxels of value > 0; fences.
template<class Exec>
VoxelBox solid_box(const Exec& exec, const VoxelArray<Exec>& image) {
  std::array<int, 3> lower{};
  std::array<int, 3> last{};
  Kokkos::parallel_reduce(
      "femura::solid_box", range(exec, std::int64_t(image.shape[1]) * image.shape[2]),
      detail::SolidExtent<Exec>{image}, Kokkos::Min<int>(lower[0]), Kokkos::Max<int>(last[0]),
      Kokkos::Min<int>(lower[1]), Kokkos::Max<int>(last[1]), Kokkos::Min<int>(lower[2]),
      Kokkos::Max<int>(last[2]));
  VoxelBox box;
  if (lower[0] <= last[0]) {
    box.lower = lower;
    for (int d = 0; d < 3; ++d)
      box.upper[d] = last[d] + 1;
  }
  return box;
}

/// A copy of the voxels of `box`, which lies in the image and is not empty; does not fence.
template<class Exec>
VoxelArray<Exec> crop(const Exec& exec, const VoxelArray<Exec>& image, const VoxelBox& box) {
  for (int d = 0; d < 3; ++d)
    FEMURA_REQUIRE(0 <= box.lower[d] && box.lower[d] < box.upper[d] &&
                       box.upper[d] <= image.shape[d],
                   "box " << box.lower[d] << " .. " << box.upper[d] << " on axis " << d
                          << " of an image of " << image.shape[d] << " voxels");
  const VoxelArray<Exec> cropped = make_voxel_array(exec, box.shape());
  Kokkos::parallel_for(
      "femura::crop", range(exec, cropped.num_voxels()),
      detail::CopyBox<Exec>{image, cropped, {box.lower[0], box.lower[1], box.lower[2]}});
  return cropped;
}

/// Origin of the image cropped to `box`, in the unit of `origin` and `spacing` (mm).
inline std::array<double, 3> crop_origin(std::array<double, 3> origin, double spacing,
                                         const VoxelBox& box) {
  for (int d = 0; d < 3; ++d)
    origin[d] += spacing * box.lower[d];
  return origin;
}

/// Smallest and largest value, and how many are solid or not a number; fences.
template<class Exec>
GreyRange find_grey_range(const Exec& exec, const VoxelArray<Exec>& image) {
  GreyRange grey;
  Kokkos::parallel_reduce("femura::find_grey_range", range(exec, image.num_voxels()),
                          detail::FindGreyRange<Exec>{image.value},
                          Kokkos::Sum<std::int64_t>(grey.num_solid),
                          Kokkos::Sum<std::int64_t>(grey.num_nan), Kokkos::Min<float>(grey.minimum),
                          Kokkos::Max<float>(grey.maximum));
  if (grey.num_nan == image.num_voxels())
    grey.minimum = grey.maximum = 0;
  return grey;
}

/// Values counted in `num_bins` equal bins of lower .. upper, both ends included (a value between
/// two bins counts in the upper one, `upper` in the last); others and NaN are not counted; fences.
template<class Exec>
std::vector<std::int64_t> grey_histogram(const Exec& exec, const VoxelArray<Exec>& image,
                                         double lower, double upper, int num_bins) {
  FEMURA_REQUIRE(num_bins > 0 && lower < upper,
                 num_bins << " bins from " << lower << " to " << upper);
  using Kernel = detail::CountBins<Exec>;
  const Array<std::int64_t, Exec> count(Kokkos::view_alloc(exec, "femura::histogram"), num_bins);
  Kokkos::parallel_for("femura::grey_histogram",
                       range(exec, (image.num_voxels() + Kernel::stretch - 1) / Kernel::stretch),
                       Kernel{image.value, lower, upper, count});
  std::vector<std::int64_t> result(num_bins);
  Kokkos::deep_copy(
      exec,
      Kokkos::View<std::int64_t*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
          result.data(), num_bins),
      count);
  exec.fence();
  return result;
}

} // namespace femura
