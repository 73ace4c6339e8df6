// SPDX-License-Identifier: Apache-2.0
// These kernels invert the diagonal blocks of L, panel by panel.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/factor/invert_entries.hpp>
#include <ossatura/kernels/factor/pattern.hpp>

#include <vector>

namespace ossatura {

/// Panel s: L_ss^-1, column-major of 3 width(s) rows and columns, zeros stored, from begin(s).
template<class Exec>
struct DiagonalInverse {
  Array<std::int64_t, Exec> begin; ///< [num_panels + 1]
  Array<double, Exec> value;
};

/// Room for them. Fences.
template<class Exec>
DiagonalInverse<Exec> make_diagonal_inverse(const Exec& exec, const FactorPattern& pattern) {
  std::vector<std::int64_t> begin(1, 0);
  for (int s = 0; s < pattern.num_panels(); ++s)
    begin.push_back(begin.back() + 9 * std::int64_t(pattern.width(s)) * pattern.width(s));
  return {upload(exec, "ossatura::diagonal_inverse::begin", begin),
          make_uninitialized<double>(exec, begin.back(), "ossatura::diagonal_inverse::value")};
}

namespace detail {
template<class Exec>
struct InvertDiagonalBlock {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Scratch = Kokkos::View<double*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int pitch = 3 * max_panel_nodes + 1;
  Array<int, Exec> first, row_begin;
  Array<std::int64_t, Exec> panel_begin, inverse_begin;
  Array<double, Exec> panel, inverse;

  static std::size_t scratch_bytes() { return 2 * Scratch::shmem_size(pitch * (pitch - 1)); }

  /// L X = I, row after row of X.
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const int s = team.league_rank();
    const int width = first(s + 1) - first(s), n = 3 * width;
    const int height = n + 3 * (row_begin(s + 1) - row_begin(s));
    const Scratch l(team.team_scratch(int(scratch_level<Exec>)), pitch * (pitch - 1));
    const Scratch x(team.team_scratch(int(scratch_level<Exec>)), pitch * (pitch - 1));
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n * n), [&](int item) {
      const int i = item % n, k = item / n;
      l(i * pitch + k) = panel(panel_begin(s) + std::int64_t(k) * height + i);
      x(i * pitch + k) = i == k ? 1.0 : 0.0;
    });
    team.team_barrier();
    for (int k = 0; k < n; ++k) {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(team, (n - 1 - k) * (k + 1)), [&](int item) {
        const int i = k + 1 + item / (k + 1), c = item % (k + 1);
        x(i * pitch + c) -= l(i * pitch + k) * x(k * pitch + c);
      });
      team.team_barrier();
    }
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n * n), [&](int item) {
      inverse(inverse_begin(s) + item) = x(item % n * pitch + item / n);
    });
  }
};
} // namespace detail

/// From a factor that was made elsewhere; also D^-1 [3 num_nodes]. Does not fence.
template<class Exec>
void invert_diagonal_blocks(const Exec& exec, const SupernodalFactor<Exec>& factor,
                            const DiagonalInverse<Exec>& diagonal,
                            const Array<double, Exec>& inverse_pivot) {
  const FactorPatternArrays<Exec>& pattern = factor.pattern;
  using Kernel = detail::InvertDiagonalBlock<Exec>;
  Kokkos::parallel_for(
      "ossatura::invert_diagonal_blocks",
      Kokkos::TeamPolicy<Exec>(exec, pattern.num_panels, BackendTraits<Exec>::is_device ? 128 : 1)
          .set_scratch_size(scratch_level<Exec>, Kokkos::PerTeam(Kernel::scratch_bytes())),
      Kernel{pattern.first, pattern.row_begin, pattern.begin, diagonal.begin, factor.panel,
             diagonal.value});
  invert_entries(exec, factor.pivot, inverse_pivot);
}

} // namespace ossatura
