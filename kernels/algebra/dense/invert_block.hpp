// SPDX-License-Identifier: Apache-2.0
// invert_block inverts a symmetric 3 x 3 block.
#pragma once

#include <Kokkos_Macros.hpp>

namespace ossatura::detail {

/// The inverse of the free part of a symmetric positive definite 3 x 3 block, zero rows and columns
/// at the bits of `held`. Both as xx, yy, zz, xy, yz, zx. Scaled first, so that determinants
/// neither overflow nor vanish.
KOKKOS_INLINE_FUNCTION void invert_block(const double (&block)[6], int held, double (&inverse)[6]) {
  const double scale = 1 / (block[0] + block[1] + block[2]);
  const bool free[3] = {!(held & 1), !(held & 2), !(held & 4)};
  double diagonal[3], off[3]; // off[c] couples c and c + 1; held components are decoupled
  for (int c = 0; c < 3; ++c) {
    diagonal[c] = free[c] ? scale * block[c] : 1;
    off[c] = free[c] && free[(c + 1) % 3] ? scale * block[3 + c] : 0;
  }
  double cofactor[6];
  for (int c = 0; c < 3; ++c) {
    const int d = (c + 1) % 3, e = (c + 2) % 3;
    cofactor[c] = diagonal[d] * diagonal[e] - off[d] * off[d];
    cofactor[3 + c] = off[d] * off[e] - off[c] * diagonal[e];
  }
  const double determinant =
      diagonal[0] * cofactor[0] + off[0] * cofactor[3] + off[2] * cofactor[5];
  for (int c = 0; c < 3; ++c) {
    inverse[c] = free[c] ? scale * cofactor[c] / determinant : 0;
    inverse[3 + c] = free[c] && free[(c + 1) % 3] ? scale * cofactor[3 + c] / determinant : 0;
  }
}

} // namespace ossatura::detail
