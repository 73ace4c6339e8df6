// SPDX-License-Identifier: Apache-2.0
// Ordered bits are floating-point numbers as integers of the same order, for atomic minima: the
// bits of numbers that are not negative are ordered as the numbers are.
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

} // namespace ossatura::detail
