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

/// Number of one bits of an unsigned integer. (Kokkos::popcount has no instruction for it.)
template<class Bits>
KOKKOS_INLINE_FUNCTION int count_ones(Bits v) {
#if defined(__POPCNT__) || !defined(__x86_64__) || defined(__CUDA_ARCH__) ||                       \
    defined(__HIP_DEVICE_COMPILE__)
  return Kokkos::Experimental::popcount_builtin(v);
#else
  // Without the instruction compilers call a function with a table. Sums of two, four and eight
  // bits side by side, then the sum of all bytes.
  std::uint64_t bits = v;
  bits -= bits >> 1 & 0x5555555555555555ull;
  bits = (bits & 0x3333333333333333ull) + (bits >> 2 & 0x3333333333333333ull);
  bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0full;
  return int(bits * 0x0101010101010101ull >> 56);
#endif
}

/// Number of the lowest one bit of v, which is not 0.
KOKKOS_INLINE_FUNCTION int lowest_one(std::uint32_t v) {
  return Kokkos::Experimental::countr_zero_builtin(v);
}

} // namespace ossatura
