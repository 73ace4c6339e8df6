// SPDX-License-Identifier: Apache-2.0
// find_inverted_hexa checks that all elements of a mesh have a stiffness.
#pragma once

#include <ossatura/kernels/hexa/arrays.hpp>
#include <ossatura/kernels/hexa/stiffness.hpp>

namespace ossatura {

namespace detail {

template<class Exec>
struct FindInverted {
  HexaArrays<Exec> arrays;

  KOKKOS_FUNCTION void operator()(std::int64_t e, int& first) const {
    double x[24];
    arrays.load_points(int(e), x);
    if (!(least_hexa_jacobian(x) > 0) && int(e) < first)
      first = int(e);
  }
};

} // namespace detail

/// The first element whose Jacobian is not positive at a quadrature point; num_elem if none.
/// Fences.
template<class Exec>
int find_inverted_hexa(const Exec& exec, const HexaArrays<Exec>& arrays) {
  int first = arrays.num_elem;
  Kokkos::parallel_reduce("ossatura::find_inverted_hexa", range(exec, arrays.num_elem),
                          detail::FindInverted<Exec>{arrays}, Kokkos::Min<int>(first));
  return Kokkos::min(arrays.num_elem, first);
}

} // namespace ossatura
