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

/// In its place in the program, behind the products before it.
__device__ inline double2 load_from_l2(const double2* from) {
  double2 x;
  asm volatile("ld.global.cg.v2.f64 {%0,%1}, [%2];" : "=d"(x.x), "=d"(x.y) : "l"(from));
  return x;
}

template<int P>
struct ChainedFirstSums {
  using Layout = ChainedLayout<P>;
  static constexpr int N = P + 1;
  static constexpr bool by_row = Layout::by_row, has_tail = Layout::has_tail;
  static constexpr int tiles_at_once = Layout::tiles_at_once;
  static constexpr int a_size = Layout::a_size, c_stride = Layout::c_stride,
                       filled = Layout::filled;
  static constexpr int tiles = Layout::c_rows / 16, fetched = 3;
  static constexpr int chunk = (tiles + Layout::warps - 1) / Layout::warps; ///< of a warp
  static constexpr int slot_stride = Layout::xi_stride;
  static_assert(by_row || !Layout::c_in_memory, "columns of products of C in memory are slots");

  ArrayPointer<const typename Layout::Place>
      place; ///< [c_rows] in A: of a row of C, and mirrored << 16

  /// Tiles of C under way from memory, in two batches: one is used while the other is read.
  struct Fetched {
    double a[2][fetched][filled / 2];
    std::uint32_t place[2][fetched][2];
  };

  /// What a warp can read before C's readers and writers have met: nothing where C is in scratch.
  __device__ void begin(const ChainedScratch<P>& at, int warp, int lane, Fetched& to) const {
    if constexpr (Layout::c_in_memory) {
      fetch<0>(at, warp * chunk, lane, to);
      fetch<1>(at, warp * chunk + fetched, lane, to);
    }
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
  /// Some tiles from `first` on.
  template<int Batch>
  __device__ void fetch(const ChainedScratch<P>& at, int first, int lane, Fetched& to) const {
#pragma unroll
    for (int u = 0; u < fetched; ++u) {
      const int m = 16 * (first + u < tiles ? first + u : tiles - 1);
      fetch_coefficients(at, m, lane, to.a[Batch][u]);
#pragma unroll
      for (int r = 0; r < 2; ++r)
        to.place[Batch][u][r] = place(m + lane / 4 + 8 * r);
    }
  }

  /// Tables of a lane's slot, for the kind of the tile.
  struct Tables {
    const double* of_slot; ///< 0: there is none
    int kind;
    double b[filled / 4];

    __device__ void turn_to(int tile) {
      const int needed = 16 * tile < Layout::kind_begin(1)   ? 2
                         : 16 * tile < Layout::kind_begin(2) ? 1
                         : 16 * tile < Layout::kind_begin(3) ? 0
                                                             : 3;
      if (needed == kind)
        return;
      kind = needed;
#pragma unroll
      for (int four = 0; four < filled / 4; ++four)
        b[four] = of_slot != nullptr ? of_slot[filled * kind + 4 * four] : 0;
    }
  };

  /// Tiles first .. end - 1, a batch of them at most, while those behind the other batch are read.
  template<int Batch>
  __device__ void sum_batch(const ChainedScratch<P>& at, int first, int end, int num_slots,
                            int lane, Tables& tables, Fetched& now) const {
    const int t = lane % 4;
    double* const to = at.a() + 2 * t * a_size;
    double x[fetched][4] = {};
    std::uint32_t place_of[fetched][2];
#pragma unroll
    for (int u = 0; u < fetched; ++u) {
      if (first + u < end) {
        tables.turn_to(first + u);
        multiply(now.a[Batch][u], tables.b, x[u]);
      }
      place_of[u][0] = now.place[Batch][u][0];
      place_of[u][1] = now.place[Batch][u][1];
    }
    if (first + 2 * fetched < end)
      fetch<Batch>(at, first + 2 * fetched, lane, now);
#pragma unroll
    for (int u = 0; u < fetched; ++u)
      if (first + u < end)
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          if (2 * t < num_slots)
            to[place_of[u][r]] = x[u][2 * r];
          if (2 * t + 1 < num_slots)
            to[a_size + place_of[u][r]] = x[u][2 * r + 1];
        }
  }

  __device__ void sum_from_memory(const ChainedScratch<P>& at, int num_slots, int warp, int lane,
                                  Fetched& now) const {
    const int g = lane / 4, end = (warp + 1) * chunk < tiles ? (warp + 1) * chunk : tiles;
    Tables tables{g < num_slots ? at.xi() + slot_stride * g + lane % 4 : nullptr, -1, {}};
    for (int first = warp * chunk; first < end; first += 2 * fetched) {
      sum_batch<0>(at, first, end, num_slots, lane, tables, now);
      sum_batch<1>(at, first + fetched, end, num_slots, lane, tables, now);
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
        at.xi() + slot_stride * (slot < num_slots ? slot : 0) + filled * kind + t;
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
        const double2 both = load_from_l2(from + 8 * (4 * four + t < N ? 4 * four + t : 0));
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
