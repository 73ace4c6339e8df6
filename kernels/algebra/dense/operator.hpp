// SPDX-License-Identifier: Apache-2.0
// These kernels multiply a small dense matrix with a vector; the matrix is the inverse of a
// coarsest level.
#pragma once

#include <ossatura/core/base/vector.hpp>

namespace ossatura {

namespace detail {
template<class Exec, class Scalar>
struct ApplyDense {
  std::int64_t n;
  Array<Scalar, Exec> matrix;
  Array<Scalar, Exec> x;
  Array<Scalar, Exec> y;

  /// One row.
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Scalar* const row = &matrix(i * n);
    Scalar partial[8] = {}; // independent sums, which compilers vectorise
    std::int64_t j = 0;
    for (; j + 8 <= n; j += 8)
      for (int k = 0; k < 8; ++k)
        partial[k] += row[j + k] * x(j + k);
    Scalar sum = 0;
    for (; j < n; ++j)
      sum += row[j] * x(j);
    for (int k = 0; k < 8; ++k)
      sum += partial[k];
    y(i) = sum;
  }

  /// A row for each thread of the team; its vector lanes read side by side.
  KOKKOS_FUNCTION void
  operator()(const typename Kokkos::TeamPolicy<Exec>::member_type& team) const {
    const std::int64_t i = std::int64_t(team.league_rank()) * team.team_size() + team.team_rank();
    if (i >= n)
      return;
    const Scalar* const row = &matrix(i * n);
    const Array<Scalar, Exec>& entries = x;
    // Four entries at a time, so that as many loads are under way.
    const int length = int(n), quarter = (length + 3) / 4;
    Scalar sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, quarter),
        [&](int first, Scalar& partial) {
          Scalar product[4];
          for (int k = 0; k < 4; ++k) {
            const int j = first + k * quarter;
            product[k] = j < length ? row[j] * entries(j) : Scalar(0);
          }
          partial += (product[0] + product[1]) + (product[2] + product[3]);
        },
        sum);
    const Array<Scalar, Exec>& result = y;
    Kokkos::single(Kokkos::PerThread(team), [&] { result(i) = sum; });
  }
};
} // namespace detail

/// y = M x for a symmetric dense M [n * n]. Does not fence.
template<class Exec, class Scalar>
void apply_dense(const Exec& exec, const Array<Scalar, Exec>& matrix, const Array<Scalar, Exec>& x,
                 const Array<Scalar, Exec>& y) {
  const std::int64_t n = x.extent(0);
  const detail::ApplyDense<Exec, Scalar> rows{n, matrix, x, y};
  if constexpr (BackendTraits<Exec>::is_device)
    Kokkos::parallel_for("ossatura::apply_dense",
                         Kokkos::TeamPolicy<Exec>(exec, int((n + 3) / 4), 4, 32), rows);
  else
    Kokkos::parallel_for("ossatura::apply_dense", range(exec, n), rows);
}

} // namespace ossatura
