// SPDX-License-Identifier: Apache-2.0
// Offsets say where each of several lists begins when the lists, of different lengths, stand one
// after the other.
#pragma once

#include <ossatura/core/base/vector.hpp>

#include <limits>

namespace ossatura {

namespace detail {
template<class Exec, class Offset>
struct BeginOfList {
  std::int64_t num_lists;
  Array<Offset, Exec> begin;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum, bool final) const {
    const Offset count = i < num_lists ? begin(i) : 0; // before it is overwritten
    if (final)
      begin(i) = Offset(sum);
    sum += count;
  }
};
} // namespace detail

/// Makes lengths begin(0 .. n - 1) of `begin` [n + 1] the places where the lists begin; the last is
/// the total, which is returned. Throws std::invalid_argument if that does not fit in `begin`,
/// `what` says of what there are too many. Fences.
template<class Exec, class Offset>
Offset lengths_to_begins(const Exec& exec, const Array<Offset, Exec>& begin, const char* what) {
  const std::int64_t n = std::int64_t(begin.extent(0)) - 1;
  std::int64_t total = 0;
  Kokkos::parallel_scan("ossatura::lengths_to_begins", range(exec, n + 1),
                        detail::BeginOfList<Exec, Offset>{n, begin}, total);
  fence(exec, "ossatura::lengths_to_begins");
  OSSATURA_REQUIRE(total <= std::numeric_limits<Offset>::max(),
                   total << ' ' << what << ": more than " << 8 * sizeof(Offset) << " bits count");
  return Offset(total);
}

} // namespace ossatura
