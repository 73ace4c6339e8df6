// SPDX-License-Identifier: Apache-2.0
// These kernels sort by integer keys on every backend, least significant digit first.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>

#include <algorithm>
#include <utility>

namespace ossatura {

namespace detail {

/// A work item takes a chunk of entries, one after the other: few on devices, where registers
/// count digits, many on cores.
template<class Exec>
struct DigitChunks {
  static constexpr int bits = BackendTraits<Exec>::is_device ? 4 : 8, num_digits = 1 << bits;
  std::int64_t n = 0, chunk = 1;

  DigitChunks(const Exec& exec, std::int64_t count)
      : n(count)
      , chunk(BackendTraits<Exec>::is_device
                  ? 64
                  : std::max<std::int64_t>(1 << 12, count / (4 * exec.concurrency()))) {}

  std::int64_t count() const { return (n + chunk - 1) / chunk; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin(std::int64_t c) const { return c * chunk; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t end(std::int64_t c) const {
    return (c + 1) * chunk < n ? (c + 1) * chunk : n;
  }
  /// Where digit d of chunk c stands: counts of a digit are side by side.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t place(std::int64_t num_chunks, int d,
                                                        std::int64_t c) {
    return d * num_chunks + c;
  }
};

template<class Exec, class Key>
struct CountChunkDigits {
  using Chunks = DigitChunks<Exec>;
  Chunks chunks;
  std::int64_t num_chunks;
  int shift, mask;
  ArrayPointer<const Key> key;
  ArrayPointer<int> count;

  KOKKOS_FUNCTION void operator()(std::int64_t c) const {
    int of_digit[Chunks::num_digits] = {};
    for (std::int64_t i = chunks.begin(c); i < chunks.end(c); ++i)
      ++of_digit[int(key(i) >> shift & Key(mask))];
    for (int d = 0; d < Chunks::num_digits; ++d)
      count(Chunks::place(num_chunks, d, c)) = of_digit[d];
  }
};

/// Counts become the places before them.
struct PlaceOfDigits {
  ArrayPointer<int> count;

  KOKKOS_FUNCTION void operator()(std::int64_t i, int& sum, bool final) const {
    const int own = count(i); // before it is overwritten
    if (final)
      count(i) = sum;
    sum += own;
  }
};

template<class Exec, class Key>
struct MoveByDigit {
  using Chunks = DigitChunks<Exec>;
  Chunks chunks;
  std::int64_t num_chunks;
  int shift, mask;
  ArrayPointer<const Key> key;
  ArrayPointer<const int> order, begin;
  ArrayPointer<Key> moved_key;
  ArrayPointer<int> moved_order;

  KOKKOS_FUNCTION void operator()(std::int64_t c) const {
    int next[Chunks::num_digits];
    for (int d = 0; d < Chunks::num_digits; ++d)
      next[d] = begin(Chunks::place(num_chunks, d, c));
    for (std::int64_t i = chunks.begin(c); i < chunks.end(c); ++i) {
      const Key k = key(i);
      const int to = next[int(k >> shift & Key(mask))]++;
      moved_key(to) = k;
      moved_order(to) = order(i);
    }
  }
};

template<class Exec>
struct FillNumbers {
  Array<int, Exec> number;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { number(i) = int(i); }
};

template<class Exec, class Key>
struct KeysInOrder {
  ArrayPointer<const int> order;
  ArrayPointer<const Key> from;
  ArrayPointer<Key> key;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { key(i) = from(order(i)); }
};

} // namespace detail

/// How many bits keys below n have.
inline int bits_for(std::int64_t n) {
  int bits = 0;
  while ((n - 1) >> bits != 0)
    ++bits;
  return bits;
}

/// 0, 1, .. n - 1. Does not fence.
template<class Exec>
Array<int, Exec> make_numbers(const Exec& exec, std::int64_t n, const std::string& label) {
  const auto number = make_uninitialized<int>(exec, n, label);
  Kokkos::parallel_for("ossatura::make_numbers", range(exec, n), detail::FillNumbers<Exec>{number});
  return number;
}

/// Sorts `order` [n] by the low `bits` bits of key(i), of entry i of `order`. Stable, so it does
/// not depend on the threads. Keys are unsigned, of 32 or 64 bits; fewer than 2^31. Overwrites
/// `key`. Does not fence.
template<class Exec, class Key>
Array<int, Exec> sort_by_keys(const Exec& exec, Array<Key, Exec> key, Array<int, Exec> order,
                              int bits) {
  using Chunks = detail::DigitChunks<Exec>;
  const std::int64_t n = std::int64_t(key.extent(0));
  const Chunks chunks(exec, n);
  const std::int64_t num_chunks = chunks.count();
  auto moved_order = make_uninitialized<int>(exec, n, "ossatura::sort_by_keys::order");
  auto moved_key = make_uninitialized<Key>(exec, n, "ossatura::sort_by_keys::key");
  const auto count = make_uninitialized<int>(exec, int(Chunks::num_digits) * num_chunks,
                                             "ossatura::sort_by_keys::count");
  for (int shift = 0; shift < bits; shift += Chunks::bits) {
    const int mask = (1 << std::min(int(Chunks::bits), bits - shift)) - 1;
    Kokkos::parallel_for(
        "ossatura::sort_by_keys::count", range(exec, num_chunks),
        detail::CountChunkDigits<Exec, Key>{chunks, num_chunks, shift, mask, key, count});
    Kokkos::parallel_scan("ossatura::sort_by_keys::place", range(exec, count.extent(0)),
                          detail::PlaceOfDigits{count});
    Kokkos::parallel_for("ossatura::sort_by_keys::move", range(exec, num_chunks),
                         detail::MoveByDigit<Exec, Key>{chunks, num_chunks, shift, mask, key, order,
                                                        count, moved_key, moved_order});
    std::swap(key, moved_key);
    std::swap(order, moved_order);
  }
  return order;
}

/// The order in which the low `bits` bits of key [n] ascend: entry i comes from order(i). Stable.
/// Overwrites `key`. Does not fence.
template<class Exec, class Key>
Array<int, Exec> sorted_order(const Exec& exec, const Array<Key, Exec>& key, int bits) {
  return sort_by_keys(
      exec, key, make_numbers(exec, std::int64_t(key.extent(0)), "ossatura::sorted_order"), bits);
}

/// `order` [n] of numbers below that of `keys`, sorted by their keys; where those are equal it
/// stays. Does not fence.
template<class Exec, class Key>
Array<int, Exec> sort_further(const Exec& exec, const Array<int, Exec>& order,
                              const Array<Key, Exec>& keys, int bits) {
  const std::int64_t n = std::int64_t(order.extent(0));
  const auto key = make_uninitialized<Key>(exec, n, "ossatura::sort_further::key");
  const auto own = make_uninitialized<int>(exec, n, "ossatura::sort_further::order");
  Kokkos::parallel_for("ossatura::sort_further", range(exec, n),
                       detail::KeysInOrder<Exec, Key>{order, keys, key});
  Kokkos::deep_copy(exec, own, order);
  return sort_by_keys(exec, key, own, bits);
}

} // namespace ossatura
