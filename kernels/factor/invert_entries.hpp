// SPDX-License-Identifier: Apache-2.0
// invert_entries takes reciprocals, entry by entry.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>

namespace ossatura {

namespace detail {
struct InvertEntries {
  ArrayPointer<double> x, y;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { y(i) = 1 / x(i); }
};
} // namespace detail

/// y(i) = 1 / x(i); x may alias y. Does not fence.
template<class Exec>
void invert_entries(const Exec& exec, const Array<double, Exec>& x, const Array<double, Exec>& y) {
  Kokkos::parallel_for("ossatura::invert_entries", range(exec, x.extent(0)),
                       detail::InvertEntries{x, y});
}

} // namespace ossatura
