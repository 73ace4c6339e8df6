// SPDX-License-Identifier: Apache-2.0
// bound_scaled_eigenvalue bounds the spectrum of a voxel model without a product.
#pragma once

#include <ossatura/kernels/bone/element.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>

namespace ossatura {

namespace detail {
template<class Exec>
struct LargestScaledEigenvalue {
  LameField<Exec> lame;

  KOKKOS_FUNCTION void operator()(std::int64_t node, double& largest) const {
    if (!lame.solid(int(node)))
      return;
    const double bound = largest_scaled_eigenvalue(lame.lambda(int(node)), lame.mu(int(node)));
    largest = Kokkos::max(largest, bound);
  }
};
} // namespace detail

/// An upper bound of the eigenvalues of the stiffness matrix scaled by the inverses of its 3 x 3
/// diagonal blocks or of anything larger, and of those of coarser levels, whose constants are
/// means: 3.2 for a Poisson's ratio of 0.3, some 5 to 15 % above the largest eigenvalue. Fences.
template<class Exec>
double bound_scaled_eigenvalue(const Exec& exec, const LameField<Exec>& lame) {
  double largest = 0;
  Kokkos::parallel_reduce("ossatura::bound_scaled_eigenvalue", range(exec, lame.mu_value.extent(0)),
                          detail::LargestScaledEigenvalue<Exec>{lame},
                          Kokkos::Max<double>(largest));
  return largest > 0 ? largest : 1; // no voxels
}

} // namespace ossatura
