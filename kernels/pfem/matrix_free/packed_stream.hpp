// SPDX-License-Identifier: Apache-2.0
// The packed stream multiplies with packed symmetric matrices, one an element, on CUDA devices with
// bulk copies (core/parallel/bulk_copy.hpp). Rows of a packed triangle are contiguous, so a block
// of rows is one bulk copy, into a ring of places in team memory. A team has an element at a time,
// and as many teams as fit go through all of them; one warp fetches, ahead of the others by the
// ring, into the next element too, and the others multiply, each with columns of its own.
//
// Sums of columns stay in registers. Those of rows are of two kinds:
//   StreamByTiles  reads an entry twice, once with a lane for a column and once with a lane for a
//                  part of a row; each warp keeps its sums of all rows in team memory.
//   StreamByRows   reads an entry once and adds over the lanes; the warp that fetches adds what the
//                  others found when it gets their place of the ring back. Takes less memory, which
//                  many columns need, and more instructions, which few have no time for.
// Row i begins at i (i + 1) / 2, a permutation modulo any power of two: lanes that read down a
// column of rows meet no bank twice. Deterministic.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/core/parallel/bulk_copy.hpp>
#include <ossatura/core/parallel/warp_sum.hpp>
#include <ossatura/core/parallel/wide_teams.hpp>
#include <ossatura/kernels/pfem/matrix_free/signed_component.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)

namespace ossatura {

namespace detail {

/// What is multiplied. The matrices begin at a multiple of 16 bytes.
struct PackedElements {
  int n; ///< rows of a matrix
  std::int64_t num_elem;
  ArrayPointer<const double> matrix;   ///< [num_elem, n (n + 1) / 2]
  ArrayPointer<const int> signed_mode; ///< [num_elem, n / 3]
  ArrayPointer<const double> x;        ///< [num_modes, 3]
  ArrayPointer<double> y;              ///< [num_elem, n]

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t entries() const { return triangle(n); }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr std::int64_t triangle(std::int64_t rows) {
    return rows * (rows + 1) / 2;
  }
  /// n to whole warps.
  KOKKOS_FORCEINLINE_FUNCTION int padded() const { return (n + 31) / 32 * 32; }

  /// Doubles of a place for `rows` rows: copies begin and end at even entries of all matrices.
  std::int64_t place_doubles(int rows) const {
    std::int64_t most = 0;
    for (int row = 0; row < n; row += rows)
      most = std::max(most, triangle(std::min(n, row + rows)) - triangle(row));
    return (most + 3) / 2 * 2;
  }
};

#if OSSATURA_BULK_COPY

/// Where a warp is in the ring.
struct RingPlace {
  int place = 0, parity = 0;

  __device__ __forceinline__ void next(int places) {
    if (++place == places) {
      place = 0;
      parity ^= 1;
    }
  }
};

/// The part of x that element e sees, zero past the last column and past the last element.
template<int Threads>
__device__ __forceinline__ void gather_part(const PackedElements& of, std::int64_t e, int rank,
                                            double* to) {
  for (int i = rank; i < of.padded(); i += Threads)
    to[i] = i < of.n && e < of.num_elem
                ? signed_component(of.x.data, of.signed_mode(e * (of.n / 3) + i / 3), i % 3)
                : 0.0;
}

/// Fetches rows of element e, by one thread. A copy may take an entry of a neighbour along, but
/// none past the last matrix: that is stored by the thread itself, once, into a place that no copy
/// takes any more.
__device__ __forceinline__ void fetch_rows(const PackedElements& of, std::int64_t e, int row,
                                           int rows, double* to, TransferBarrier* full) {
  const std::int64_t matrix = e * of.entries(), all = of.num_elem * of.entries();
  const std::int64_t end = matrix + of.triangle(row + rows < of.n ? row + rows : of.n);
  const std::int64_t first = (matrix + of.triangle(row)) & ~std::int64_t(1);
  std::int64_t last = (end + 1) & ~std::int64_t(1);
  if (last > all) {
    last -= 2;
    to[end - 1 - first] = of.matrix(end - 1);
  }
  const int bytes = 8 * int(last - first);
  arrive_and_expect(full, bytes);
  start_bulk_copy(to, of.matrix.data + first, bytes, full);
}

/// The first entry of those rows in their place.
__device__ __forceinline__ const double* fetched(const PackedElements& of, std::int64_t e, int row,
                                                 const double* place) {
  return place + ((e * of.entries() + of.triangle(row)) & 1);
}

#endif

/// Rows of a fetch; warps that multiply, 32 columns each; places of the ring; teams of a
/// multiprocessor. n is at most 32 Warps.
template<int Rows, int Warps, int Places, int Teams>
struct StreamByTiles {
  static_assert(Rows == 8 || Rows == 16 || Rows == 32, "lanes have parts of rows");
  static constexpr int max_threads = 32 * (Warps + 1), min_teams = Teams;
  static constexpr int most_columns = 32 * Warps;

