// SPDX-License-Identifier: Apache-2.0
// A team multiplies the matrix of a vertex star with a vector, a packed lower triangle (row i,
// column j <= i at i (i + 1) / 2 + j). The team reads the triangle once for both halves of the
// matrix. Sums have a fixed order.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/core/parallel/warp_sum.hpp>
#include <ossatura/kernels/pfem/stars/vertex_stars.hpp>

namespace ossatura {

namespace detail {

/// Teams and scratch for matrices of at most n rows.
template<class Exec>
struct StarTeams {
  static constexpr std::size_t on_chip = 44 << 10;

  int warps = 1;             ///< of a team
  int level = 1;             ///< of the scratch
  std::size_t scratch_bytes; ///< x, y, and y of each warp

  explicit StarTeams(int n) {
    const auto bytes = [n](int w) { return std::size_t(2 + w) * std::size_t(n) * sizeof(double); };
    if (BackendTraits<Exec>::is_device) {
      warps = 4;
      while (warps > 1 && bytes(warps) > on_chip)
        warps /= 2;
      level = bytes(warps) <= on_chip ? 0 : 1;
      if (level == 1)
        warps = 4;
    }
    scratch_bytes = bytes(warps);
  }
};

template<class Exec, class Storage, bool by_lanes>
struct MultiplyStars {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int lanes = BackendTraits<Exec>::is_device ? 32 : 1;
  static constexpr int rows_at_once = 8;
  ArrayPointer<const std::int64_t> mode_begin, matrix_begin;
  ArrayPointer<const int> mode;
  ArrayPointer<const Storage> value;
  ArrayPointer<const double> from;
  ArrayPointer<double> to;
  int level;
  int scratch_bytes;

  /// Rows of one warp; a lane has every 32nd column, so that its part of y is its own.
  KOKKOS_FUNCTION static void multiply_by_lanes(const Team& team, int n, const Storage* a,
                                                const double* x, double* y, double* part) {
    constexpr int most = rows_at_once;
    const int warp = team.team_rank() / lanes, lane = team.team_rank() % lanes;
    const int warps = team.team_size() / lanes;
    double* const own = part + std::int64_t(warp) * n;
    for (int first = most * warp; first < n; first += most * warps) {
      const int rows = n - first < most ? n - first : most;
      double sum[most] = {}, x_row[most];
      for (int r = 0; r < most; ++r)
        x_row[r] = r < rows ? x[first + r] : 0;
      for (int j = lane; j < first + rows; j += lanes) {
        const double x_j = x[j];
        double column = 0;
        for (int r = 0; r < most; ++r) {
          const int i = first + r;
          if (r < rows && j <= i) {
            const double entry = double(a[std::int64_t(i) * (i + 1) / 2 + j]);
            sum[r] += entry * x_j;
            if (j < i)
              column += entry * x_row[r];
          }
        }
        own[j] += column;
      }
      for (int r = 0; r < most; ++r) {
        const double whole = warp_sum<lanes>(sum[r]);
        if (lane == 0 && r < rows)
          y[first + r] = whole;
      }
    }
  }

  /// A row after the other, for the vector registers of a core.
  KOKKOS_FUNCTION static void multiply_by_rows(int n, const Storage* a, const double* x,
                                               double* part) {
    for (int i = 0; i < n; ++i) {
      const double x_i = x[i];
      double sums[8] = {};
      int j = 0;
      for (; j + 8 <= i; j += 8)
        for (int q = 0; q < 8; ++q) {
          const double entry = double(a[j + q]);
          sums[q] += entry * x[j + q];
          part[j + q] += entry * x_i;
        }
      double sum = double(a[i]) * x_i;
      for (; j < i; ++j) {
        sum += double(a[j]) * x[j];
        part[j] += double(a[j]) * x_i;
      }
      for (int q = 0; q < 8; ++q)
        sum += sums[q];
      part[i] += sum;
      a += i + 1;
    }
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const std::int64_t star = team.league_rank(), first = mode_begin(star);
    const int n = 3 * int(mode_begin(star + 1) - first);
    const int rank = team.team_rank(), threads = team.team_size();
    const int warps = threads / lanes;
    double* const x =
        static_cast<double*>(team.team_scratch(level).get_shmem_aligned(scratch_bytes, 8));
    double *const y = x + n, *const part = y + n;
    for (int i = rank; i < n; i += threads) {
      x[i] = from(3 * std::int64_t(mode(first + i / 3)) + i % 3);
      y[i] = 0;
    }
    for (int i = rank; i < warps * n; i += threads)
      part[i] = 0;
    team.team_barrier();
    const Storage* const a = value.data + matrix_begin(star);
    if constexpr (by_lanes)
      multiply_by_lanes(team, n, a, x, y, part);
    else
      multiply_by_rows(n, a, x, part);
    team.team_barrier();
    for (int i = rank; i < n; i += threads) {
      double sum = y[i];
      for (int w = 0; w < warps; ++w)
        sum += part[std::int64_t(w) * n + i];
      to(3 * first + i) = sum;
    }
  }
};

} // namespace detail

/// y [number of modes in all stars, 3] = the products of x [num_modes, 3] with the stars'
/// matrices. Does not fence.
template<class Exec, class Storage, bool by_lanes = BackendTraits<Exec>::is_device>
void multiply_stars(const Exec& exec, const VertexStars<Exec>& stars,
                    const Array<Storage, Exec>& value, const Array<double, Exec>& x,
                    const Array<double, Exec>& y) {
  if (stars.num_stars == 0)
    return;
  using Functor = detail::MultiplyStars<Exec, Storage, by_lanes>;
  const detail::StarTeams<Exec> teams(stars.most_rows);
  Kokkos::parallel_for(
      "ossatura::multiply_stars",
      Kokkos::TeamPolicy<Exec>(exec, int(stars.num_stars), teams.warps * Functor::lanes)
          .set_scratch_size(teams.level, Kokkos::PerTeam(teams.scratch_bytes)),
      Functor{stars.mode_begin, stars.matrix_begin, stars.mode, value, x, y, teams.level,
              int(teams.scratch_bytes)});
}

} // namespace ossatura
