// SPDX-License-Identifier: Apache-2.0
// Searches in ascending keys of a backend.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// How many of `sorted`, ascending, are less than `key`.
template<class Exec>
KOKKOS_INLINE_FUNCTION int lower_bound(const Array<std::uint64_t, Exec>& sorted,
                                       std::uint64_t key) {
  std::int64_t begin = 0, end = std::int64_t(sorted.extent(0));
  while (begin < end) {
    const std::int64_t middle = (begin + end) / 2;
    if (sorted(middle) < key)
      begin = middle + 1;
    else
      end = middle;
  }
  return int(begin);
}

/// Where `key` is; -1 if it is not there.
template<class Exec>
KOKKOS_INLINE_FUNCTION int find_key(const Array<std::uint64_t, Exec>& sorted, std::uint64_t key) {
  const int i = lower_bound<Exec>(sorted, key);
  return i < int(sorted.extent(0)) && sorted(i) == key ? i : -1;
}

namespace detail {
template<class Exec>
struct SearchKeys {
  Array<std::uint64_t, Exec> sorted, key;
  bool exact;
  Array<int, Exec> found;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    found(i) = exact ? find_key<Exec>(sorted, key(i)) : lower_bound<Exec>(sorted, key(i));
  }
};

template<class Exec>
std::vector<int> search_keys(const Exec& exec, const Array<std::uint64_t, Exec>& sorted,
                             const std::vector<std::uint64_t>& keys, bool exact) {
  const std::int64_t n = std::int64_t(keys.size());
  const auto found = make_uninitialized<int>(exec, n, "ossatura::search_keys");
  Kokkos::parallel_for(
      "ossatura::search_keys", range(exec, n),
      SearchKeys<Exec>{sorted, upload(exec, "ossatura::search_keys::key", keys), exact, found});
  return download(exec, found);
}
} // namespace detail

/// How many of `sorted` are less than each of `keys`. Fences.
template<class Exec>
std::vector<int> lower_bounds(const Exec& exec, const Array<std::uint64_t, Exec>& sorted,
                              const std::vector<std::uint64_t>& keys) {
  return detail::search_keys(exec, sorted, keys, false);
}

/// Where each of `keys` is in `sorted`; -1 if it is not there. Fences.
template<class Exec>
std::vector<int> find_keys(const Exec& exec, const Array<std::uint64_t, Exec>& sorted,
                           const std::vector<std::uint64_t>& keys) {
  return detail::search_keys(exec, sorted, keys, true);
}

} // namespace ossatura
