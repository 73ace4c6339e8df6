// SPDX-License-Identifier: Apache-2.0
// Approximate quotients and roots serve kernels that these operations limit. On a GPU in single
// precision the special function unit computes them, off by a few units in the last place and
// taking denormals as zero; elsewhere, and in double, the operations are those of the language.
#pragma once

#include <Kokkos_Core.hpp>

#include <cmath>

namespace ossatura {

/// 1 / x, infinite for 0.
KOKKOS_FORCEINLINE_FUNCTION float approximate_inverse(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return 1 / x;
#endif
}

KOKKOS_FORCEINLINE_FUNCTION double approximate_inverse(double x) {
  return 1 / x;
}

/// The root of x >= 0.
KOKKOS_FORCEINLINE_FUNCTION float approximate_root(float x) {
#if defined(__CUDA_ARCH__)
  float result;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
#else
  return std::sqrt(x);
#endif
}

KOKKOS_FORCEINLINE_FUNCTION double approximate_root(double x) {
  return sqrt(x);
}

} // namespace ossatura
