// SPDX-License-Identifier: BSD-3-Clause
// Sums over the lanes of a warp, for kernels that count lanes themselves.
#pragma once

#include <Kokkos_Core.hpp>

namespace femura {

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

} // namespace femura
