// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ossatura/core/base/vector.hpp>

namespace ossatura {

namespace detail {
template<class Exec>
struct FillSlowness {
  int columns;
  Array<double, Exec> velocity; ///< [num_tetra, columns]
  Array<double, Exec> slowness; ///< [num_tetra, 3]

  KOKKOS_FUNCTION void operator()(std::int64_t t, std::int64_t& first_bad) const {
    const std::int64_t row = columns * t;
    const bool conducts = !(velocity(row) == 0 || Kokkos::isnan(velocity(row)));
    for (int d = 0; d < 3; ++d) {
      const double v = velocity(row + (d < columns ? d : columns - 1));
      slowness(3 * t + d) = conducts ? 1 / (v * v) : -1;
      if (conducts && !(v > 0 && Kokkos::isfinite(v)) && t < first_bad)
        first_bad = t;
    }
  }
};
} // namespace detail

/// Squared slownesses [num_tetra, 3] in ms^2/mm^2 along fibre, sheet and normal, -1 where no wave
/// goes, from velocities [num_tetra, columns] in m/s: of all directions, (fibre, across) or (fibre,
/// sheet, normal), the first 0 or NaN where no wave goes. Returns the first tetrahedron with a
/// velocity that is negative, zero beside others, or not finite; -1 where there is none. Fences.
template<class Exec>
std::int64_t fill_slowness(const Exec& exec, int columns, const Array<double, Exec>& velocity,
                           const Array<double, Exec>& slowness) {
  const std::int64_t n = slowness.extent(0) / 3;
  std::int64_t first = n;
  Kokkos::parallel_reduce("ossatura::fill_slowness", range(exec, n),
                          detail::FillSlowness<Exec>{columns, velocity, slowness},
                          Kokkos::Min<std::int64_t>(first));
  return first < n ? first : -1;
}

} // namespace ossatura
