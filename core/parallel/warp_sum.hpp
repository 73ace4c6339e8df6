// SPDX-License-Identifier: Apache-2.0
// warp_sum adds the values of the lanes of a warp, for kernels that count lanes themselves.
#pragma once

#include <Kokkos_Core.hpp>

namespace ossatura {

/// The sum of `value` over `lanes` neighbouring threads, a power of two up to 32, all of which are
/// here; each gets it. One lane is the thread alone, the only choice on cores.
template<int lanes, class T>
KOKKOS_FORCEINLINE_FUNCTION T warp_sum(T value) {
  static_assert(lanes >= 1 && lanes <= 32 && (lanes & (lanes - 1)) == 0, "part of a warp");
#if defined(__CUDA_ARCH__)
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffffu, value, distance);
#endif
  return value;
}

/// The sums of eight values over the 32 lanes of a warp, all of which are here: lane l gets that of
/// value l / 4. Lanes exchange halves of what they still sum, 9 exchanges instead of 40.
template<class T>
KOKKOS_FORCEINLINE_FUNCTION T warp_sums(const T (&value)[8], [[maybe_unused]] int lane) {
#if defined(__CUDA_ARCH__)
  T four[4], two[2];
  for (int i = 0; i < 4; ++i) {
    const T other = lane & 16 ? value[i] : value[i + 4];
    four[i] = (lane & 16 ? value[i + 4] : value[i]) + __shfl_xor_sync(0xffffffffu, other, 16);
  }
  for (int i = 0; i < 2; ++i) {
    const T other = lane & 8 ? four[i] : four[i + 2];
    two[i] = (lane & 8 ? four[i + 2] : four[i]) + __shfl_xor_sync(0xffffffffu, other, 8);
  }
  const T other = lane & 4 ? two[0] : two[1];
  T one = (lane & 4 ? two[1] : two[0]) + __shfl_xor_sync(0xffffffffu, other, 4);
  one += __shfl_xor_sync(0xffffffffu, one, 2);
  return one + __shfl_xor_sync(0xffffffffu, one, 1);
#else
  return value[0];
#endif
}

} // namespace ossatura
