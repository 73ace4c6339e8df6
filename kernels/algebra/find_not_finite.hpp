// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ossatura/core/base/vector.hpp>

namespace ossatura {

namespace detail {
template<class Exec>
struct FindNotFinite {
  Array<double, Exec> x;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& first) const {
    if (!Kokkos::isfinite(x(i)) && i < first)
      first = i;
  }
};
} // namespace detail

/// The first entry that is not finite; -1 where all are. Fences.
template<class Exec>
std::int64_t find_not_finite(const Exec& exec, const Array<double, Exec>& x) {
  const std::int64_t n = x.extent(0);
  std::int64_t first = n;
  Kokkos::parallel_reduce("ossatura::find_not_finite", range(exec, n),
                          detail::FindNotFinite<Exec>{x}, Kokkos::Min<std::int64_t>(first));
  return first < n ? first : -1;
}

} // namespace ossatura
