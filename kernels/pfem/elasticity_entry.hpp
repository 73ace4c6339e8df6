// SPDX-License-Identifier: Apache-2.0
// An elasticity matrix is kept as its upper triangle.
#pragma once

#include <ossatura/core/base/function.hpp>

namespace ossatura {

/// Elasticity, D of sigma = D epsilon with epsilon = (xx, yy, zz, yz, zx, xy), shear strains
/// doubled (engineering): the upper triangle, row by row.
inline constexpr int elasticity_entries = 21;

/// Place of D(i, j) among these.
OSSATURA_FORCEINLINE_FUNCTION constexpr int elasticity_entry(int i, int j) {
  return i <= j ? i * (11 - i) / 2 + j : j * (11 - j) / 2 + i;
}

/// Row of D of the strain (i, j).
OSSATURA_FORCEINLINE_FUNCTION constexpr int voigt(int i, int j) {
  return i == j ? i : 6 - i - j;
}

} // namespace ossatura
