// SPDX-License-Identifier: Apache-2.0
// The pivot rule replaces pivots that are not positive: the factor is a preconditioner, which has
// to be positive definite even where the matrix is not.
#pragma once

#include <Kokkos_Core.hpp>

namespace ossatura {

/// Pivots have to exceed this part of the diagonal of A.
inline constexpr double smallest_pivot = 1e-13;

/// Takes the place of a pivot that does not.
KOKKOS_INLINE_FUNCTION double replacement_pivot(double diagonal) {
  const double size = diagonal < 0 ? -diagonal : diagonal;
  return size > 0 ? size : 1;
}

} // namespace ossatura
