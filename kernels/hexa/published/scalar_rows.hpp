// SPDX-License-Identifier: Apache-2.0
// These kernels multiply a matrix in rows of scalars with a vector. On NVIDIA devices a warp has
// eight rows, of which it asks for four at once, whole, before it multiplies any: what a row has is
// in two arrays and the vector, one after the other, and so enough of it is under way to keep the
// memory busy. The sums of the eight take nine exchanges. Each entry is a lane's own, so that lanes
// side by side read numbers side by side, of the vector, too, for the most part.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/warp_sum.hpp>
#include <ossatura/core/parallel/wide_teams.hpp>

#include <type_traits>

namespace ossatura::detail {

template<class Exec, class Scalar>
struct ScalarRowMultiply {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;

  std::int64_t num_rows;
  const std::int64_t* row_begin;
  const int* column;
  const Scalar *value, *x;
  Scalar* y;

  /// On cores: a row.
  KOKKOS_FUNCTION void operator()(std::int64_t row) const {
    Scalar sum = 0;
    for (std::int64_t k = row_begin[row]; k < row_begin[row + 1]; ++k)
      sum += value[k] * x[column[k]];
    y[row] = sum;
  }

  /// On devices: a thread with its lanes for a row.
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::int64_t row = std::int64_t(team.league_rank()) * team.team_size() + team.team_rank();
    if (row >= num_rows)
      return;
    const std::int64_t begin = row_begin[row];
    const Scalar *const entries = value + begin, *const vector = x;
    const int* const columns = column + begin;
    Scalar sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, int(row_begin[row + 1] - begin)),
        [&](int k, Scalar& partial) { partial += entries[k] * vector[columns[k]]; }, sum);
    Scalar* const result = y;
    Kokkos::single(Kokkos::PerThread(team), [&] { result[row] = sum; });
  }
};

#if defined(KOKKOS_ENABLE_CUDA)
/// A warp for eight rows: a kernel of wide teams (core/parallel/wide_teams.hpp).
template<class Scalar>
struct WarpRowMultiply {
  static constexpr int max_threads = 128;
  /// As many warps as the registers for twelve entries and columns a lane leave room for.
  static constexpr int min_teams = sizeof(Scalar) == 4 ? 8 : 6;
  static constexpr int rows = 8, together = 4;
  static constexpr int rounds = 3; ///< of 32 entries at once: a row has 81, or fewer
  static constexpr int team_rows = max_threads / 32 * rows;

  ScalarRowMultiply<Cuda, Scalar> matrix;

  KOKKOS_FUNCTION void operator()([[maybe_unused]] const WideTeam& team) const {
#if defined(__CUDA_ARCH__)
    const int lane = team.rank % 32;
    const std::int64_t first = team.league_rank * team_rows + team.rank / 32 * rows;
    if (first >= matrix.num_rows)
      return;
    const std::int64_t end = first + (lane < rows ? lane : rows);
    const std::int64_t mine = matrix.row_begin[end < matrix.num_rows ? end : matrix.num_rows];
    Scalar sum[rows];
#pragma unroll
    for (int r = 0; r < rows; r += together)
      multiply(mine, lane, r, sum);
    const Scalar whole = warp_sums(sum, lane);
    const std::int64_t row = first + lane / (32 / rows);
    if (lane % (32 / rows) == 0 && row < matrix.num_rows)
      matrix.y[row] = whole;
#endif
  }

private:
#if defined(__CUDA_ARCH__)
  /// The lane's part of `together` rows from r on, into sum[r] and after. `begin`: of row `lane`.
  __device__ __forceinline__ void multiply(std::int64_t begin, int lane, int r,
                                           Scalar (&sum)[rows]) const {
    constexpr unsigned all = 0xffffffffu;
    std::int64_t from[together];
    int size[together], column[together][rounds];
    Scalar value[together][rounds];
#pragma unroll
    for (int i = 0; i < together; ++i) {
      from[i] = __shfl_sync(all, begin, r + i);
      size[i] = int(__shfl_sync(all, begin, r + i + 1) - from[i]);
#pragma unroll
      for (int q = 0; q < rounds; ++q) {
        const int k = 32 * q + lane;
        column[i][q] = 0;
        value[i][q] = 0;
        if (k < size[i]) {
          column[i][q] = __ldg(matrix.column + from[i] + k);
          value[i][q] = __ldg(matrix.value + from[i] + k);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < together; ++i) {
      Scalar s = 0;
#pragma unroll
      for (int q = 0; q < rounds; ++q) { // no branches, so that all of x is asked for at once
        const Scalar product = value[i][q] * __ldg(matrix.x + column[i][q]);
        s += 32 * q + lane < size[i] ? product : Scalar(0); // x(0) may be no number
      }
      for (int k = 32 * rounds + lane; k < size[i]; k += 32)
        s += matrix.value[from[i] + k] * matrix.x[matrix.column[from[i] + k]];
      sum[r + i] = s;
    }
  }
#endif
};
#endif

/// With the kernel of devices or that of cores; both run everywhere.
template<bool by_lanes, class Exec, class Scalar>
void multiply_scalar_rows(const Exec& exec, const ScalarRowMultiply<Exec, Scalar>& rows) {
#if defined(KOKKOS_ENABLE_CUDA)
  constexpr bool by_warps = by_lanes && std::is_same_v<Exec, Cuda>;
  if constexpr (by_warps) {
    using Kernel = WarpRowMultiply<Scalar>;
    launch_wide_teams("ossatura::multiply_scalar_rows", exec,
                      (rows.num_rows + Kernel::team_rows - 1) / Kernel::team_rows,
                      Kernel::max_threads, 0, Kernel{rows});
  }
#else
  constexpr bool by_warps = false;
#endif
  if constexpr (by_lanes && !by_warps) {
    constexpr int team_size = BackendTraits<Exec>::is_device ? 8 : 1;
    constexpr int lanes = BackendTraits<Exec>::is_device ? 16 : 1; // a row has 81 entries or fewer
    Kokkos::parallel_for("ossatura::multiply_scalar_rows",
                         Kokkos::TeamPolicy<Exec>(exec,
                                                  int((rows.num_rows + team_size - 1) / team_size),
                                                  team_size, lanes),
                         rows);
  } else if constexpr (!by_lanes) {
    Kokkos::parallel_for("ossatura::multiply_scalar_rows", range(exec, rows.num_rows), rows);
  }
}

} // namespace ossatura::detail
