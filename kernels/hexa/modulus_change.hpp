// SPDX-License-Identifier: Apache-2.0
// How far the moduli of elements are from others.
#pragma once

#include <ossatura/kernels/algebra/reproducible_sums/parts.hpp>

namespace ossatura {

namespace detail {
template<class Exec>
struct ModulusChange {
  Array<double, Exec> from, to;

  KOKKOS_FUNCTION void operator()(std::int64_t e, double* own) const {
    const double larger = Kokkos::max(from(e), to(e));
    own[0] += larger * fabs(log(to(e) / from(e)));
    own[1] += larger;
  }
};
} // namespace detail

/// The mean of |log(to / from)| over elements, weighted by the larger of their two moduli: what
/// changes from soft to softer does not count. Both are positive. The same for any number of
/// threads. Fences.
template<class Exec>
double modulus_change(const Exec& exec, const Array<double, Exec>& from,
                      const Array<double, Exec>& to) {
  const auto sums = part_sums<2>(exec, "ossatura::modulus_change", from.extent(0),
                                 detail::ModulusChange<Exec>{from, to});
  return sums[0] / sums[1];
}

} // namespace ossatura
