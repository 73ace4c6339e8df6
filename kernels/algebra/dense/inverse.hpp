// SPDX-License-Identifier: Apache-2.0
// These kernels invert a small symmetric positive semidefinite matrix in place, by the sweep
// operator [1] over blocks of pivots. Outside of the pivot blocks each step is one update of the
// whole matrix.
//
// Sweeping the rows K turns A_KK into -A_KK^-1, A_RK into A_RK A_KK^-1 and A_RR into
//   A_RR - A_RK A_KK^-1 A_KR;
// swept by all its rows, A is -A^-1. The pivots are those of Cholesky's factorisation.
//
// [1] J. Goodnight. A tutorial on the SWEEP operator. Am. Stat. 33 (1979) 149-158,
//     doi:10.1080/00031305.1979.10482685.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/batches/sweep_products.hpp>
#include <ossatura/kernels/algebra/dense/packed_sweep.hpp>

#include <algorithm>
#include <memory>

namespace ossatura {

namespace detail {

/// The largest Cholesky pivots decide which rows are used; others are cleared as they come.
template<class Exec>
struct CopyDiagonal {
  std::int64_t n;
  Array<double, Exec> a, diagonal;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { diagonal(i) = a(i * n + i); }
};

/// A team of Kokkos with the words of a WideTeam.
template<class Team>
struct AllLanes {
  const Team& team;

  KOKKOS_FORCEINLINE_FUNCTION void barrier() const { team.team_barrier(); }
  template<class Body>
  KOKKOS_FORCEINLINE_FUNCTION void each(int n, const Body& body) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(team, n), body);
  }
};

/// block [w, w] = -(its inverse) on those of its first `used` rows whose pivot exceeds `threshold`
/// times the `diagonal` [used] of the whole matrix, else zero; `row` [2 w] is scratch. The team
/// meets once for a pivot: who makes the row of the next one leaves it in the other half of `row`.
template<class Team>
KOKKOS_INLINE_FUNCTION void sweep_block(const Team& team, int w, int used, double threshold,
                                        const double* diagonal, double* block, double* row) {
  team.each(w, [&](int j) { row[j] = block[j]; });
  team.barrier();
  for (int k = 0; k < used; ++k) {
    const double* const before = row + (k & 1) * w; // the row of the pivot, before its sweep
    double* const next = row + (1 - (k & 1)) * w;
    const bool positive = before[k] > threshold * diagonal[k] && diagonal[k] > 0;
    const double inverse = positive ? 1 / before[k] : 0;
    team.each(w * w, [&](int ij) {
      const int i = ij / w, j = ij % w;
      double entry = block[ij] - before[i] * before[j] * inverse;
      if (i == k || j == k)
        entry = i == j ? -inverse : before[i == k ? j : i] * inverse;
      block[ij] = entry;
      if (i == k + 1)
        next[j] = entry;
    });
    team.barrier();
  }
}

/// One team: pivots = (A_KK)^-1 on the rows whose pivot is large enough, else zero.
template<class Exec>
struct InvertPivots {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Scratch = Kokkos::View<double*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  std::int64_t n, first;
  int width;
  double threshold;
  Array<double, Exec> a, diagonal;
  Array<double, Exec> pivots; ///< [width * width]

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int w = width;
    const Scratch block(team.team_scratch(0), w * w), row(team.team_scratch(0), 2 * w);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, w * w),
                         [&](int ij) { block(ij) = a((first + ij / w) * n + first + ij % w); });
    team.team_barrier();
    sweep_block(AllLanes<Team>{team}, w, w, threshold, &diagonal(first), block.data(), row.data());
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, w * w),
                         [&](int ij) { pivots(ij) = -block(ij); });
  }
  static std::size_t scratch_bytes(int w) {
    return Scratch::shmem_size(w * w) + Scratch::shmem_size(2 * w);
  }
};

