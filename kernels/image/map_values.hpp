// SPDX-License-Identifier: Apache-2.0
// These kernels change the values of an image one by one: calibration, a clamp, and bins.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/image/array.hpp>

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
} // namespace detail

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
