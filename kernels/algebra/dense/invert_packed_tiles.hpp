// SPDX-License-Identifier: Apache-2.0
// invert_packed_tiles inverts symmetric positive definite matrices of many rows, stored as packed
// lower triangles, in place, on devices, by the sweep operator (inverse.hpp explains the method).
//
// A team has a matrix, which it reads and writes once for 64 pivots, in tiles of 64 rows and
// columns, of which a thread has 16 entries in registers. The panel of the pivots and its product
// with their inverse are in memory; of these, the rows of a tile are brought to the chip once for
// all tiles beside each other, the columns in pieces, while the pieces before are at work.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/core/parallel/async_copy.hpp>
#include <ossatura/core/parallel/wide_teams.hpp>
#include <ossatura/kernels/algebra/dense/inverse.hpp>
#include <ossatura/kernels/algebra/dense/packed_sweep.hpp>

#include <cstdint>

namespace ossatura::detail {

/// `Items`: size and matrix as of MultiplyPacked.
template<class Exec, class Items>
struct InvertPackedTiles {
  static constexpr int max_threads = 256, min_teams = 2;
  static constexpr int side = 16; ///< threads along a side of a tile
  static constexpr int each = 4;
  static constexpr int tile = side * each;
  static constexpr int width = tile;
  static constexpr int pieces = 4; ///< of the pivots
  static constexpr int depth = width / pieces;
  Items items;
  ArrayPointer<double> value;
  ArrayPointer<double> space; ///< [teams, far_doubles]
  double threshold;
  std::int64_t num_items;
  int most_rows;

  /// Rows of a matrix in whole tiles.
  KOKKOS_FUNCTION static int stride_of(int n) { return (n + tile - 1) / tile * tile; }
  /// Doubles on the chip: the block of the pivots, what a tile's rows and columns have of panel and
  /// product, and two rows of the block.
  static constexpr int near_doubles = 3 * width * tile + 2 * width;
  /// Doubles elsewhere: the panel [width, stride], the product [width, stride] and the diagonal.
  KOKKOS_FUNCTION static std::int64_t far_doubles(int n) {
    return 2 * std::int64_t(width) * stride_of(n) + stride_of(n);
  }

  /// Panel and product have the columns of a tile in this order: a thread reads four, in pairs, and
  /// threads beside each other have columns of the matrix beside each other.
  KOKKOS_FORCEINLINE_FUNCTION static int place_of(int column) {
    const int thread = column % side, c = column / side;
    return c / 2 * 2 * side + 2 * thread + c % 2;
  }
  KOKKOS_FORCEINLINE_FUNCTION static int column_at(int place) {
    return place % (2 * side) / 2 + side * (place / (2 * side) * 2 + place % 2);
  }
  /// Of a thread's entries of a tile.
  KOKKOS_FORCEINLINE_FUNCTION static int row_of(int thread, int r) {
    return column_at(thread / side * each + r);
  }
  KOKKOS_FORCEINLINE_FUNCTION static int column_of(int thread, int c) {
    return thread % side + side * c;
  }
  KOKKOS_FORCEINLINE_FUNCTION static int place_of_pair(int thread, int pair) {
    return pair * 2 * side + 2 * (thread % side);
  }

  struct alignas(16) Pair {
    double of[2];
  };
  using Entries = double[each][each];

  struct Sweep {
    double* a;
    double *block, *rows, *columns, *row; ///< near
    double *panel, *scaled, *diagonal;    ///< far
    int n, stride;
    int first, used; ///< pivots

    KOKKOS_FORCEINLINE_FUNCTION bool is_pivot(int i) const {
      return i >= first && i < first + used;
    }
  };

  /// near [count, tile] = the columns from .. from + tile - 1 of far; started only.
  KOKKOS_FORCEINLINE_FUNCTION static void fetch(const WideTeam& team, const double* far, int stride,
                                                int from, int count, double* near) {
    team.each(count * tile / 2, [&](int at) {
      const int k = at / (tile / 2), j = at % (tile / 2) * 2;
      start_copy(reinterpret_cast<Pair*>(near + k * tile + j),
                 reinterpret_cast<const Pair*>(far + std::int64_t(k) * stride + from + j), true);
    });
  }