/// panel(k, j) = A_jK(k) and scaled(k, j) = (A_jK A_KK^-1)(k), for all rows j.
template<class Exec>
struct ScalePanel {
  std::int64_t n, first;
  int width;
  Array<double, Exec> a, pivots;
  Array<double, Exec> panel, scaled; ///< [width * n]

  KOKKOS_FUNCTION void operator()(std::int64_t kj) const {
    const std::int64_t k = kj / n, j = kj % n;
    double sum = 0;
    for (int l = 0; l < width; ++l)
      sum += a((first + l) * n + j) * pivots(l * width + k); // both symmetric
    panel(kj) = a((first + k) * n + j);
    scaled(kj) = sum;
  }
};

/// The entries after the sweep. Inside the block the result is -pivots, in its rows and columns
/// `scaled`, elsewhere an update of rank `width`.
template<class Exec>
struct SweepEntries {
  std::int64_t n, first;
  int width;
  Array<double, Exec> pivots, panel, scaled;
  Array<double, Exec> a;

  KOKKOS_FUNCTION bool in_block(std::int64_t i) const { return i >= first && i < first + width; }

  KOKKOS_FUNCTION double swept(std::int64_t i, std::int64_t j) const {
    if (in_block(i))
      return in_block(j) ? -pivots((i - first) * width + (j - first)) : scaled((i - first) * n + j);
    if (in_block(j))
      return scaled((j - first) * n + i);
    double sum = a(i * n + j);
    // The same value for (i, j) and (j, i), so that the matrix stays symmetric to the last bit.
    const std::int64_t low = Kokkos::min(i, j), high = Kokkos::max(i, j);
    for (int k = 0; k < width; ++k)
      sum -= scaled(k * n + low) * panel(k * n + high);
    return sum;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t ij) const { a(ij) = swept(ij / n, ij % n); }
};

/// On devices the whole matrix is swept, an entry a thread.
template<class Exec>
void sweep_on_device(const Exec& exec, std::int64_t n, const Array<double, Exec>& a,
                     double threshold) {
  const auto diagonal = make_uninitialized<double>(exec, n, "ossatura::dense_diagonal");
  Kokkos::parallel_for("ossatura::invert_semidefinite::diagonal", range(exec, n),
                       CopyDiagonal<Exec>{n, a, diagonal});
  constexpr std::int64_t widest = sweep_width;
  const auto pivots = make_uninitialized<double>(exec, widest * widest, "ossatura::dense_pivots");
  const auto panel = make_uninitialized<double>(exec, widest * n, "ossatura::dense_panel");
  const auto scaled = make_uninitialized<double>(exec, widest * n, "ossatura::dense_scaled");
  for (std::int64_t first = 0; first < n; first += widest) {
    const int width = int(n - first < widest ? n - first : widest);
    using Pivots = InvertPivots<Exec>;
    Kokkos::parallel_for("ossatura::invert_semidefinite::pivots",
                         Kokkos::TeamPolicy<Exec>(exec, 1, Kokkos::AUTO)
                             .set_scratch_size(0, Kokkos::PerTeam(Pivots::scratch_bytes(width))),
                         Pivots{n, first, width, threshold, a, diagonal, pivots});
    Kokkos::parallel_for("ossatura::invert_semidefinite::panel", range(exec, width * n),
                         ScalePanel<Exec>{n, first, width, a, pivots, panel, scaled});
    Kokkos::parallel_for("ossatura::invert_semidefinite::sweep", range(exec, n * n),
                         SweepEntries<Exec>{n, first, width, pivots, panel, scaled, a});
  }
}

/// A step of a PackedSweep over the rows [0, end): a worker has every so many-th part of the rows,
/// as later ones have more entries.
template<class Step>
struct SweepRows {
  static constexpr std::int64_t rows = 64; ///< of a part, a multiple of 16
  std::int64_t end, workers;
  Step step;