  PackedElements of;
  int place_doubles;

  explicit StreamByTiles(const PackedElements& elements)
      : of(elements)
      , place_doubles(int(elements.place_doubles(Rows))) {}

  /// Barriers, 16 words; the ring; x of this element and the next; sums of rows of each warp.
  std::size_t scratch_bytes() const {
    return 8 * (16 + std::size_t(Places) * place_doubles + (2 + Warps) * std::size_t(of.padded()));
  }

  __device__ void operator()([[maybe_unused]] const WideTeam& team) const {
#if OSSATURA_BULK_COPY
    TransferBarrier* const full = reinterpret_cast<TransferBarrier*>(team.scratch);
    TransferBarrier* const empty = full + 8;
    if (team.rank == 0) {
      for (int k = 0; k < Places; ++k) {
        init_barrier(full + k, 1);
        init_barrier(empty + k, Warps);
      }
      publish_barriers();
    }
    team.barrier();
    if (team.rank >= 32 * Warps)
      fetch(team, full, empty);
    else
      multiply(team, full, empty);
#endif
  }

#if OSSATURA_BULK_COPY
private:
  __device__ __forceinline__ void fetch(const WideTeam& team, TransferBarrier* full,
                                        TransferBarrier* empty) const {
    if (team.rank != 32 * Warps)
      return;
    RingPlace at;
    for (std::int64_t e = team.league_rank; e < of.num_elem; e += team.league_size)
      for (int row = 0; row < of.n; row += Rows, at.next(Places)) {
        wait_for_phase(empty + at.place, at.parity ^ 1);
        fetch_rows(of, e, row, Rows, team.scratch + 16 + at.place * place_doubles, full + at.place);
      }
  }

  __device__ __forceinline__ void multiply(const WideTeam& team, TransferBarrier* full,
                                           TransferBarrier* empty) const {
    const int padded = of.padded(), lane = team.rank % 32, warp = team.rank / 32;
    double *const ring = team.scratch + 16, *const parts = ring + Places * place_doubles,
                  *const sums = parts + 2 * padded;
    double* const own = sums + warp * padded;
    gather_part<32 * Warps>(of, team.league_rank, team.rank, parts);
    for (int i = team.rank; i < Warps * padded; i += 32 * Warps)
      sums[i] = 0;
    part_barrier(1, 32 * Warps);
    RingPlace at;
    int turn = 0;
    for (std::int64_t e = team.league_rank; e < of.num_elem; e += team.league_size, turn ^= 1) {
      const double* const u = parts + turn * padded;
      gather_part<32 * Warps>(of, e + team.league_size, team.rank, parts + (turn ^ 1) * padded);
      double column = 0;
      for (int row = 0; row < of.n; row += Rows, at.next(Places)) {
        const double* const entry = fetched(of, e, row, ring + at.place * place_doubles);
        wait_for_phase(full + at.place, at.parity);
        if (32 * warp + 31 < row && row + Rows <= of.n)
          multiply_tile<true>(entry, u, row, 32 * warp, lane, column, own);
        else if (32 * warp < row + Rows)
          multiply_tile<false>(entry, u, row, 32 * warp, lane, column, own);
        __syncwarp();
        if (lane == 0)
          arrive(empty + at.place);
      }
      if (const int j = 32 * warp + lane; j < of.n)
        own[j] += column;
      part_barrier(1, 32 * Warps);
      for (int i = team.rank; i < of.n; i += 32 * Warps) {
        double sum = 0;
#pragma unroll
        for (int w = 0; w < Warps; ++w) {
          sum += sums[w * padded + i];
          sums[w * padded + i] = 0;
        }
        of.y(e * of.n + i) = sum;
      }
      part_barrier(1, 32 * Warps);
    }
  }

