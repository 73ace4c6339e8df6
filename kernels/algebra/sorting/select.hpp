// SPDX-License-Identifier: Apache-2.0
// These kernels find single entries of a sorted array without sorting it, by counting digits: eight
// bits in each of four passes, for all entries asked for at a time.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/kernels/algebra/sorting/ordered_bits.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace ossatura {

namespace detail {

/// Counts the values of digit `pass`, the highest is 0, of the entries of each prefix: the prefixes
/// of the passes before are numbered, and `next` leads from one and a digit to that of the pass
/// after, or to -1.
template<class Exec>
struct CountDigits {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;
  using Scratch = Kokkos::View<int*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int digits = 256;
  static constexpr std::int64_t part = 1 << 16; ///< entries of a team

  Array<float, Exec> x;
  Array<int, Exec> next[4];        ///< [digits * prefixes of the pass], of those before this one
  int pass, num_prefixes;          ///< of this pass
  Array<std::int64_t, Exec> count; ///< [digits * num_prefixes]

  KOKKOS_FORCEINLINE_FUNCTION static void add_one(int& bin) {
    if constexpr (BackendTraits<Exec>::is_device)
      Kokkos::atomic_inc(&bin);
    else
      ++bin; // teams of one thread
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const int bins = digits * num_prefixes, level = scratch_level<Exec>;
    const Scratch mine(team.team_scratch(level), bins);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, bins), [&](int bin) { mine(bin) = 0; });
    team.team_barrier();
    const std::int64_t begin = part * team.league_rank(), left = std::int64_t(x.extent(0)) - begin;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, int(left < part ? left : part)), [&](int i) {
      const std::uint32_t key = sort_key(x(begin + i));
      int prefix = 0;
      for (int p = 0; p < pass && prefix >= 0; ++p)
        prefix = next[p](digits * prefix + int(key >> (24 - 8 * p) & 255));
      if (prefix >= 0)
        add_one(mine(digits * prefix + int(key >> (24 - 8 * pass) & 255)));
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, bins), [&](int bin) {
      if (mine(bin) != 0)
        Kokkos::atomic_add(&count(bin), std::int64_t(mine(bin)));
    });
  }
};

} // namespace detail

/// The entries that would stand at `places` (from 0, at most 32, in any order) if `x`, without NaN,
/// were sorted upwards, along with those of all processes of `comm`, which all call it. Takes four
/// passes over `x` and some KiB. Fences.
template<class Exec>
std::vector<float> select_sorted(const Exec& exec, const Array<float, Exec>& x,
                                 const std::vector<std::int64_t>& places,
                                 const Communicator& comm = {}) {
  using Count = detail::CountDigits<Exec>;
  OSSATURA_REQUIRE(places.size() <= 32, places.size() << " places");
  const std::int64_t size = comm.sum(std::int64_t(x.extent(0)));
  for (const std::int64_t place : places)
    OSSATURA_REQUIRE(place >= 0 && place < size, "place " << place << " of " << size);
  std::vector<std::int64_t> rank = places; // among those of its prefix
  std::vector<int> prefix(places.size(), 0);
  std::vector<std::uint32_t> key(places.size(), 0);
  Count kernel{x, {}, 0, 1, {}};
  for (int pass = 0; pass < 4; ++pass) {
    const int bins = Count::digits * kernel.num_prefixes;
    kernel.pass = pass;
    kernel.count = make_zeros<std::int64_t>(exec, bins, "ossatura::select_sorted::count");
    const std::int64_t teams = (std::int64_t(x.extent(0)) + Count::part - 1) / Count::part;
    typename Count::Policy policy(exec, int(teams), BackendTraits<Exec>::is_device ? 256 : 1);
    policy.set_scratch_size(scratch_level<Exec>,
                            Kokkos::PerTeam(int(Count::Scratch::shmem_size(std::size_t(bins)))));
    Kokkos::parallel_for("ossatura::select_sorted", policy, kernel);
    std::vector<std::int64_t> count(static_cast<std::size_t>(bins), 0);
    const std::vector<std::int64_t> of_all = comm.gather(download(exec, kernel.count));
    for (std::size_t i = 0; i < of_all.size(); ++i)
      count[i % count.size()] += of_all[i];

    std::vector<int> next(std::size_t(bins), -1);
    int num_next = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      int bin = Count::digits * prefix[i];
      for (; rank[i] >= count[std::size_t(bin)]; ++bin)
        rank[i] -= count[std::size_t(bin)];
      key[i] = key[i] << 8 | std::uint32_t(bin % Count::digits);
      if (next[std::size_t(bin)] < 0)
        next[std::size_t(bin)] = num_next++;
      prefix[i] = next[std::size_t(bin)];
    }
    kernel.next[pass] = upload(exec, "ossatura::select_sorted::next", next);
    kernel.num_prefixes = num_next;
  }
  std::vector<float> found;
  for (const std::uint32_t k : key)
    found.push_back(detail::number_of_sort_key(k));
  return found;
}

} // namespace ossatura
