// SPDX-License-Identifier: Apache-2.0
// An InverseMap is the transpose of a map into [0, num_targets): for each target, the sources that
// map to it.
#pragma once

#include <ossatura/core/base/vector.hpp>

namespace ossatura {

/// Members of target t: member(begin(t)) .. member(begin(t + 1) - 1), ascending.
template<class Exec>
struct InverseMap {
  Array<int, Exec> begin;  ///< [num_targets + 1]
  Array<int, Exec> member; ///< [sources], those without a target last
};

namespace detail {

/// begin(t) counts the members of t.
template<class Exec>
struct CountMembersOfTarget {
  Array<int, Exec> target;
  Array<int, Exec> begin;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    Kokkos::atomic_add(&begin(target(i)), 1);
  }
};

/// Counts become ends, in place.
template<class Exec>
struct EndOfTarget {
  Array<int, Exec> begin;
  KOKKOS_FUNCTION void operator()(std::int64_t t, std::int64_t& sum, bool final) const {
    sum += begin(t); // a count until its final visit
    if (final)
      begin(t) = int(sum);
  }
};

/// Fills each target from its end, so that ends become beginnings. The order within a target is
/// that of the threads until it is sorted.
template<class Exec>
struct PlaceMembers {
  Array<int, Exec> target;
  InverseMap<Exec> inverse;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int place = Kokkos::atomic_fetch_add(&inverse.begin(target(i)), -1) - 1;
    inverse.member(place) = int(i);
  }
};

/// Insertion sort, for lists that are short or nearly in order.
KOKKOS_INLINE_FUNCTION void sort_list(int* list, int count) {
  for (int i = 1; i < count; ++i) {
    const int moved = list[i];
    int place = i;
    for (; place > 0 && list[place - 1] > moved; --place)
      list[place] = list[place - 1];
    list[place] = moved;
  }
}

/// Targets have few members.
template<class Exec>
struct SortMembers {
  InverseMap<Exec> inverse;
  KOKKOS_FUNCTION void operator()(std::int64_t t) const {
    const int begin = inverse.begin(t);
    sort_list(inverse.member.data() + begin, inverse.begin(t + 1) - begin);
  }
};

} // namespace detail

/// Inverts `target` [sources], entries in [0, num_targets), each the target of few sources, or
/// num_targets for sources that are left out: begin(num_targets) is what is left. The result does
/// not depend on the order of threads. Does not fence.
template<class Exec>
InverseMap<Exec> invert_map(const Exec& exec, const Array<int, Exec>& target,
                            std::int64_t num_targets) {
  const std::int64_t n = target.extent(0);
  InverseMap<Exec> inverse{make_zeros<int>(exec, num_targets + 1, "ossatura::inverse_map::begin"),
                           make_uninitialized<int>(exec, n, "ossatura::inverse_map::member")};
  Kokkos::parallel_for("ossatura::invert_map::count", range(exec, n),
                       detail::CountMembersOfTarget<Exec>{target, inverse.begin});
  Kokkos::parallel_scan("ossatura::invert_map::end", range(exec, num_targets + 1),
                        detail::EndOfTarget<Exec>{inverse.begin});
  Kokkos::parallel_for("ossatura::invert_map::place", range(exec, n),
                       detail::PlaceMembers<Exec>{target, inverse});
  Kokkos::parallel_for("ossatura::invert_map::sort", range(exec, num_targets),
                       detail::SortMembers<Exec>{inverse});
  return inverse;
}

} // namespace ossatura