  /// Columns first .. first + 31. `whole`: all of it is below the diagonal.
  template<bool whole>
  __device__ __forceinline__ void multiply_tile(const double* entry, const double* u, int row,
                                                int first, int lane, double& column,
                                                double* own) const {
    const int j = first + lane;
    double of_column = 0;
    int at = j;
#pragma unroll(whole ? Rows : 4)
    for (int r = 0; r < Rows; ++r) {
      if (whole || (row + r < of.n && j < row + r))
        of_column += entry[at] * u[row + r];
      at += row + r + 1;
    }
    column += of_column;
    // A lane has `Rows` columns of a row: 32 / Rows lanes a row.
    const int i = row + lane % Rows, part = first + lane / Rows * Rows;
    at = int(of.triangle(i) - of.triangle(row)) + part;
    double of_row = 0;
#pragma unroll(whole ? Rows : 4)
    for (int k = 0; k < Rows; ++k)
      if (whole || (i < of.n && part + k <= i))
        of_row += entry[at + k] * u[part + k];
#pragma unroll
    for (int distance = Rows; distance < 32; distance *= 2)
      of_row += __shfl_xor_sync(0xffffffffu, of_row, distance);
    if (lane < Rows && i < of.n)
      own[i] += of_row;
  }
#endif
};

/// The same, eight rows a fetch and `Blocks` times 32 columns a warp. n is at most 32 Warps Blocks,
/// and more than 8 Places.
template<int Warps, int Blocks, int Places, int Teams>
struct StreamByRows {
  static constexpr int rows = 8;
  static constexpr int max_threads = 32 * (Warps + 1), min_teams = Teams;
  static constexpr int most_columns = 32 * Warps * Blocks;

  PackedElements of;
  int place_doubles;

  explicit StreamByRows(const PackedElements& elements)
      : of(elements)
      , place_doubles(int(elements.place_doubles(rows))) {}

  /// Barriers, 18 words; the ring; x of this element and the next; sums of columns; those of rows;
  /// and those of the rows in each place by warp.
  std::size_t scratch_bytes() const {
    return 8 * (18 + std::size_t(Places) * (place_doubles + rows * Warps) +
                4 * std::size_t(of.padded()));
  }

  __device__ void operator()([[maybe_unused]] const WideTeam& team) const {
#if OSSATURA_BULK_COPY
    const Memory own(*this, team.scratch);
    if (team.rank == 0) {
      for (int k = 0; k < Places; ++k) {
        init_barrier(own.full + k, 1);
        init_barrier(own.empty + k, Warps);
      }
      init_barrier(own.columns_done, Warps);
      publish_barriers();
    }
    team.barrier();
    if (team.rank >= 32 * Warps)
      fetch(team, own);
    else
      multiply(team, own);
#endif
  }

#if OSSATURA_BULK_COPY
private:
  struct Memory {
    TransferBarrier *full, *empty, *columns_done;
    double *ring, *parts, *columns, *of_rows;
    double* found; ///< [Places, Warps, rows]

    __device__ __forceinline__ Memory(const StreamByRows& kernel, double* scratch)
        : full(reinterpret_cast<TransferBarrier*>(scratch))
        , empty(full + 8)
        , columns_done(full + 16)
        , ring(scratch + 18)
        , parts(ring + Places * kernel.place_doubles)
        , columns(parts + 2 * kernel.of.padded())
        , of_rows(columns + kernel.of.padded())
        , found(of_rows + kernel.of.padded()) {}
  };

