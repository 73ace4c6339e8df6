// SPDX-License-Identifier: Apache-2.0
// Items of chained products (kernels/pfem/stiffness/chained_products.hpp): a warp forms the entries
// of up to 16 pairs of second indices, and stores them.
#pragma once

#include <ossatura/kernels/pfem/matrix_storage.hpp>
#include <ossatura/kernels/pfem/stiffness/chained_scratch.hpp>
#include <ossatura/kernels/pfem/stiffness/chained_sums.hpp>

namespace ossatura::detail {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)

template<int P>
struct ChainedItems {
  using Layout = ChainedLayout<P>;
  static constexpr int N = P + 1, plane = N * N;

  StiffnessOutput output;
  ArrayPointer<const ChainedItem> item;
  ArrayPointer<const ChainedPair> pair;
  ArrayPointer<const ChainedTile> tile;
  int zero; ///< 0, which the compiler does not know

  /// The entries (c, 0 .. 2) of the pairs of second indices of an item.
  __device__ void form(const ChainedScratch<P>& at, int number, int c,
                       const volatile ChainedTurn& turn, int lane) const {
    const int g = lane / 4, t = lane % 4;
    const ChainedItem& now = item(number);
    const double *const row0 = at.eta() + now.row[g] * int(Layout::eta_stride) + t,
                        *const row1 = at.eta() + now.row[g + 8] * int(Layout::eta_stride) + t;
    const double* const a_of = at.a() + now.slot * int(Layout::a_size) + t * int(Layout::a_stride) +
                               (Layout::by_row ? 0 : 3 * N * c) + g;
    const int first_tile = now.first_tile, num_tiles = now.num_tiles, num_pairs = now.num_pairs;
    if (lane < 16)
      at.pair()[lane] = pair(16 * number + lane).from_row(c);
    const ChainedSums<P> s(row0, row1, a_of, lane, zero);
    const auto* const tiles = reinterpret_cast<const uint2*>(&tile(first_tile));
    uint2 rows = tiles[0];
    for (int n = 0; n < num_tiles; ++n) {
      const uint2 next = tiles[n + 1 < num_tiles ? n + 1 : n];
      const int row = int(__byte_perm(rows.x, rows.y, unsigned(g)) & 0xff);
      const int folded = Layout::folded ? at.folded_row()[row] : 0;
      const double* const table =
          at.zeta() + 2 * t +
          (Layout::folded ? folded / 2 : (row < plane ? row : 0) * int(Layout::zeta_stride));
      const unsigned numbers = at.numbers()[lane];
      ChainedEntry entry[3]; // of numbers 32 apart
      int pair_of[3];
#pragma unroll
      for (int k = 0; k < 3; ++k) {
        const unsigned number = numbers >> 8 * k;
        entry[k] =
            at.third()[__byte_perm(rows.x, rows.y, number & 7) & 0xff].column(int(number >> 3 & 3));
        pair_of[k] = int(number >> 5 & 3);
      }
      double x[3][4] = {};
      s.add_third(table, folded & 1, x);
      store_tile(at, x, entry, pair_of, num_pairs, turn, lane);
      rows = next;
    }
  }

  /// Of the numbers lane, lane + 32 and lane + 64 of four times 8 third pairs by 3: which third
  /// pair, column and pair that is, 3, 2 and 2 bits of a byte each.
  __device__ static unsigned numbers_of(int lane) {
    unsigned numbers = 0;
    for (int k = 0; k < 3; ++k) {
      const int number = lane + 32 * k, in_row = number % 24;
      numbers |= unsigned(in_row / 3 | in_row % 3 << 3 | number / 24 << 5) << 8 * k;
    }
    return numbers;
  }

  /// Through scratch: a lane has six numbers side by side, runs are as long as third indices go.
  __device__ void store_tile(const ChainedScratch<P>& at, const double (&x)[3][4],
                             const ChainedEntry (&entry)[3], const int (&pair_of)[3], int num_pairs,
                             const volatile ChainedTurn& turn, int lane) const {
    double* const matrix = output.matrix.data + turn.matrix * output.entries;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (8 * half >= num_pairs)
        break;
      auto* const stage = reinterpret_cast<double2*>(at.stage()) + 3 * lane;
      stage[0] = make_double2(x[0][2 * half], x[1][2 * half]);
      stage[1] = make_double2(x[2][2 * half], x[0][2 * half + 1]);
      stage[2] = make_double2(x[1][2 * half + 1], x[2][2 * half + 1]);
      __syncwarp();
#pragma unroll
      for (int part = 0; part < 2; ++part) {
        double value[3];
        ChainedPair of[3];
#pragma unroll
        for (int k = 0; k < 3; ++k) {
          of[k] = at.pair()[8 * half + 4 * part + pair_of[k]];
          value[k] = at.stage()[96 * part + 32 * k + lane];
        }
        if (output.packed) {
#pragma unroll
          for (int k = 0; k < 3; ++k) {
            double* const to = matrix + entry[k].place(of[k]);
            if (entry[k].is_in(of[k])) {
              if constexpr (Layout::c_in_memory)
                __stcs(to, value[k]); // C is to stay in the cache instead
              else
                *to = value[k];
            }
          }
        } else {
#pragma unroll
          for (int k = 0; k < 3; ++k)
            if (entry[k].is_in(of[k]))
              store_both(matrix, entry[k].row(of[k]), entry[k].column_of(of[k]), value[k]);
        }
      }
      __syncwarp();
    }
  }

  __device__ void store_both(double* to, int i, int j, double x) const {
    to[i * output.num_dofs + j] = x;
    to[j * output.num_dofs + i] = x;
  }
};

#endif

} // namespace ossatura::detail