  /// sum += rows^T columns of a piece, of a thread.
  KOKKOS_FORCEINLINE_FUNCTION static void multiply(int thread, const double* rows,
                                                   const double* columns, Entries& sum) {
    static_assert(each == 4, "a thread has two pairs of rows and of columns");
    const Pair* left = reinterpret_cast<const Pair*>(rows + thread / side * each);
    const Pair* right = reinterpret_cast<const Pair*>(columns + place_of_pair(thread, 0));
#if defined(__CUDA_ARCH__)
#pragma unroll 2
#endif
    for (int k = 0; k < int(depth); ++k, left += tile / 2, right += tile / 2) {
      const Pair l[2] = {left[0], left[1]}, r[2] = {right[0], right[side]};
      for (int i = 0; i < int(each); ++i)
        for (int j = 0; j < int(each); ++j)
          sum[i][j] += l[i / 2].of[i % 2] * r[j / 2].of[j % 2];
    }
  }

  /// rows^T far, tile after tile of far's columns up to `end`. With an entry of a thread
  ///   tiles.begin(thread, column, entry)      before the last piece of a tile is at work
  ///   tiles.end(thread, column, entry, sum)   then
  /// The team meets before it returns.
  template<class Tiles>
  KOKKOS_FORCEINLINE_FUNCTION static void multiply_tiles(const WideTeam& team, const Sweep& s,
                                                         const double* rows, const double* far,
                                                         int end, const Tiles& tiles) {
    const int count = end / tile * pieces;
    const auto start = [&](int piece) {
      if (piece < count)
        fetch(team, far + std::int64_t(piece % pieces) * depth * s.stride, s.stride,
              piece / pieces * tile, depth, s.columns + piece % pieces * depth * tile);
      commit_copies();
    };
    for (int thread = team.rank; thread < int(max_threads); thread += team.size) {
      for (int piece = 0; piece < pieces - 1; ++piece)
        start(piece);
      Entries entry, sum;
      for (int piece = 0; piece < count; ++piece) {
        wait_for_copies<pieces - 2>();
        team.barrier(); // all have the piece, and are done with the one before it
        start(piece + pieces - 1);
        const int k = piece % pieces;
        if (k == 0)
          for (int r = 0; r < int(each); ++r)
            for (int c = 0; c < int(each); ++c)
              sum[r][c] = 0;
        if (k == pieces - 1)
          tiles.begin(thread, piece / pieces * tile, entry);
        multiply(thread, rows + k * depth * tile, s.columns + k * depth * tile, sum);
        if (k == pieces - 1)
          tiles.end(thread, piece / pieces * tile, entry, sum);
      }
      team.barrier();
    }
  }

  /// scaled = the inverse of the pivots times the panel; the block, symmetric, is minus that.
  struct ScaleTiles {
    const Sweep& s;

    KOKKOS_FORCEINLINE_FUNCTION void begin(int, int, Entries&) const {}
    KOKKOS_FORCEINLINE_FUNCTION void end(int thread, int column, const Entries&,
                                         const Entries& sum) const {
      for (int r = 0; r < int(each); ++r)
        for (int pair = 0; pair < each / 2; ++pair) {
          double* const to = s.scaled + std::int64_t(thread / side * each + r) * s.stride + column +
                             place_of_pair(thread, pair);
          *reinterpret_cast<Pair*>(to) = Pair{{-sum[r][2 * pair], -sum[r][2 * pair + 1]}};
        }
    }
  };

  /// Tiles of the matrix from `row` on without their part along the pivots, whose own rows and
  /// columns stay.
  struct UpdateTiles {
    const Sweep& s;
    int row;

    KOKKOS_FORCEINLINE_FUNCTION void begin(int thread, int column, Entries& entry) const {
      for (int r = 0; r < int(each); ++r) {
        const int i = row + row_of(thread, r);
        const double* const from = s.a + packed_place(i, 0) + column;
        for (int c = 0; c < int(each); ++c) {
          const int j = column_of(thread, c);
          entry[r][c] = i < s.n && column + j <= i ? from[j] : 0;
        }
      }
    }
    KOKKOS_FORCEINLINE_FUNCTION void end(int thread, int column, const Entries& entry,
                                         const Entries& sum) const {
      for (int r = 0; r < int(each); ++r) {
        const int i = row + row_of(thread, r);
        if (i >= s.n || s.is_pivot(i))
          continue;
        double* const to = s.a + packed_place(i, 0) + column;
        for (int c = 0; c < int(each); ++c) {
          const int j = column_of(thread, c);
          if (column + j <= i && !s.is_pivot(column + j))
            to[j] = entry[r][c] - sum[r][c];
        }
      }
    }
  };

