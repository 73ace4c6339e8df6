// SPDX-License-Identifier: Apache-2.0
// free_norm computes the norm of a vector of nodes over the free components.
#pragma once

#include <ossatura/core/base/vector.hpp>

#include <cmath>
#include <limits>

namespace ossatura {

namespace detail {
template<class Exec>
struct FreeNorm2 {
  Array<std::uint8_t, Exec> held;
  Array<double, Exec> x;

  KOKKOS_FUNCTION void operator()(std::int64_t node, double& partial) const {
    for (int c = 0; c < 3; ++c)
      if (!(held(node) >> c & 1))
        partial += x(3 * node + c) * x(3 * node + c);
  }
};

template<class Exec>
struct CountFreeNonzeros {
  Array<std::uint8_t, Exec> held;
  Array<double, Exec> x;

  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& partial) const {
    for (int c = 0; c < 3; ++c)
      partial += !(held(node) >> c & 1) && x(3 * node + c) != 0;
  }
};
} // namespace detail

/// Euclidean norm of x [num_nodes, 3] over components that are not `held` (Constraints::mask).
/// Zero only of a vector that is: NaN where squares underflow. Fences.
template<class Exec>
double free_norm(const Exec& exec, const Array<std::uint8_t, Exec>& held,
                 const Array<double, Exec>& x) {
  double sum = 0;
  Kokkos::parallel_reduce("ossatura::free_norm", range(exec, held.extent(0)),
                          detail::FreeNorm2<Exec>{held, x}, sum);
  if (sum > 1e-280 || sum != sum)
    return std::sqrt(sum);
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::free_norm::count", range(exec, held.extent(0)),
                          detail::CountFreeNonzeros<Exec>{held, x}, count);
  return count == 0 ? 0 : std::numeric_limits<double>::quiet_NaN();
}

} // namespace ossatura