  /// Before a place is filled again, the sums of the rows that were there are added; after the last
  /// of an element its result is stored. Sums of columns are taken before the copies of the next
  /// element that their owners still have to wait for are started: they need no second place.
  __device__ __forceinline__ void fetch(const WideTeam& team, const Memory& own) const {
    const int lane = team.rank % 32;
    const int blocks = (of.n + rows - 1) / rows;
    RingPlace at;
    std::int64_t done_elem = team.league_rank; ///< whose rows are added next
    int done_row = 0, started = 0, element_parity = 0;
    const auto take_back = [&] {
      wait_for_phase(own.empty + at.place, at.parity ^ 1);
      if (started < Places)
        return;
      add_rows(own, at.place, done_row, lane);
    };
    const auto finish = [&] {
      if (started < Places)
        return;
      done_row += rows;
      if (done_row < of.n)
        return;
      __syncwarp();
      wait_for_phase(own.columns_done, element_parity);
      for (int i = lane; i < of.n; i += 32)
        of.y(done_elem * of.n + i) = own.of_rows[i] + own.columns[i];
      __syncwarp();
      done_row = 0;
      done_elem += team.league_size;
      element_parity ^= 1;
    };
    for (std::int64_t e = team.league_rank; e < of.num_elem; e += team.league_size)
      for (int b = 0; b < blocks; ++b, at.next(Places)) {
        take_back();
        __syncwarp();
        if (lane == 0)
          fetch_rows(of, e, b * rows, rows, own.ring + at.place * place_doubles,
                     own.full + at.place);
        finish();
        started += started < Places;
      }
    if (started > 0)
      for (int k = 0; k < Places; ++k, at.next(Places)) {
        take_back();
        finish();
      }
  }

  __device__ __forceinline__ void add_rows(const Memory& own, int place, int row, int lane) const {
    if (lane < rows && row + lane < of.n) {
      double sum = 0;
#pragma unroll
      for (int w = 0; w < Warps; ++w)
        sum += own.found[(place * Warps + w) * rows + lane];
      own.of_rows[row + lane] = sum;
    }
  }

  __device__ __forceinline__ void multiply(const WideTeam& team, const Memory& own) const {
    const int padded = of.padded(), lane = team.rank % 32, warp = team.rank / 32;
    gather_part<32 * Warps>(of, team.league_rank, team.rank, own.parts);
    part_barrier(1, 32 * Warps);
    RingPlace at;
    int turn = 0;
    for (std::int64_t e = team.league_rank; e < of.num_elem; e += team.league_size, turn ^= 1) {
      const double* const u = own.parts + turn * padded;
      gather_part<32 * Warps>(of, e + team.league_size, team.rank, own.parts + (turn ^ 1) * padded);
      double x_of[Blocks], column[Blocks];
#pragma unroll
      for (int c = 0; c < Blocks; ++c) {
        const int j = 32 * (warp + c * Warps) + lane;
        x_of[c] = j < of.n ? u[j] : 0;
        column[c] = 0;
      }
      for (int row = 0; row < of.n; row += rows, at.next(Places)) {
        const double* const entry = fetched(of, e, row, own.ring + at.place * place_doubles);
        wait_for_phase(own.full + at.place, at.parity);
        const double sum =
            32 * warp < row + rows ? multiply_rows(entry, u, row, warp, lane, x_of, column) : 0.0;
        if (lane % 4 == 0)
          own.found[(at.place * Warps + warp) * rows + lane / 4] = sum;
        __syncwarp();
        if (lane == 0)
          arrive(own.empty + at.place);
      }
#pragma unroll
      for (int c = 0; c < Blocks; ++c)
        if (const int j = 32 * (warp + c * Warps) + lane; j < of.n)
          own.columns[j] = column[c];
      part_barrier(1, 32 * Warps); // x of the next element is there, of this one no longer needed
      if (lane == 0)
        arrive(own.columns_done);
    }
  }

  /// The warp's columns of these rows; lane l gets the sum of row l / 4.
  __device__ __forceinline__ double multiply_rows(const double* entry, const double* u, int row,
                                                  int warp, int lane, const double (&x_of)[Blocks],
                                                  double (&column)[Blocks]) const {
    const int first = 32 * warp, end = row + rows < of.n ? row + rows : of.n;
    const bool all_rows = row + rows <= of.n;
    Tiles own;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      own.sum[r] = 0;
      own.begin[r] = r * row + r * (r + 1) / 2 + first + lane;
      own.u[r] = row + r < of.n ? u[row + r] : 0;
    }
    if (all_rows && first + 32 * Warps * (Blocks - 1) + 31 < row) { // loads all under way together
#pragma unroll
      for (int c = 0; c < Blocks; ++c)
        multiply_tile<true>(entry, row, first + lane, c, x_of[c], column[c], own);
    } else {
#pragma unroll
      for (int c = 0; c < Blocks; ++c) {
        const int tile = first + 32 * Warps * c;
        if (tile >= end)
          break;
        if (all_rows && tile + 31 < row)
          multiply_tile<true>(entry, row, first + lane, c, x_of[c], column[c], own);
        else
          multiply_tile<false>(entry, row, first + lane, c, x_of[c], column[c], own);
      }
    }
    return warp_sums(own.sum, lane);
  }

