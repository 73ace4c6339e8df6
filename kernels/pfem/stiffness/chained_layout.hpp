// SPDX-License-Identifier: Apache-2.0
// Where chained products (kernels/pfem/stiffness/chained_products.hpp) have what: C and its rows, A
// and its columns, the tables along the axes, and how much scratch memory that takes. Constants of
// an order, for the host and the device.
#pragma once

#include <ossatura/core/base/function.hpp>
#include <ossatura/kernels/pfem/stiffness/chained_schedule.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace ossatura::detail {

/// Layout of scratch memory, and where the blocks (k, l) of derivatives are. By the derivatives
/// along zeta, the rows of A are of four kinds: none, by j, by i, both. A row of the table along
/// eta has the products of values and derivatives in an order in which each kind needs a range of
/// them: (by j, none, by i, both) times points.
template<int P>
struct ChainedLayout {
  static constexpr int N = P + 1, plane = N * N;
  /// Eight points along zeta are columns of an instruction by themselves; those beyond them, or up
  /// to four, are the tail: columns that two components share.
  static constexpr bool has_eight = N > 4, has_tail = N <= 4 || N > 8;
  static constexpr int eight = has_eight ? 8 : 0, tail_points = has_tail ? N - eight : 0;
  static constexpr int filled = (N + 3) / 4 * 4 == 8 ? 8 : eight + 4; ///< points, filled up
  static_assert(N <= filled, "the points along an axis are columns of an instruction");
  static constexpr ChainedShape shape = chained_shape(P);
  static constexpr int slots = shape.slots, warps = shape.warps;

  /// Rows c of the components one after the other, where scratch does not hold all nine.
  static constexpr bool by_row = shape.by_row;
  static constexpr int sweeps = by_row ? 3 : 1, components = by_row ? 3 : 9;
  /// Whether C is in memory, where scratch does not hold it.
  static constexpr bool c_in_memory = shape.c_in_memory;

  OSSATURA_INLINE_FUNCTION static constexpr int round_up(int n, int to) {
    return (n + to - 1) / to * to;
  }
  /// A stride of at least n doubles that is `rest` modulo 16.
  OSSATURA_INLINE_FUNCTION static constexpr int stride(int n, int rest) {
    return n + (rest + 16 - n % 16) % 16;
  }

  /// Rows of C by the kind of their tables along xi: mixed (one side differentiated), values, both;
  /// of one row of components mixed are those with i and those with j differentiated.
  static constexpr int kinds = by_row ? 4 : 3;
  OSSATURA_INLINE_FUNCTION static constexpr int kind_begin(int kind) {
    int at = 0;
    for (int k = 0; k < kind; ++k) {
      const int numbers = by_row ? (k < 2 ? 6 : k == 2 ? 12 : 3) : (k == 0 ? 18 : k == 1 ? 21 : 6);
      at += round_up(numbers * plane, 16);
    }
    return at;
  }
  static constexpr int c_rows = kind_begin(kinds);
  static constexpr int c_stride = c_rows + 4; ///< of a point along xi, in scratch
  static constexpr int c_size = N * (c_in_memory ? c_rows : c_stride);
  /// Of row r of C at point q along xi: in memory as lanes read it, two rows of a tile together.
  OSSATURA_INLINE_FUNCTION static constexpr int c_place(int q, int r) {
    return c_in_memory ? r / 16 * (16 * N) + 16 * q + 2 * (r % 8) + r % 16 / 8 : q * c_stride + r;
  }

  /// Groups of tiles along xi that warps take in turns, and the tiles of a group that leave the
  /// fewest warps without one.
  OSSATURA_INLINE_FUNCTION static constexpr int num_groups(int tiles) {
    int groups = 0;
    for (int kind = 0; kind < kinds; ++kind)
      groups += round_up((kind_begin(kind + 1) - kind_begin(kind)) / 16, tiles) / tiles;
    return groups;
  }
  static constexpr int best_tiles() {
    int best = 4;
    for (int tiles = 3; tiles > 1; --tiles)
      if (round_up(num_groups(tiles), warps) * tiles < round_up(num_groups(best), warps) * best)
        best = tiles;
    return best;
  }
  static constexpr int tiles_at_once = best_tiles();

  /// Place of (c, d), c <= d, among the 6 of a symmetric matrix.
  OSSATURA_INLINE_FUNCTION static constexpr int symmetric(int c, int d) {
    return c * (5 - c) / 2 + d;
  }

  /// First row of C of a coefficient: k <= l, and c <= d where k = l.
  OSSATURA_INLINE_FUNCTION static constexpr int c_row(int k, int l, int c, int d) {
    return k == l ? kind_begin(k == 0 ? 2 : 1) + ((k == 2 ? 6 : 0) + symmetric(c, d)) * plane
                  : kind_begin(k == 0 ? 0 : 1) +
                        (k == 0 ? 9 * (l - 1) + 3 * c + d : 12 + 3 * c + d) * plane;
  }
  /// The same where C is of one row of components, for all k and l.
  OSSATURA_INLINE_FUNCTION static constexpr int c_row(int k, int l, int d) {
    return k == 0 ? (l == 0 ? kind_begin(3) + d * plane : (3 * (l - 1) + d) * plane)
                  : (l == 0 ? kind_begin(1) + (3 * (k - 1) + d) * plane
                            : kind_begin(2) + (3 * (2 * (k - 1) + l - 1) + d) * plane);
  }

