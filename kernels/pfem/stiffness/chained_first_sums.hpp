// SPDX-License-Identifier: Apache-2.0
// The first of chained products (kernels/pfem/stiffness/chained_products.hpp), along xi: of all
// rows of C, the sums for the pairs of first indices of a pass, into A.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/pfem/stiffness/chained_scratch.hpp>
#include <ossatura/kernels/pfem/stiffness/matrix_instructions.hpp>

#include <cstdint>

namespace ossatura::detail {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)

template<int P>
struct ChainedFirstSums {
  using Layout = ChainedLayout<P>;
  static constexpr int N = P + 1;
  static constexpr bool by_row = Layout::by_row, has_tail = Layout::has_tail;
  static constexpr int tiles_at_once = Layout::tiles_at_once;
  static constexpr int a_size = Layout::a_size, c_stride = Layout::c_stride,
                       filled = Layout::filled;
  static constexpr int tiles = Layout::c_rows / 16, fetched = 4;
  static_assert(by_row || !Layout::c_in_memory, "columns of products of C in memory are slots");

  ArrayPointer<const typename Layout::Place>
      place; ///< [c_rows] in A: of a row of C, and mirrored << 16

  /// Tiles of C under way from memory: of a warp those first, first + warps and so on.
  struct Fetched {
    double a[fetched][filled / 2];
    std::uint32_t place[fetched][2];
  };

  __device__ void fetch(const ChainedScratch<P>& at, int first, int lane, Fetched& to) const {
#pragma unroll
    for (int u = 0; u < fetched; ++u) {
      const int tile = first + u * Layout::warps, m = 16 * (tile < tiles ? tile : tiles - 1);
#pragma unroll
      for (int r = 0; r < 2; ++r)
        to.place[u][r] = place(m + lane / 4 + 8 * r);
      fetch_coefficients(at, m, lane, to.a[u]);
    }
  }

  /// What a warp can read before C's readers and writers have met: nothing where C is in scratch.
  __device__ void begin(const ChainedScratch<P>& at, int warp, int lane, Fetched& to) const {
    if constexpr (Layout::c_in_memory)
      fetch(at, warp, lane, to);
  }