  /// body(k, j, place) of the pivots and all columns, `place` of the latter in panel and product. A
  /// warp has 8 pivots by 4 columns, so that most of what it reads and writes are whole sectors,
  /// whichever way the matrix has them.
  template<class Body>
  KOKKOS_FORCEINLINE_FUNCTION static void each_of_panel(const WideTeam& team, const Sweep& s,
                                                        const Body& body) {
    for (int from = 0; from < s.stride; from += tile)
      team.each(width * tile, [&](int at) {
        const int k = at % 8 + at / 256 % 8 * 8, place = at / 8 % 32 + at / 2048 * 32;
        body(k, from + column_at(place), std::int64_t(k) * s.stride + from + place);
      });
  }

  /// The rows of the pivots, zeros where there are none, and their block, whose columns are in the
  /// order of the matrix and whose rows are those of a panel's.
  KOKKOS_FUNCTION static void load(const WideTeam& team, const Sweep& s) {
    each_of_panel(team, s, [&](int k, int j, std::int64_t place) {
      const double entry = k < s.used && j < s.n ? s.a[packed_place(s.first + k, j)] : 0;
      s.panel[place] = entry;
      const int l = j - s.first;
      if (l >= 0 && l < int(width))
        s.block[k * width + l] = entry;
    });
  }

  /// What the rows and columns of the pivots become.
  KOKKOS_FUNCTION static void store(const WideTeam& team, const Sweep& s) {
    each_of_panel(team, s, [&](int k, int j, std::int64_t place) {
      const int l = j - s.first;
      const bool in_block = s.is_pivot(j);
      if (k < s.used && j < s.n && !(in_block && l > k))
        s.a[packed_place(s.first + k, j)] = in_block ? s.block[k * width + l] : s.scaled[place];
    });
  }

  KOKKOS_FUNCTION void sweep(const WideTeam& team, Sweep& s) const {
    team.each(s.n, [&](int i) { s.diagonal[i] = s.a[packed_place(i, i)]; });
    for (s.first = 0; s.first < s.n; s.first += width) {
      s.used = s.n - s.first < int(width) ? s.n - s.first : int(width);
      load(team, s);
      team.barrier();
      sweep_block(team, width, s.used, threshold, s.diagonal + s.first, s.block, s.row);
      multiply_tiles(team, s, s.block, s.panel, s.stride, ScaleTiles{s});
      for (int row = 0; row < s.n; row += tile) {
        fetch(team, s.panel, s.stride, row, width, s.rows);
        multiply_tiles(team, s, s.rows, s.scaled, row + tile, UpdateTiles{s, row});
      }
      store(team, s);
      team.barrier();
    }
    const std::int64_t entries = packed_place(s.n, 0);
    for (std::int64_t k = team.rank; k < entries; k += team.size)
      s.a[k] = -s.a[k];
    team.barrier();
  }

  KOKKOS_FUNCTION void operator()(const WideTeam& team) const {
    Sweep s;
    s.block = team.scratch;
    s.rows = s.block + width * width;
    s.columns = s.rows + width * tile;
    s.row = s.columns + width * tile;
    s.panel = space.data + team.league_rank * far_doubles(most_rows);
    s.scaled = s.panel + std::int64_t(width) * stride_of(most_rows);
    s.diagonal = s.scaled + std::int64_t(width) * stride_of(most_rows);
    for (std::int64_t item = team.league_rank; item < num_items; item += team.league_size) {
      s.n = items.size(item);
      s.stride = stride_of(s.n);
      s.a = value.data + items.matrix(item);
      sweep(team, s);
    }
  }
};

/// As invert_packed, whose arguments these are. Allocates a panel and its product for each team
/// that runs at once, 1 MB at 909 rows. Does not fence.
template<class Exec, class Items>
void invert_packed_tiles(const Exec& exec, const Items& items, std::int64_t num_items,
                         int most_rows, const Array<double, Exec>& value, double threshold) {
  using Tiles = InvertPackedTiles<Exec, Items>;
  const std::int64_t most_teams = wide_team_concurrency(exec, Tiles::min_teams),
                     teams = num_items < most_teams ? num_items : most_teams;
  const auto space = make_uninitialized<double>(exec, teams * Tiles::far_doubles(most_rows),
                                                "ossatura::invert_packed::panels");
  launch_wide_teams("ossatura::invert_packed", exec, teams, Tiles::max_threads,
                    Tiles::near_doubles * sizeof(double),
                    Tiles{items, value, space, threshold, num_items, most_rows});
}

} // namespace ossatura::detail
