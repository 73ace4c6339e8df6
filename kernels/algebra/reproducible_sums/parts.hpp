// SPDX-License-Identifier: Apache-2.0
// Part sums compute several sums over entries in one pass. The entries are summed in parts that
// depend on their number alone, each part in a fixed order, and the host adds the parts in order:
// on a backend the same bits for any number of threads.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <algorithm>
#include <array>

namespace ossatura {

namespace detail {
template<class Exec, int count, class Terms>
struct SumParts {
  using Team = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Scratch = Kokkos::View<double*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int threads = BackendTraits<Exec>::is_device ? 128 : 1;
  std::int64_t n, per_part;
  Terms terms;
  Array<double, Exec> sum; ///< [parts, count]

  static std::size_t scratch_bytes() { return Scratch::shmem_size(threads * count); }

  KOKKOS_FUNCTION void operator()(const Team& team) const {
    const Scratch partial(team.team_scratch(0), int(threads) * int(count));
    const std::int64_t begin = team.league_rank() * per_part;
    const std::int64_t end = begin + per_part < n ? begin + per_part : n;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(threads)), [&](int t) {
      double own[count];
      for (int k = 0; k < count; ++k)
        own[k] = 0;
      for (std::int64_t i = begin + t; i < end; i += int(threads))
        terms(i, own);
      for (int k = 0; k < count; ++k)
        partial(k * int(threads) + t) = own[k];
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(count)), [&](int k) {
      double total = 0;
      for (int t = 0; t < int(threads); ++t)
        total += partial(k * int(threads) + t);
      sum(std::int64_t(team.league_rank()) * int(count) + k) = total;
    });
  }
};
} // namespace detail

/// The sums of what terms(i, own), a device function, adds to own [count] for i in [0, n). Fences.
template<int count, class Exec, class Terms>
std::array<double, count> part_sums(const Exec& exec, const char* label, std::int64_t n,
                                    const Terms& terms) {
  using Kernel = detail::SumParts<Exec, count, Terms>;
  const std::int64_t parts =
      std::clamp<std::int64_t>(n / (8 * 128), 1, BackendTraits<Exec>::is_device ? 1024 : 256);
  const auto sum = make_uninitialized<double>(exec, parts * count, "ossatura::part_sums");
  Kokkos::parallel_for(label,
                       Kokkos::TeamPolicy<Exec>(exec, int(parts), int(Kernel::threads))
                           .set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes())),
                       Kernel{n, (n + parts - 1) / parts, terms, sum});
  std::array<double, count> total{};
  const std::vector<double> host = download(exec, sum);
  for (std::size_t i = 0; i < host.size(); ++i)
    total[i % count] += host[i];
  return total;
}

namespace detail {
template<class Exec>
struct LargestDifference {
  Array<double, Exec> x, y;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& largest) const {
    const double difference = fabs(x(i) - y(i));
    largest = Kokkos::max(largest, difference);
  }
};
} // namespace detail

/// The largest |x(i) - y(i)|, 0 of none; NaNs do not count. Fences.
template<class Exec>
double largest_difference(const Exec& exec, const Array<double, Exec>& x,
                          const Array<double, Exec>& y) {
  double largest = 0;
  Kokkos::parallel_reduce("ossatura::largest_difference", range(exec, x.extent(0)),
                          detail::LargestDifference<Exec>{x, y}, Kokkos::Max<double>(largest));
  return largest;
}

} // namespace ossatura
