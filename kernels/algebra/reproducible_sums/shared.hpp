// SPDX-License-Identifier: Apache-2.0
// Sums of what a functor finds for entries, as statistics and reactions are, with the same bits for
// any number of processes: groups.hpp says how, and has the dot products of an iteration.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace ossatura {

/// The entries of this process, and the processes with the others. By default nothing is shared.
struct SharedEntries {
  std::int64_t begin = 0, end = 0;
  Communicator comm{};
  /// [groups of this process + 1] entries with which its groups begin, and `end`. Empty: nothing is
  /// shared, and all threads of this process sum in the order of the backend.
  std::vector<std::int64_t> group_begin{};

  std::int64_t count() const { return end - begin; }
};

namespace detail {

/// As a reduction: `add(i, sum)` adds what entry i has to the numbers of `sum`.
template<int numbers, class Add>
struct ReduceEntries {
  using value_type = double[];
  unsigned value_count = numbers;
  Add add;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double sum[]) const { add(i, sum); }
};

/// A thread sums a strip of entries of a chunk.
template<int numbers, class Exec, class Add>
struct SumEntryStrips {
  static constexpr std::int64_t strip = 64, strips = 16; ///< entries, strips of a chunk
  Add add;
  Array<std::int64_t, Exec> chunk_begin, chunk_end;
  Array<double, Exec> sum; ///< [numbers strips chunks]

  KOKKOS_FUNCTION void operator()(std::int64_t s) const {
    const std::int64_t chunk = s / strips, begin = chunk_begin(chunk) + s % strips * strip,
                       end = Kokkos::min(begin + strip, chunk_end(chunk));
    double own[numbers] = {};
    for (std::int64_t i = begin; i < end; ++i)
      add(i, own);
    for (int k = 0; k < numbers; ++k)
      sum(numbers * s + k) = own[k];
  }
};

template<int numbers, class Exec>
struct AddEntryStrips {
  std::int64_t strips;
  Array<double, Exec> of_strips, of_chunks;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t chunk = i / numbers, k = i % numbers;
    double total = 0;
    for (std::int64_t s = chunk * strips; s < (chunk + 1) * strips; ++s)
      total += of_strips(numbers * s + k);
    of_chunks(i) = total;
  }
};

} // namespace detail

/// Sums of `numbers` numbers: add(i, double* sum) adds what entry i has, and is called once for
/// each entry of this process. By all processes that share the entries. Fences.
template<int numbers, class Exec, class Add>
std::array<double, numbers> sum_in_groups(const Exec& exec, const SharedEntries& entries,
                                          const Add& add) {
  std::array<double, numbers> total{};
  if (entries.group_begin.empty()) {
    const Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> sum(
        total.data(), numbers);
    Kokkos::parallel_reduce("ossatura::sum_in_groups", range(exec, entries.begin, entries.end),
                            detail::ReduceEntries<numbers, Add>{numbers, add}, sum);
    fence(exec, "ossatura::sum_in_groups");
    return total;
  }
  using Kernel = detail::SumEntryStrips<numbers, Exec, Add>;
  constexpr std::int64_t chunk = Kernel::strip * Kernel::strips;
  std::vector<std::int64_t> begin, end, first_chunk{0};
  for (std::size_t g = 0; g + 1 < entries.group_begin.size(); ++g) {
    const std::int64_t last = entries.group_begin[g + 1];
    for (std::int64_t i = entries.group_begin[g]; i < last; i += chunk) {
      begin.push_back(i);
      end.push_back(last < i + chunk ? last : i + chunk);
    }
    first_chunk.push_back(std::int64_t(begin.size()));
  }
  const std::int64_t chunks = std::int64_t(begin.size()), strips = chunks * Kernel::strips;
  const auto of_strips = make_uninitialized<double>(exec, numbers * strips, "ossatura::strip_sums");
  const auto of_chunks = make_uninitialized<double>(exec, numbers * chunks, "ossatura::chunk_sums");
  Kokkos::parallel_for("ossatura::sum_in_groups::strips", range(exec, strips),
                       Kernel{add, upload(exec, "ossatura::chunk_begin", begin),
                              upload(exec, "ossatura::chunk_end", end), of_strips});
  Kokkos::parallel_for("ossatura::sum_in_groups::chunks", range(exec, numbers * chunks),
                       detail::AddEntryStrips<numbers, Exec>{Kernel::strips, of_strips, of_chunks});
  const std::vector<double> sum = download(exec, of_chunks);
  std::vector<std::array<double, numbers>> of_groups(first_chunk.size() - 1);
  for (std::size_t g = 0; g < of_groups.size(); ++g) {
    of_groups[g] = {};
    for (std::int64_t c = first_chunk[g]; c < first_chunk[g + 1]; ++c)
      for (int k = 0; k < numbers; ++k)
        of_groups[g][std::size_t(k)] += sum[std::size_t(numbers * c + k)];
  }
  for (const std::array<double, numbers>& group : entries.comm.gather(of_groups))
    for (std::size_t k = 0; k < numbers; ++k)
      total[k] += group[k];
  return total;
}

} // namespace ossatura
