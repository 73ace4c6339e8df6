// SPDX-License-Identifier: BSD-3-Clause
// A diagonal matrix as an operator: everything about its iterations is known in closed form.
#pragma once

#include "core/vector.hpp"

namespace femura::test {

template<class Exec>
struct MultiplyEntries {
  Array<double, Exec> d, x, y;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { y(i) = d(i) * x(i); }
};

/// y = d x, entry by entry. Does not fence.
template<class Exec>
void multiply_entries(const Exec& exec, const Array<double, Exec>& d, const Array<double, Exec>& x,
                      const Array<double, Exec>& y) {
  Kokkos::parallel_for("test::multiply_entries", range(exec, d.extent(0)),
                       MultiplyEntries<Exec>{d, x, y});
}

} // namespace femura::test
