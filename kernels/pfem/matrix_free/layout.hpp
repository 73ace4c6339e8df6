// SPDX-License-Identifier: Apache-2.0
// A MatrixFreeLayout places what a team of the matrix-free product keeps in its scratch memory.
#pragma once

#include <ossatura/core/base/function.hpp>
#include <ossatura/kernels/pfem/elasticity_entry.hpp>

#include <algorithm>

namespace ossatura {

namespace detail {

inline constexpr int host_tile = 4; ///< points of a line that a core sums at a time

/// Where things are in scratch memory: numbers of packs, but `stride`.
struct MatrixFreeLayout {
  int stride = 0, rows = 0; ///< of the table of the basis: [rows, stride]
  int plane_stride = 0;     ///< of a pair and component in sums, which begin at 0
  int line_stride = 0;      ///< of a function along xi_0 in `lines`
  int kind_stride = 0;      ///< from values to derivatives in sums
  int lines = 0;            ///< first the coefficients, [num_modes, 3], then the lines
  int geometry = 0, elasticity = 0, per_elem = 0;

  /// `tile`, of lines and of other sums.
  MatrixFreeLayout(int order, int points, int num_modes, int num_pairs, int planes, int tile) {
    const auto up = [tile](int n) { return (n + tile - 1) / tile * tile; };
    rows = up(order + 1);
    stride = up(points);
    for (int first = 0; first < points; first += planes)
      stride = std::max(stride, first + up(planes));
    // Odd where neighbouring rows would be in the same banks.
    plane_stride = planes % 4 == 0 ? planes + 1 : planes;
    line_stride = points * planes < 32 ? (points * planes) | 1 : points * planes;
    kind_stride = 3 * num_pairs * plane_stride;
    lines = 2 * kind_stride;
    geometry = lines + std::max(3 * num_modes, 9 * (order + 1) * line_stride);
    elasticity = geometry + 21;
    per_elem = elasticity + elasticity_entries;
  }
  /// Of a team; `ranges` numbers of ModeRanges, `points` positions and weights.
  OSSATURA_FORCEINLINE_FUNCTION int bytes(int points, int ranges, int elems, int lanes) const {
    return 16 * rows * stride + 16 * points + (ranges + 1) / 2 * 8 + 64 +
           8 * lanes * elems * per_elem + 64;
  }
};

} // namespace detail

} // namespace ossatura
