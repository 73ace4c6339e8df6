// SPDX-License-Identifier: Apache-2.0
// Ordered bits are floating-point numbers as integers of the same order, for atomic minima and for
// sorting. The bits of numbers that are not negative are ordered as the numbers are.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <cstring>

namespace ossatura::detail {

KOKKOS_FORCEINLINE_FUNCTION int* ordered_bits(float* time) {
  return reinterpret_cast<int*>(time);
}
KOKKOS_FORCEINLINE_FUNCTION std::int64_t* ordered_bits(double* time) {
  return reinterpret_cast<std::int64_t*>(time);
}
KOKKOS_FORCEINLINE_FUNCTION int ordered_bits(float time) {
  int bits;
  memcpy(&bits, &time, sizeof(bits));
  return bits;
}
KOKKOS_FORCEINLINE_FUNCTION std::int64_t ordered_bits(double time) {
  std::int64_t bits;
  memcpy(&bits, &time, sizeof(bits));
  return bits;
}

/// *least = min(*least, time), for many threads at once.
template<class Real>
KOKKOS_FORCEINLINE_FUNCTION void atomic_min_time(Real* least, Real time) {
  Kokkos::atomic_fetch_min(ordered_bits(least), ordered_bits(time));
}

/// An integer of the same order for numbers of any sign; both zeros are one.
KOKKOS_INLINE_FUNCTION std::uint32_t sort_key(float x) {
  x += 0.0F;
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof(bits));
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}
KOKKOS_INLINE_FUNCTION float number_of_sort_key(std::uint32_t key) {
  const std::uint32_t bits = (key >> 31) != 0 ? key & 0x7fffffffU : ~key;
  float x;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

} // namespace ossatura::detail
