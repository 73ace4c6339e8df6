// SPDX-License-Identifier: Apache-2.0
// invert_packed inverts many symmetric positive definite matrices, stored as packed lower
// triangles, in place. A team, on cores a thread, inverts each matrix by the sweep operator
// (inverse.hpp explains the method) over blocks of pivots: few of them on devices, where what all
// teams have at work fits the caches, and many in invert_packed_tiles.hpp, where it does not.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/algebra/dense/inverse.hpp>
#include <ossatura/kernels/algebra/dense/invert_packed_tiles.hpp>
#include <ossatura/kernels/algebra/dense/packed_sweep.hpp>

namespace ossatura {

namespace detail {

/// On devices, for matrices of few rows. `Items`: size and matrix as of MultiplyPacked.
template<class Exec, class Items>
struct InvertPacked {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int width = 8; ///< pivots of a block
  static constexpr std::size_t on_chip = 40 << 10;
  Items items;
  ArrayPointer<double> value;
  double threshold;
  int level;
  int scratch_entries;

  /// The block, two rows of it, the diagonal, the panel and its product with the pivots' inverse.
  static std::int64_t scratch_of(int n) {
    return width * width + 2 * width + std::int64_t(2 * width + 1) * n;
  }

  /// Row i after the sweep by rows first .. first + used - 1.
  KOKKOS_FUNCTION void update_row(const Team& team, int n, int first, int used, int i,
                                  const double* block, const double* panel, const double* scaled,
                                  double* a) const {
    constexpr int w = width;
    double* const row = a + packed_place(i, 0);
    const int end = first + used;
    if (i >= first && i < end) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, i + 1), [&](int j) {
        row[j] = j >= first ? block[(i - first) * w + j - first] : scaled[(i - first) * n + j];
      });
      return;
    }
    double factor[w];
    for (int k = 0; k < w; ++k)
      factor[k] = panel[k * n + i];
    const auto subtract = [&](int j) {
      double sum = row[j];
      for (int k = 0; k < int(w); ++k)
        sum -= factor[k] * scaled[k * n + j];
      row[j] = sum;
    };
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, i < first ? i + 1 : first), subtract);
    if (i < end)
      return;
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, used),
                         [&](int k) { row[first + k] = scaled[k * n + i]; });
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, i + 1 - end),
                         [&](int j) { subtract(end + j); });
  }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    constexpr int w = width;
    const std::int64_t item = team.league_rank();
    const int n = items.size(item);
    double* const a = value.data + items.matrix(item);
    double* const block = static_cast<double*>(
        team.team_scratch(level).get_shmem_aligned(scratch_entries * int(sizeof(double)), 8));
    double *const row = block + w * w, *const diagonal = row + 2 * w, *const panel = diagonal + n,
                  *const scaled = panel + w * n;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n),
                         [&](int i) { diagonal[i] = a[packed_place(i, i)]; });
    for (int first = 0; first < n; first += w) {
      const int used = n - first < w ? n - first : int(w);
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(w)), [&](int k) {
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](int j) {
          const double entry = k < used ? a[packed_place(first + k, j)] : 0;
          panel[k * n + j] = entry;
          if (j >= first && j < first + int(w))
            block[k * int(w) + j - first] = entry;
        });
        for (int j = used; j < int(w); ++j)
          block[k * int(w) + j] = 0;
      });
      team.team_barrier();
      sweep_block(AllLanes<Team>{team}, w, used, threshold, diagonal + first, block, row);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(w)), [&](int k) {
        Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, n), [&](int j) {
          double sum = 0;
          for (int l = 0; l < int(w); ++l)
            sum -= block[k * int(w) + l] * panel[l * n + j];
          scaled[k * n + j] = sum;
        });
      });
      team.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](int i) {
        update_row(team, n, first, used, i, block, panel, scaled, a);
      });
    }
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](int i) {
      double* const a_row = a + packed_place(i, 0);
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, i + 1),
                           [&](int j) { a_row[j] = -a_row[j]; });
    });
  }
};

/// What a device takes in tiles, which were measured slower at 93 rows, and faster at 192.
constexpr int fewest_tiled_rows = 150;

/// On cores a thread has a matrix.
template<class Exec, class Items>
struct InvertPackedOnCore {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  Items items;
  ArrayPointer<double> value;
  double threshold;
  const SweepProducts* products;
  std::size_t scratch_bytes;

  void operator()(const Team& team) const {
    const std::int64_t item = team.league_rank();
    const int n = items.size(item);
    double* const a = value.data + items.matrix(item);
    const PackedSweep sweep(
        n, a, threshold, *products,
        static_cast<double*>(team.team_scratch(1).get_shmem_aligned(scratch_bytes, 64)));
    for (int first = 0; first < n; first += PackedSweep::width) {
      sweep.load(first, 0, sweep.stride());
      sweep.sweep_pivots(first);
      sweep.scale(0, sweep.stride());
      sweep.update(first, 0, n);
      sweep.store(first, 0, n);
    }
    for (std::int64_t k = 0; k < packed_place(n, 0); ++k)
      a[k] = -a[k];
  }
};

} // namespace detail

/// The inverses, on the rows whose Cholesky pivot exceeds `threshold` times the diagonal entry, and
/// zero elsewhere: rows that are zero stay so. For `num_items` matrices of at most `most_rows`
/// rows, n^3 operations each. Does not fence.
template<class Exec, class Items>
void invert_packed(const Exec& exec, const Items& items, std::int64_t num_items, int most_rows,
                   const Array<double, Exec>& value, double threshold = 1e-12) {
  if (num_items == 0)
    return;
  if constexpr (BackendTraits<Exec>::is_device) {
    if (most_rows >= detail::fewest_tiled_rows)
      return detail::invert_packed_tiles(exec, items, num_items, most_rows, value, threshold);
    using Functor = detail::InvertPacked<Exec, Items>;
    const std::int64_t entries = Functor::scratch_of(most_rows);
    const std::size_t bytes = std::size_t(entries) * sizeof(double);
    const int level = bytes <= Functor::on_chip ? 0 : 1;
    Kokkos::parallel_for("ossatura::invert_packed",
                         Kokkos::TeamPolicy<Exec>(exec, int(num_items), 8, 32)
                             .set_scratch_size(level, Kokkos::PerTeam(bytes)),
                         Functor{items, value, threshold, level, int(entries)});
  } else {
    using Functor = detail::InvertPackedOnCore<Exec, Items>;
    const std::size_t bytes = detail::PackedSweep::scratch_doubles(most_rows) * sizeof(double);
    Kokkos::parallel_for("ossatura::invert_packed",
                         Kokkos::TeamPolicy<Exec>(exec, int(num_items), 1)
                             .set_scratch_size(1, Kokkos::PerTeam(bytes + 64)),
                         Functor{items, value, threshold, &detail::sweep_products(), bytes});
  }
}

} // namespace ossatura
