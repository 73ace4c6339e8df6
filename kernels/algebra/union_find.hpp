// SPDX-License-Identifier: Apache-2.0
// Union-find joins sets without locks on the device, in one array that holds the parent of every
// member.
//
// [1] J. Jaiganesh, M. Burtscher, "A high-performance connected components implementation for
//     GPUs", HPDC 2018. doi:10.1145/3208040.3208041
//
// As in [1], a parent is never greater than the member, so a set ends with its smallest member as
// root, whatever the order of the unions: the result is the same on every backend.
#pragma once

#include <ossatura/core/base/vector.hpp>

namespace ossatura {

namespace detail {

/// The root of i, halving the path on the way. Races are benign, per [1]: every value ever stored
/// at a member is an ancestor of it, and stores of words do not tear.
template<class Index>
KOKKOS_INLINE_FUNCTION Index find_root(Index* parent, Index i) {
  volatile Index* up = parent;
  Index current = up[i];
  if (current == i)
    return i;
  Index previous = i;
  for (Index next = up[current]; next < current; next = up[current]) {
    up[previous] = next;
    previous = current;
    current = next;
  }
  return current;
}

/// Joins the sets of a and b: the greater root is hooked to the smaller one.
template<class Index>
KOKKOS_INLINE_FUNCTION void unite(Index* parent, Index a, Index b) {
  a = find_root(parent, a);
  b = find_root(parent, b);
  while (a != b) {
    if (a < b) {
      const Index swap = a;
      a = b;
      b = swap;
    }
    const Index found = Kokkos::atomic_compare_exchange(parent + a, a, b);
    if (found == a)
      return;
    a = find_root(parent, found); // someone hooked a meanwhile
  }
}

/// Every member points at its root; negative entries are in no set. Roots do not change any more,
/// so the races are benign as above.
template<class Index, class Exec>
struct PointAtRoot {
  Array<Index, Exec> parent;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    volatile Index* up = parent.data();
    Index root = up[i];
    if (root < 0)
      return;
    for (Index next = up[root]; next != root; next = up[root])
      root = next;
    up[i] = root;
  }
};

template<class Exec>
struct FillSingletons {
  Array<int, Exec> parent;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { parent(i) = int(i); }
};

/// Numbers the roots in ascending order. A number n is kept as ~n, which tells it from a parent.
template<class Exec>
struct NumberRoots {
  Array<int, Exec> parent;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum, bool final) const {
    // Only this call reads or writes entry i, and nothing reads it after the final visit.
    if (parent(i) != int(i))
      return;
    if (final)
      parent(i) = ~int(sum);
    ++sum;
  }
};

/// Roots are left alone, so no member that is read changes meanwhile.
template<class Exec>
struct CopyRootNumber {
  Array<int, Exec> parent;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (parent(i) >= 0)
      parent(i) = ~parent(parent(i));
  }
};

template<class Exec>
struct FinishRootNumber {
  Array<int, Exec> parent;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (parent(i) < 0)
      parent(i) = ~parent(i);
  }
};

} // namespace detail

/// Sets of one member each, for detail::unite; fewer than 2^31. Does not fence.
template<class Exec>
void fill_singletons(const Exec& exec, const Array<int, Exec>& parent) {
  Kokkos::parallel_for("ossatura::fill_singletons", range(exec, parent.extent(0)),
                       detail::FillSingletons<Exec>{parent});
}
template<class Exec>
Array<int, Exec> make_singletons(const Exec& exec, std::int64_t n, const std::string& label) {
  const Array<int, Exec> parent = make_uninitialized<int>(exec, n, label);
  fill_singletons(exec, parent);
  return parent;
}

/// Turns parents into the numbers of their sets, in place; sets are numbered in the order of their
/// smallest members. Returns how many sets there are. Fences.
template<class Exec>
int number_sets(const Exec& exec, const Array<int, Exec>& parent) {
  const std::int64_t n = parent.extent(0);
  std::int64_t count = 0;
  Kokkos::parallel_for("ossatura::number_sets::roots", range(exec, n),
                       detail::PointAtRoot<int, Exec>{parent});
  Kokkos::parallel_scan("ossatura::number_sets::number", range(exec, n),
                        detail::NumberRoots<Exec>{parent}, count);
  Kokkos::parallel_for("ossatura::number_sets::copy", range(exec, n),
                       detail::CopyRootNumber<Exec>{parent});
  Kokkos::parallel_for("ossatura::number_sets::finish", range(exec, n),
                       detail::FinishRootNumber<Exec>{parent});
  return int(count);
}

} // namespace ossatura
