// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ossatura/core/base/vector.hpp>

namespace ossatura {

namespace detail {
template<class Exec>
struct CountNotPositive {
  Array<double, Exec> x;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& partial) const {
    partial += !(x(i) > 0 && x(i) < 1e300); // NaN is not positive
  }
};
} // namespace detail

/// Entries that are not positive, not finite or at least 1e300. Fences.
template<class Exec>
std::int64_t count_not_positive(const Exec& exec, const Array<double, Exec>& x) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_not_positive", range(exec, x.extent(0)),
                          detail::CountNotPositive<Exec>{x}, count);
  return count;
}

} // namespace ossatura
