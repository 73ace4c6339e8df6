// SPDX-License-Identifier: Apache-2.0
// A Morton (z-order) key interleaves the bits of x, y and z, x lowest. Points with near keys are
// near one another in space, so arrays in the order of keys reuse caches.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace ossatura {

namespace detail {
/// Puts two zero bits between the 21 low bits of v.
KOKKOS_INLINE_FUNCTION std::uint64_t spread_bits(std::uint64_t v) {
  v &= 0x1fffff;
  v = (v | v << 32) & 0x1f00000000ffffull;
  v = (v | v << 16) & 0x1f0000ff0000ffull;
  v = (v | v << 8) & 0x100f00f00f00f00full;
  v = (v | v << 4) & 0x10c30c30c30c30c3ull;
  v = (v | v << 2) & 0x1249249249249249ull;
  return v;
}

/// Inverse of spread_bits.
KOKKOS_INLINE_FUNCTION std::uint32_t gather_bits(std::uint64_t v) {
  v &= 0x1249249249249249ull;
  v = (v ^ (v >> 2)) & 0x10c30c30c30c30c3ull;
  v = (v ^ (v >> 4)) & 0x100f00f00f00f00full;
  v = (v ^ (v >> 8)) & 0x1f0000ff0000ffull;
  v = (v ^ (v >> 16)) & 0x1f00000000ffffull;
  v = (v ^ (v >> 32)) & 0x1fffffull;
  return std::uint32_t(v);
}
} // namespace detail

/// Key of (x, y, z), each in [0, 2^21).
KOKKOS_INLINE_FUNCTION std::uint64_t morton_key(int x, int y, int z) {
  return detail::spread_bits(x) | detail::spread_bits(y) << 1 | detail::spread_bits(z) << 2;
}

/// The coordinate along `axis` of a key.
KOKKOS_INLINE_FUNCTION int morton_coordinate(std::uint64_t key, int axis) {
  return int(detail::gather_bits(key >> axis));
}

#if defined(__POPCNT__) || !defined(__x86_64__) || defined(__CUDA_ARCH__) ||                       \
    defined(__HIP_DEVICE_COMPILE__)
#define OSSATURA_COUNTS_ONES // an instruction does
#endif

namespace detail {
/// The number of one bits of each byte, side by side: sums of two, four and eight bits.
KOKKOS_INLINE_FUNCTION std::uint64_t count_ones_of_bytes(std::uint64_t v) {
  v -= v >> 1 & 0x5555555555555555ull;
  v = (v & 0x3333333333333333ull) + (v >> 2 & 0x3333333333333333ull);
  return (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0full;
}
} // namespace detail

/// Number of one bits of an unsigned integer. (Kokkos::popcount has no instruction for it.)
template<class Bits>
KOKKOS_INLINE_FUNCTION int count_ones(Bits v) {
#if defined(OSSATURA_COUNTS_ONES)
  return Kokkos::Experimental::popcount_builtin(v);
#else // compilers call a function with a table
  return int(detail::count_ones_of_bytes(v) * 0x0101010101010101ull >> 56);
#endif
}

/// Number of the lowest one bit of v, which is not 0.
KOKKOS_INLINE_FUNCTION int lowest_one(std::uint32_t v) {
  return Kokkos::Experimental::countr_zero_builtin(v);
}

/// Number of the one bit of v that has `rank` others below it; v has more than `rank`.
KOKKOS_INLINE_FUNCTION int select_one(std::uint64_t v, int rank) {
#if defined(OSSATURA_COUNTS_ONES)
  int number = 0;
  for (int half = 32; half > 0; half /= 2) {
    const int below = count_ones(v & ((std::uint64_t(1) << half) - 1));
    if (rank >= below) {
      rank -= below;
      v >>= half;
      number += half;
    }
  }
  return number;
#else
  // The byte that has it: how many bytes have no more than `rank` ones in them and all below them.
  // Side by side, each with the highest bit of its byte for the answer.
  constexpr std::uint64_t ones = 0x0101010101010101ull, high = 0x8080808080808080ull;
  const std::uint64_t upto = detail::count_ones_of_bytes(v) * ones;
  const std::uint64_t too_few = ((std::uint64_t(rank) * ones | high) - upto) & high;
  const int place = int((too_few >> 7) * ones >> 56) * 8;
  std::uint32_t byte = std::uint32_t(v >> place) & 0xff;
  for (rank -= int(upto << 8 >> place & 0xff); rank > 0; --rank)
    byte &= byte - 1;
  return place + lowest_one(byte);
#endif
}

#undef OSSATURA_COUNTS_ONES

} // namespace ossatura
