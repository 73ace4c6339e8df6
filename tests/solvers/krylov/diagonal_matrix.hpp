// SPDX-License-Identifier: Apache-2.0
// A diagonal matrix as an operator: everything about its iterations is known in closed form.
#pragma once

#include <ossatura/core/base/vector.hpp>

namespace ossatura::test {

template<class Exec, class S, class T>
struct MultiplyEntries {
  Array<double, Exec> d;
  Array<S, Exec> x;
  Array<T, Exec> y;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { y(i) = T(d(i) * x(i)); }
};

/// y = d x, entry by entry. Does not fence.
template<class Exec, class S, class T>
void multiply_entries(const Exec& exec, const Array<double, Exec>& d, const Array<S, Exec>& x,
                      const Array<T, Exec>& y) {
  Kokkos::parallel_for("test::multiply_entries", range(exec, d.extent(0)),
                       MultiplyEntries<Exec, S, T>{d, x, y});
}

template<class Exec, class T>
struct SubtractEntries {
  Array<double, Exec> b, d, x;
  double scale;
  Array<T, Exec> r;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { r(i) = T(scale * (b(i) - d(i) * x(i))); }
};

/// r = scale (b - d x), entry by entry. Does not fence.
template<class Exec, class T>
void subtract_entries(const Exec& exec, const Array<double, Exec>& b, const Array<double, Exec>& d,
                      const Array<double, Exec>& x, double scale, const Array<T, Exec>& r) {
  Kokkos::parallel_for("test::subtract_entries", range(exec, d.extent(0)),
                       SubtractEntries<Exec, T>{b, d, x, scale, r});
}

} // namespace ossatura::test