  /// Of a row of A, whose columns are [components, points along zeta].
  static constexpr int a_width =
      has_tail ? components * N + (plane % 16 == 0 ? 0 : 1) : (components - 1) * N + filled;
  static constexpr int a_stride =
      stride(a_width, 4) < stride(a_width, 12) ? stride(a_width, 4) : stride(a_width, 12);
  static constexpr int a_used = (9 * N - 1) * a_stride + a_width;
  /// Of a slot: 2 modulo 4 where lanes store to slots two apart, else 4 modulo 16.
  static constexpr int a_size =
      by_row ? a_used + (6 - a_used % 4) % 4 : stride(9 * N * a_stride, 4);
  /// A place that no sum has to do with, where there are filled-up rows of C.
  static constexpr int unused = by_row ? a_stride - 1 : 9 * N * a_stride - 1;

  static constexpr int xi_stride = 4 * filled + 4;                ///< of a slot: 4 modulo 16
  static constexpr int eta_stride = 4 * N + (N % 2 == 0 ? 4 : 0); ///< 4 or 12 modulo 16
  /// Column of component 3 c + d at a point along zeta, from those of c on. The tails of d = 0 and
  /// 1 take turns.
  OSSATURA_INLINE_FUNCTION static constexpr int a_column(int d, int q) {
    return !has_tail   ? d * N + q
           : q < eight ? eight * d + q
           : d < 2     ? 3 * eight + 2 * (q - eight) + d
                       : 3 * eight + 2 * tail_points + q - eight;
  }
  /// First columns of what an instruction takes: of the eights of d, and of the two tails.
  OSSATURA_INLINE_FUNCTION static constexpr int eight_column(int number) {
    return number < 3 && has_eight ? a_column(number, 0)
           : number % 3 == 0       ? 3 * eight
                                   : 3 * eight + 2 * tail_points;
  }

  /// 8 modulo 16 but where scratch memory is short. Four times 8 points, then, for two kinds at a
  /// time, the tail.
  static constexpr int zeta_stride = 4 * filled + (N == 8 ? 4 : 8);
  OSSATURA_INLINE_FUNCTION static constexpr int zeta_place(int kind, int q) {
    return q < eight ? 8 * kind + q
                     : 4 * eight + 8 * tail_of(kind) + 2 * (q - eight) + side_of(kind);
  }
  /// Tails are of the kinds 0 and 3, and of 1 and 2, which are those of (j, i) for (i, j).
  OSSATURA_INLINE_FUNCTION static constexpr int tail_of(int kind) { return kind % 3 == 0 ? 0 : 1; }
  OSSATURA_INLINE_FUNCTION static constexpr int side_of(int kind) { return kind / 2; }
  /// Whether the table along zeta has (i, j) of i >= j alone.
  static constexpr bool folded = has_eight && has_tail;
  static constexpr int zeta_rows = folded ? N * (N + 1) / 2 : plane;
  /// Twice the place of the row of (i, j), and whether it is that of (j, i).
  OSSATURA_INLINE_FUNCTION static constexpr std::uint16_t folded_row(int i, int j) {
    return std::uint16_t(i >= N   ? 0
                         : i >= j ? 2 * (i * (i + 1) / 2 + j) * zeta_stride
                                  : 2 * (j * (j + 1) / 2 + i) * zeta_stride + 1);
  }
  /// A place in A, or two, the mirrored one in the upper half.
  using Place = std::conditional_t<by_row, std::uint16_t, std::uint32_t>;

  /// Range of a kind in a row of the table along eta, and its first row of A.
  OSSATURA_INLINE_FUNCTION static constexpr int eta_begin(int kind) {
    return kind % 2 == 1 ? N : 0;
  }
  OSSATURA_INLINE_FUNCTION static constexpr int eta_end(int kind) {
    return kind == 0 ? 4 * N : kind == 1 ? 3 * N : 2 * N;
  }
  OSSATURA_INLINE_FUNCTION static constexpr int first_row(int kind) {
    return kind == 0 ? 0 : (2 * kind + 2) * N;
  }

  /// Row of A of the block (k, l) at a point along eta.
  static constexpr int row_of(int k, int l, int q) {
    const int kind = (k == 2 ? 2 : 0) + (l == 2 ? 1 : 0);
    const int part = (k == 1 ? 2 : 0) + (l == 1 ? 1 : 0); // of none, by j, by i, both
    constexpr int place[4] = {1, 0, 2, 3};
    return first_row(kind) + place[part] * N - eta_begin(kind) + q;
  }

  /// Doubles of scratch that a team takes.
  static constexpr std::size_t scratch_doubles =
      std::size_t(slots * a_size + plane * eta_stride + zeta_rows * zeta_stride +
                  slots * xi_stride + warps * (192 + 16) + plane + 1 +
                  (folded ? plane / 4 + 1 : 0) + 16 + 16) +
      (c_in_memory ? 0 : std::size_t(c_size) + c_rows * sizeof(Place) / 8);
};

} // namespace ossatura::detail
