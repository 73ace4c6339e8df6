// SPDX-License-Identifier: Apache-2.0
// Solves a dense system by all of a device: Gauss-Jordan elimination, 32 columns at a time, without
// exchanges of rows, for matrices whose pivots are about 1. A block of columns takes two launches:
// one scales its rows, for which each team inverts the block at the diagonal for itself, and one
// takes them out of all others.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/core/parallel/wide_teams.hpp>

#include <cstddef>
#include <cstdint>

namespace ossatura::detail {

/// A system [rows, stride], the right-hand side in column `rows`, and the block of columns at work.
struct EliminationStep {
  static constexpr int size = 32; ///< of the block at most
  static constexpr int tile = 32; ///< columns and rows that a team has
  static constexpr double least = 1e-12;
  ArrayPointer<double> matrix;
  int rows, stride;
  int first, width; ///< of the block

  KOKKOS_FORCEINLINE_FUNCTION double& at(int i, int j) const {
    return matrix.data[std::int64_t(i) * stride + j];
  }
  KOKKOS_FUNCTION int behind() const { return first + width; }
  KOKKOS_FUNCTION int num_columns() const { return rows + 1 - behind(); }
};

/// The rows of the block, behind it, times the inverse of the block. A team has `tile` columns.
/// Pivots below `least` are those of rows that others make up already: no change comes of these.
struct ScalePivotRows {
  static constexpr int max_threads = 256, min_teams = 2;
  static constexpr int size = EliminationStep::size, tile = EliminationStep::tile;
  static constexpr std::size_t scratch = (size * size + size * tile) * sizeof(double);
  EliminationStep s;

  /// The block `a` [size, size] becomes its inverse.
  KOKKOS_FORCEINLINE_FUNCTION static void invert(const WideTeam& team, double* a) {
#if defined(__CUDA_ARCH__)
    // A warp has it in registers, a column a lane: in team memory the team would meet 32 times, and
    // wait longer. Rows move up by one with each pivot, so that it is always in the first register.
    const int lane = team.rank;
    if (lane < size) {
      constexpr unsigned all = 0xffffffffu;
      double column[size];
#pragma unroll
      for (int i = 0; i < size; ++i)
        column[i] = a[i * size + lane];
#pragma unroll 1
      for (int p = 0; p < size; ++p) {
        const double scale = inverse_of(__shfl_sync(all, column[0], p));
        const double scaled = (lane == p ? 1 : column[0]) * scale;
#pragma unroll
        for (int i = 1; i < size; ++i)
          column[i - 1] = (lane == p ? 0 : column[i]) - __shfl_sync(all, column[i], p) * scaled;
        column[size - 1] = scaled;
      }
#pragma unroll
      for (int i = 0; i < size; ++i)
        a[i * size + lane] = column[i];
    }
#else
    for (int p = 0; p < size; ++p) {
      const double scale = inverse_of(a[p * size + p]);
      a[p * size + p] = 1;
      for (int j = 0; j < size; ++j)
        a[p * size + j] *= scale;
      for (int i = 0; i < size; ++i) {
        if (i == p)
          continue;
        const double factor = a[i * size + p];
        a[i * size + p] = 0;
        for (int j = 0; j < size; ++j)
          a[i * size + j] -= factor * a[p * size + j];
      }
    }
#endif
    team.barrier();
  }

  KOKKOS_FORCEINLINE_FUNCTION static double inverse_of(double pivot) {
    constexpr double least = EliminationStep::least;
    return pivot > least || pivot < -least ? 1 / pivot : 0;
  }