  void operator()(std::int64_t worker) const {
    for (std::int64_t begin = worker * rows; begin < end; begin += workers * rows)
      step(begin, std::min(begin + rows, end));
  }
};
template<class Exec, class Step>
void sweep_rows(const Exec& exec, std::int64_t end, const Step& step) {
  constexpr std::int64_t fewest = 4 * SweepRows<Step>::rows; // less than launches are worth
  if (end <= fewest)
    return step(0, end);
  const std::int64_t parts = (end + SweepRows<Step>::rows - 1) / SweepRows<Step>::rows,
                     workers = std::min<std::int64_t>(parts, exec.concurrency());
  Kokkos::parallel_for("ossatura::invert_semidefinite::sweep", range(exec, workers),
                       SweepRows<Step>{end, workers, step});
}

/// On cores the lower triangle is swept, packed to the beginning of `a`, by all threads.
template<class Exec>
void sweep_on_cores(const Exec& exec, int n, const Array<double, Exec>& a, double threshold) {
  for (int i = 0; i < n; ++i)
    std::copy_n(&a(std::int64_t(i) * n), i + 1, &a(packed_place(i, 0)));
  const auto scratch = make_uninitialized<double>(
      exec, std::int64_t(PackedSweep::scratch_doubles(n)) + 8, "ossatura::dense_scratch");
  void* aligned = scratch.data();
  std::size_t bytes = scratch.extent(0) * sizeof(double);
  std::align(64, bytes - 64, aligned, bytes);
  const PackedSweep sweep(n, a.data(), threshold, sweep_products(), static_cast<double*>(aligned));
  using Index = std::int64_t;
  for (int first = 0; first < n; first += PackedSweep::width) {
    sweep_rows(exec, sweep.stride(), [=](Index i, Index end) { sweep.load(first, i, end); });
    sweep.sweep_pivots(first);
    sweep_rows(exec, sweep.stride(), [=](Index i, Index end) { sweep.scale(i, end); });
    sweep_rows(exec, n, [=](Index i, Index end) {
      sweep.update(first, int(i), int(end));
      sweep.store(first, int(i), int(end));
    });
  }
}

/// The whole of the result, from what devices and cores leave.
template<class Exec, class Scalar>
struct NegateInto {
  std::int64_t n;
  Array<double, Exec> a;
  Array<Scalar, Exec> inverse;

  KOKKOS_FUNCTION void operator()(std::int64_t ij) const {
    const std::int64_t at =
        BackendTraits<Exec>::is_device ? ij : packed_place(int(ij / n), int(ij % n));
    inverse(ij) = Scalar(-a(at));
  }
};

} // namespace detail

/// The inverse of the row-major symmetric matrix a [n * n], which is overwritten, on the rows whose
/// Cholesky pivot exceeds `threshold` times the diagonal entry, and zero elsewhere: the inverse if
/// the matrix is positive definite, else a symmetric generalised inverse (rows of held components
/// are zero, floating parts lose their rigid motions). Takes about 2 n^3 operations, half of them
/// on cores. Does not fence.
template<class Scalar, class Exec>
Array<Scalar, Exec> invert_semidefinite(const Exec& exec, const Array<double, Exec>& a,
                                        std::int64_t n, double threshold = 1e-10) {
  OSSATURA_REQUIRE(std::int64_t(a.extent(0)) == n * n,
                   a.extent(0) << " entries of a matrix with " << n << " rows");
  if constexpr (BackendTraits<Exec>::is_device)
    detail::sweep_on_device(exec, n, a, threshold);
  else
    detail::sweep_on_cores(exec, int(n), a, threshold);
  const auto inverse = make_uninitialized<Scalar>(exec, n * n, "ossatura::dense_inverse");
  Kokkos::parallel_for("ossatura::invert_semidefinite::negate", range(exec, n * n),
                       detail::NegateInto<Exec, Scalar>{n, a, inverse});
  return inverse;
}

} // namespace ossatura
