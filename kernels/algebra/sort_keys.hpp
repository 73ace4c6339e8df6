// SPDX-License-Identifier: Apache-2.0
// These kernels sort by integer keys on every backend, least significant bit first, one scan a bit.
#pragma once

#include <ossatura/core/base/vector.hpp>

#include <utility>

namespace ossatura {

namespace detail {

/// Entries whose bit is 0 go to the front, the others behind all of those, both in order.
template<class Exec, class Key>
struct SplitByBit {
  int bit;
  std::int64_t n;
  Array<Key, Exec> key, split_key;
  Array<int, Exec> order, split_order;
  Array<int, Exec> zeros; ///< [1] how many bits are 0

  KOKKOS_FUNCTION void operator()(std::int64_t i, int& before, bool final) const {
    const Key k = key(i);
    const bool one = (k >> bit & 1) != 0;
    if (final) {
      const std::int64_t place = one ? zeros(0) + (i - before) : before;
      split_key(place) = k;
      split_order(place) = order(i);
    }
    before += one ? 0 : 1;
  }
};

template<class Exec, class Key>
struct CountZeroBits {
  int bit;
  Array<Key, Exec> key;
  KOKKOS_FUNCTION void operator()(std::int64_t i, int& count) const {
    count += (key(i) >> bit & 1) == 0 ? 1 : 0;
  }
};

template<class Exec>
struct FillNumbers {
  Array<int, Exec> number;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { number(i) = int(i); }
};

} // namespace detail

/// The order in which the low `bits` bits of key [n] ascend: entry i comes from order(i). Stable,
/// so it does not depend on the threads. Keys are unsigned, of 32 or 64 bits. Overwrites `key`.
/// Does not fence.
template<class Exec, class Key>
Array<int, Exec> sorted_order(const Exec& exec, Array<Key, Exec> key, int bits) {
  const std::int64_t n = key.extent(0);
  auto order = make_uninitialized<int>(exec, n, "ossatura::sorted_order");
  auto split_order = make_uninitialized<int>(exec, n, "ossatura::sorted_order::split");
  auto split_key = make_uninitialized<Key>(exec, n, "ossatura::sorted_order::key");
  const auto zeros = make_zeros<int>(exec, 1, "ossatura::sorted_order::zeros");
  Kokkos::parallel_for("ossatura::sorted_order::number", range(exec, n),
                       detail::FillNumbers<Exec>{order});
  for (int bit = 0; bit < bits; ++bit) {
    Kokkos::parallel_reduce("ossatura::sorted_order::count", range(exec, n),
                            detail::CountZeroBits<Exec, Key>{bit, key},
                            Kokkos::View<int, typename Exec::memory_space>(zeros.data()));
    Kokkos::parallel_scan(
        "ossatura::sorted_order::split", range(exec, n),
        detail::SplitByBit<Exec, Key>{bit, n, key, split_key, order, split_order, zeros});
    std::swap(key, split_key);
    std::swap(order, split_order);
  }
  return order;
}

} // namespace ossatura
