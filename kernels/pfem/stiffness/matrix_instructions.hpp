// SPDX-License-Identifier: Apache-2.0
// Matrix instructions of CUDA devices for fp64: a warp multiplies matrices that its lanes have in
// parts. 8 x 8 x 4 is of compute capability 8.0; 16 x 8 x 4 and 16 x 8 x 8, twice as fast, of 9.0.
// They are left out of code for devices before. All lanes of a warp have to call them.
#pragma once

#include <ossatura/core/base/backend.hpp>

namespace ossatura::detail {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)

/// c += a b: lane 4 r + k has a(r, k), lane 4 c + k has b(k, c), lane 4 r + t has c(r, 2 t) and
/// c(r, 2 t + 1).
__device__ inline void multiply_8x8x4(double a, double b, double& c0, double& c1) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(c0), "+d"(c1)
               : "d"(a), "d"(b));
#endif
}

/// c += a b: lane 4 g + t has a(g, t), a(g + 8, t), a(g, t + 4), a(g + 8, t + 4), b(t, g),
/// b(t + 4, g) and c(g, 2 t), c(g, 2 t + 1), c(g + 8, 2 t), c(g + 8, 2 t + 1).
__device__ inline void multiply_16x8x8(double a0, double a1, double a2, double a3, double b0,
                                       double b1, double (&c)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
               "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
               : "d"(a0), "d"(a1), "d"(a2), "d"(a3), "d"(b0), "d"(b1));
#endif
}

/// The same without the second halves of a and b.
__device__ inline void multiply_16x8x4(double a0, double a1, double b, double (&c)[4]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
               "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
               : "d"(a0), "d"(a1), "d"(b));
#endif
}

#endif

} // namespace ossatura::detail