  /// By row: sums, where the lane's first column is, x.
  struct Tiles {
    double sum[rows], u[rows];
    int begin[rows];
  };

  /// Column j of tile 0 and what is below it in tile c. `whole`: all of that is below the diagonal.
  template<bool whole>
  __device__ __forceinline__ void multiply_tile(const double* entry, int row, int j, int c,
                                                double x_of, double& column, Tiles& own) const {
    j += 32 * Warps * c;
    double even = 0, odd = 0;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
      const bool there = whole || (j <= row + r && row + r < of.n);
      const double a = there ? entry[own.begin[r] + 32 * Warps * c] : 0.0;
      own.sum[r] += a * x_of;
      (r % 2 == 0 ? even : odd) += (!whole && j == row + r ? 0.0 : a) * own.u[r];
    }
    column += even + odd;
  }
#endif
};

/// Whether the device does it, and the kernel takes as many columns. Does not fence.
template<class Kernel>
bool launch_packed_stream(const Cuda& exec, const PackedElements& of) {
  const Kernel kernel(of);
  const std::size_t bytes = kernel.scratch_bytes();
  if (of.n > Kernel::most_columns || bytes > max_wide_scratch(exec) ||
      !does_bulk_copies(run_wide_team<Kernel>))
    return false;
  const std::int64_t teams =
      std::min(of.num_elem, wide_team_concurrency(exec, int(Kernel::min_teams)));
  launch_wide_teams("ossatura::multiply_packed", exec, teams, Kernel::max_threads, bytes, kernel);
  return true;
}

/// Products of matrices of 33 to 1056 rows, which are orders 2 to 10 of the trunk space and 2 to 6
/// of the other, by the kernel that was the fastest for as many rows. False, and nothing done, for
/// others (an element of order 1 is too small for a team; of more than 1056 rows few fit a
/// multiprocessor's memory, and panels of columns are as fast), for devices and builds without bulk
/// copies or with less memory for a team, and if the matrices do not begin at a multiple of 16
/// bytes. Does not fence.
inline bool multiply_packed_stream(const Cuda& exec, const PackedElements& of) {
  if (of.n <= 32 || reinterpret_cast<std::uintptr_t>(of.matrix.data) % 16 != 0)
    return false;
  if (of.n <= 64)
    return launch_packed_stream<StreamByTiles<16, 2, 3, 12>>(exec, of);
  if (of.n <= 96)
    return launch_packed_stream<StreamByTiles<32, 3, 2, 5>>(exec, of);
  if (of.n <= 160)
    return launch_packed_stream<StreamByTiles<16, 5, 2, 4>>(exec, of);
  if (of.n <= 224)
    return launch_packed_stream<StreamByTiles<16, 7, 2, 3>>(exec, of);
  if (of.n <= 320)
    return launch_packed_stream<StreamByRows<5, 2, 3, 3>>(exec, of);
  if (of.n <= 448)
    return launch_packed_stream<StreamByRows<7, 2, 3, 2>>(exec, of);
  if (of.n <= 576)
    return launch_packed_stream<StreamByRows<6, 3, 2, 2>>(exec, of);
  if (of.n <= 672)
    return launch_packed_stream<StreamByRows<7, 3, 2, 2>>(exec, of);
  if (of.n <= 768)
    return launch_packed_stream<StreamByRows<12, 2, 4, 1>>(exec, of);
  if (of.n <= 960)
    return launch_packed_stream<StreamByRows<15, 2, 3, 1>>(exec, of);
  return launch_packed_stream<StreamByRows<11, 3, 2, 1>>(exec, of);
}

} // namespace detail

} // namespace ossatura

#endif
