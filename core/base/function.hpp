// SPDX-License-Identifier: Apache-2.0
// These macros mark functions that hosts and devices call, in headers that sources without Kokkos
// include, too. Elsewhere Kokkos' own (KOKKOS_INLINE_FUNCTION) say the same.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)
#define OSSATURA_INLINE_FUNCTION __host__ __device__ inline
#define OSSATURA_FORCEINLINE_FUNCTION __host__ __device__ __forceinline__
#else
#define OSSATURA_INLINE_FUNCTION inline
#define OSSATURA_FORCEINLINE_FUNCTION inline __attribute__((always_inline))
#endif