  /// By a warp: its share of the sums of a pass, of which it has begun to read `now`.
  __device__ void sum(const ChainedScratch<P>& at, int num_slots, int warp, int lane,
                      Fetched& now) const {
    if constexpr (Layout::c_in_memory)
      sum_from_memory(at, num_slots, warp, lane, now);
    else
      for (int group = warp; group < Layout::num_groups(tiles_at_once); group += Layout::warps)
        sum_first_group<0>(at, group, num_slots, lane);
  }

private:
  /// Some tiles while those behind them are read.
  __device__ void sum_from_memory(const ChainedScratch<P>& at, int num_slots, int warp, int lane,
                                  Fetched& now) const {
    const int g = lane / 4, t = lane % 4;
    const double* const table = at.xi() + 4 * filled * (g < num_slots ? g : 0) + t;
    double* const to = at.a() + 2 * t * a_size;
#pragma unroll 2
    for (int first = warp; first < tiles; first += fetched * Layout::warps) {
      Fetched next = {};
      if (first + fetched * Layout::warps < tiles)
        fetch(at, first + fetched * Layout::warps, lane, next);
#pragma unroll
      for (int u = 0; u < fetched; ++u) {
        const int tile = first + u * Layout::warps, m = 16 * tile;
        if (tile >= tiles)
          break;
        const int kind = m < Layout::kind_begin(1)   ? 2
                         : m < Layout::kind_begin(2) ? 1
                         : m < Layout::kind_begin(3) ? 0
                                                     : 3;
        double x[4] = {}, b[filled / 4];
#pragma unroll
        for (int four = 0; four < filled / 4; ++four)
          b[four] = g < num_slots ? table[filled * kind + 4 * four] : 0;
        multiply(now.a[u], b, x);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          if (2 * t < num_slots)
            to[now.place[u][r]] = x[2 * r];
          if (2 * t + 1 < num_slots)
            to[a_size + now.place[u][r]] = x[2 * r + 1];
        }
      }
      now = next;
    }
  }

  __device__ static void multiply(const double (&a)[filled / 2], const double (&b)[filled / 4],
                                  double (&x)[4]) {
    if constexpr (N > 4)
      multiply_16x8x8(a[0], a[1], a[2], a[3], b[0], b[1], x);
    else
      multiply_16x8x4(a[0], a[1], b[0], x);
    if constexpr (N > 8)
      multiply_16x8x4(a[4], a[5], b[2], x);
  }

  /// Sums along xi of some tiles of 16 rows of C, by the kind of their tables. Columns are (slot,
  /// side) of mixed products, whose sides are different sums, and slots twice of the others, whose
  /// mirror image the other lanes store; slots alone where components come row by row.
  template<int Kind>
  __device__ void sum_first(const ChainedScratch<P>& at, int first, int end, int num_slots,
                            int lane) const {
    const int g = lane / 4, t = lane % 4;
    constexpr bool is_mixed = !by_row && Kind == 0;
    constexpr int kinds_by_row[4] = {2, 1, 0, 3};
    const int slot = by_row     ? g
                     : is_mixed ? g / 2
                                : g % 4,
              kind = by_row      ? kinds_by_row[Kind]
                     : is_mixed  ? 2 - g % 2
                     : Kind == 1 ? 0
                                 : 3;
    const double* const table =
        at.xi() + 4 * filled * (slot < num_slots ? slot : 0) + filled * kind + t;
    double b[filled / 4];
#pragma unroll
    for (int four = 0; four < filled / 4; ++four)
      b[four] = slot < num_slots ? table[4 * four] : 0;
    double *const to0 = at.a() + (is_mixed ? t
                                  : by_row ? 2 * t
                                           : 2 * t % 4) *
                                     a_size,
                  *const to1 = is_mixed ? to0 : to0 + a_size;
    double x[tiles_at_once][4] = {}, a[tiles_at_once][filled / 2];
    std::uint32_t place_of[tiles_at_once][2];
#pragma unroll
    for (int u = 0; u < tiles_at_once; ++u) {
      const int m = 16 * (first + u < end ? first + u : end - 1);
#pragma unroll
      for (int r = 0; r < 2; ++r)
        place_of[u][r] = Layout::c_in_memory ? place(m + g + 8 * r) : at.place()[m + g + 8 * r];
      fetch_coefficients(at, m, lane, a[u]);
    }
#pragma unroll
    for (int u = 0; u < tiles_at_once; ++u)
      multiply(a[u], b, x[u]);
#pragma unroll
    for (int u = 0; u < tiles_at_once; ++u)
      if (first + u < end)
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          const std::uint32_t one = place_of[u][r] & 0xffff, mirrored = place_of[u][r] >> 16;
          if (!by_row || 2 * t < num_slots)
            to0[is_mixed || by_row || t < 2 ? one : mirrored] = x[u][2 * r];
          if (!by_row || 2 * t + 1 < num_slots)
            to1[by_row || (!is_mixed && t < 2) ? one : mirrored] = x[u][2 * r + 1];
        }
  }

  /// Of a tile of 16 rows of C, what the lane has of a left operand. Of points that there are not,
  /// others: their factors are 0.
  __device__ static void fetch_coefficients(const ChainedScratch<P>& at, int m, int lane,
                                            double (&a)[filled / 2]) {
    const int g = lane / 4, t = lane % 4;
    if constexpr (Layout::c_in_memory) {
      const auto* const from = reinterpret_cast<const double2*>(at.c() + m * N) + g;
#pragma unroll
      for (int four = 0; four < (N + 3) / 4; ++four) {
        const double2 both = __ldcg(from + 8 * (4 * four + t < N ? 4 * four + t : 0));
        a[2 * four] = both.x;
        a[2 * four + 1] = both.y;
      }
    } else {
      const int second = t + 4 < N ? 4 * int(c_stride) : 0;
      const double* const from = at.c() + m + (t < N ? t : 0) * int(c_stride) + g;
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        a[r] = from[8 * r];
        if constexpr (N > 4)
          a[2 + r] = from[second + 8 * r];
      }
    }
  }

  /// A group of tiles, of those of Kind and beyond.
  template<int Kind>
  __device__ void sum_first_group(const ChainedScratch<P>& at, int group, int num_slots,
                                  int lane) const {
    constexpr int begin = Layout::kind_begin(Kind) / 16, end = Layout::kind_begin(Kind + 1) / 16,
                  groups = (end - begin + tiles_at_once - 1) / tiles_at_once;
    if (group < groups)
      sum_first<Kind>(at, begin + group * tiles_at_once, end, num_slots, lane);
    else if constexpr (Kind + 1 < Layout::kinds)
      sum_first_group<Kind + 1>(at, group - groups, num_slots, lane);
  }
};

#endif

} // namespace ossatura::detail