  KOKKOS_FUNCTION void operator()(const WideTeam& team) const {
    double* const a = team.scratch;
    double* const old = a + size * size;
    const int begin = s.behind() + int(team.league_rank) * tile;
    const auto block_entry = [&](int k) {
      const int i = k / size, j = k % size;
      return i < s.width && j < s.width ? s.at(s.first + i, s.first + j) : double(i == j);
    };
    const auto entry_behind = [&](int kj) {
      const int k = kj / tile, j = begin + kj % tile;
      return k < s.width && j <= s.rows ? s.at(s.first + k, j) : 0;
    };
    team.template transfer<4>(size * size, block_entry, [&](int k, double entry) { a[k] = entry; });
    team.template transfer<4>(size * tile, entry_behind,
                              [&](int kj, double entry) { old[kj] = entry; });
    team.barrier();
    invert(team, a);
    constexpr int together = 4; // rows of a thread, in one column
    team.each(size / together * tile, [&](int part) {
      const int i = part / tile * together, j = part % tile;
      double sum[together] = {};
      for (int k = 0; k < int(size); ++k)
        for (int r = 0; r < int(together); ++r)
          sum[r] += a[(i + r) * size + k] * old[k * tile + j];
      for (int r = 0; r < int(together); ++r)
        if (i + r < s.width && begin + j <= s.rows)
          s.at(s.first + i + r, begin + j) = sum[r];
    });
  }
};

/// Takes the rows of the block out of others, in the columns behind it. A team has a tile.
struct TakeOutPivotRows {
  static constexpr int max_threads = 256, min_teams = 2;
  static constexpr int size = EliminationStep::size, tile = EliminationStep::tile;
  static constexpr std::size_t scratch = 2 * size * tile * sizeof(double);
  EliminationStep s;

  KOKKOS_FUNCTION void operator()(const WideTeam& team) const {
    constexpr int side = 16, each = tile / side;
    double *const left = team.scratch, *const right = left + size * tile;
    const int across = (s.num_columns() + tile - 1) / tile;
    const int row = int(team.league_rank) / across * tile,
              column = s.behind() + int(team.league_rank) % across * tile;
    const auto left_entry = [&](int ik) { // along rows, as memory has them
      const int i = row + ik / size, k = ik % size;
      return i < s.rows && k < s.width ? s.at(i, s.first + k) : 0;
    };
    const auto right_entry = [&](int kj) {
      const int k = kj / tile, j = column + kj % tile;
      return k < s.width && j <= s.rows ? s.at(s.first + k, j) : 0;
    };
    team.template transfer<4>(size * tile, left_entry, [&](int ik, double entry) {
      const int k = ik % size;
      left[k * tile + (ik / size ^ k)] = entry; // in different banks
    });
    team.template transfer<4>(size * tile, right_entry,
                              [&](int kj, double entry) { right[kj] = entry; });
    team.barrier();
    team.each(side * side, [&](int thread) {
      const auto is_own = [&](int i, int j) {
        return i < s.rows && (i < s.first || i >= s.behind()) && j <= s.rows;
      };
      const int my_row = thread / side, my_column = thread % side;
      double sum[each][each];
      for (int r = 0; r < int(each); ++r)
        for (int c = 0; c < int(each); ++c) {
          const int i = row + my_row + side * r, j = column + my_column + side * c;
          sum[r][c] = is_own(i, j) ? s.at(i, j) : 0;
        }
      for (int k = 0; k < int(size); ++k) {
        double l[each], r[each];
        for (int c = 0; c < int(each); ++c) {
          l[c] = left[k * tile + ((my_row + side * c) ^ k)];
          r[c] = right[k * tile + my_column + side * c];
        }
        for (int i = 0; i < int(each); ++i)
          for (int j = 0; j < int(each); ++j)
            sum[i][j] -= l[i] * r[j];
      }
      for (int r = 0; r < int(each); ++r)
        for (int c = 0; c < int(each); ++c) {
          const int i = row + my_row + side * r, j = column + my_column + side * c;
          if (is_own(i, j))
            s.at(i, j) = sum[r][c];
        }
    });
  }
};

/// The solution of a system [rows, stride] whose right-hand side is in column `rows` is there
/// afterwards; the rest is lost. Does not fence.
template<class Exec>
void eliminate(const Exec& exec, const Array<double, Exec>& matrix, int rows, int stride) {
  using Step = EliminationStep;
  for (int first = 0; first < rows; first += Step::size) {
    const int width = rows - first < int(Step::size) ? rows - first : int(Step::size);
    const Step step{matrix, rows, stride, first, width};
    const int across = (step.num_columns() + Step::tile - 1) / Step::tile,
              down = (rows + Step::tile - 1) / Step::tile;
    launch_wide_teams("ossatura::eliminate::scale", exec, across, ScalePivotRows::max_threads,
                      ScalePivotRows::scratch, ScalePivotRows{step});
    launch_wide_teams("ossatura::eliminate::take_out", exec, across * down,
                      TakeOutPivotRows::max_threads, TakeOutPivotRows::scratch,
                      TakeOutPivotRows{step});
  }
}

} // namespace ossatura::detail
