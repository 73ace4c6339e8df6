// SPDX-License-Identifier: Apache-2.0
// These kernels change the values of an image one by one: calibration, a clamp, and bins.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/image/array.hpp>

#include <array>
#include <limits>

namespace ossatura {

/// v becomes slope v + intercept, and then the nearest number in [lower, upper].
struct ValueMap {
  double slope = 1, intercept = 0;
  double lower = -std::numeric_limits<double>::infinity(),
         upper = std::numeric_limits<double>::infinity();

  KOKKOS_FUNCTION float operator()(float value) const {
    const double mapped = slope * double(value) + intercept;
    return float(mapped < lower ? lower : mapped > upper ? upper : mapped); // NaN stays
  }
};

namespace detail {
template<class Exec>
struct MapValues {
  ValueMap map;
  Array<float, Exec> value;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { value(i) = map(value(i)); }
};

template<class Exec>
struct BinValues {
  double lower, width;
  int bins;
  Array<float, Exec> value;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (!(value(i) > 0))
      return;
    const int bin = int((double(value(i)) - lower) / width);
    value(i) = float(lower + (double(bin < bins ? bin : bins - 1) + 0.5) * width);
  }
};

/// The mapped values next to a threshold, and the ends of all.
template<class Exec>
struct ValuesAround {
  ValueMap map;
  float threshold;
  Array<float, Exec> value;

  KOKKOS_FUNCTION void operator()(std::int64_t i, float& least, float& below, float& above,
                                  float& greatest) const {
    const float v = map(value(i));
    least = Kokkos::min(least, v);
    greatest = Kokkos::max(greatest, v);
    if (v < threshold)
      below = Kokkos::max(below, v);
    else
      above = Kokkos::min(above, v);
  }
};

template<class Exec>
struct PositiveValues {
  Array<float, Exec> value;

  KOKKOS_FUNCTION void operator()(std::int64_t i, float& least, float& greatest) const {
    if (value(i) > 0) {
      least = Kokkos::min(least, value(i));
      greatest = Kokkos::max(greatest, value(i));
    }
  }
};
} // namespace detail

/// The least and the greatest of the values above 0; where there are none, the least is above the
/// greatest. Fences.
template<class Exec>
std::array<float, 2> positive_range(const Exec& exec, const VoxelArray<Exec>& image) {
  constexpr float none = std::numeric_limits<float>::max();
  std::array<float, 2> ends = {none, -none};
  Kokkos::parallel_reduce("ossatura::positive_range", range(exec, image.num_voxels()),
                          detail::PositiveValues<Exec>{image.value}, Kokkos::Min<float>(ends[0]),
                          Kokkos::Max<float>(ends[1]));
  fence(exec, "ossatura::positive_range");
  return ends;
}

/// The gap between values of an image that a threshold is in.
struct ValueGap {
  float below, above; ///< the greatest value below the threshold, and the least that is not
  float part;         ///< of the range of all values that is between them
  bool is_between;    ///< whether there are values on both sides
};

/// The gap that a threshold is in, of values as `map` makes them; they stay. Fences.
template<class Exec>
ValueGap find_gap(const Exec& exec, const ValueMap& map, float threshold,
                  const VoxelArray<Exec>& image) {
  constexpr float none = std::numeric_limits<float>::max();
  float least = none, below = -none, above = none, greatest = -none;
  Kokkos::parallel_reduce("ossatura::find_gap", range(exec, image.num_voxels()),
                          detail::ValuesAround<Exec>{map, threshold, image.value},
                          Kokkos::Min<float>(least), Kokkos::Max<float>(below),
                          Kokkos::Min<float>(above), Kokkos::Max<float>(greatest));
  fence(exec, "ossatura::find_gap");
  const bool is_between = below > -none && above < none;
  return {below, above, is_between ? (above - below) / (greatest - least) : 0, is_between};
}

/// Maps every value. Does not fence.
template<class Exec>
void map_values(const Exec& exec, const ValueMap& map, const VoxelArray<Exec>& image) {
  Kokkos::parallel_for("ossatura::map_values", range(exec, image.num_voxels()),
                       detail::MapValues<Exec>{map, image.value});
}

/// Values greater than 0, which are from `lower` to `upper`, become the middles of the `bins` parts
/// of equal width of that range that they are in; those that are all alike stay. Does not fence.
template<class Exec>
void bin_values(const Exec& exec, double lower, double upper, int bins,
                const VoxelArray<Exec>& image) {
  OSSATURA_REQUIRE(bins > 0, bins << " bins");
  if (upper > lower)
    Kokkos::parallel_for("ossatura::bin_values", range(exec, image.num_voxels()),
                         detail::BinValues<Exec>{lower, (upper - lower) / bins, bins, image.value});
}

} // namespace ossatura
