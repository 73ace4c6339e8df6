// SPDX-License-Identifier: Apache-2.0
// An asynchronous copy moves data from global to team memory; a thread starts the copy and later
// waits for it. On NVIDIA devices the hardware moves the data past the registers (cp.async, compute
// capability 8.0); elsewhere a copy is done when it is started.
#pragma once

#include <Kokkos_Core.hpp>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#include <cuda_pipeline_primitives.h>
#define OSSATURA_ASYNC_COPY 1
#else
#define OSSATURA_ASYNC_COPY 0
#endif

namespace ossatura {

/// *to = *from, or zero if `valid` is false; `from` must be an address of the allocation anyway.
template<class T>
KOKKOS_FORCEINLINE_FUNCTION void start_copy(T* to, const T* from, bool valid) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "cp.async moves 4, 8 or 16 bytes");
#if OSSATURA_ASYNC_COPY
  __pipeline_memcpy_async(to, from, sizeof(T), valid ? 0 : sizeof(T));
#else
  *to = valid ? *from : T{};
#endif
}

/// to[i * Stride] = from[i] for i < Count (1 or 3), or zeros if `valid` is false; then `from` is
/// not read. One predicate serves all copies; a size that is known at run time alone, as in
/// start_copy, costs instructions for each of them.
template<int Count, int Stride, class T>
KOKKOS_FORCEINLINE_FUNCTION void start_strided_copies(T* to, const T* from, bool valid) {
  static_assert(Count == 1 || Count == 3, "a number or a vector of a node");
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "cp.async moves 4, 8 or 16 bytes");
#if OSSATURA_ASYNC_COPY
  constexpr int step = Stride * int(sizeof(T)), size = int(sizeof(T));
  const unsigned place = unsigned(__cvta_generic_to_shared(to));
  if constexpr (Count == 1)
    asm volatile("{ .reg .pred none; setp.eq.u32 none, %2, 0;\n"
                 " cp.async.ca.shared.global [%0], [%1], %3, none; }" ::"r"(place),
                 "l"(from), "r"(unsigned(valid)), "n"(size)
                 : "memory");
  else
    asm volatile("{ .reg .pred none; setp.eq.u32 none, %2, 0;\n"
                 " cp.async.ca.shared.global [%0], [%1], %3, none;\n"
                 " cp.async.ca.shared.global [%0 + %4], [%1 + %3], %3, none;\n"
                 " cp.async.ca.shared.global [%0 + %5], [%1 + %6], %3, none; }" ::"r"(place),
                 "l"(from), "r"(unsigned(valid)), "n"(size), "n"(step), "n"(2 * step), "n"(2 * size)
                 : "memory");
#else
  for (int i = 0; i < Count; ++i)
    to[i * Stride] = valid ? from[i] : T(0);
#endif
}

/// Closes the batch of copies that the thread started since the last call.
KOKKOS_FORCEINLINE_FUNCTION void commit_copies() {
#if OSSATURA_ASYNC_COPY
  __pipeline_commit();
#endif
}

/// Waits for the thread's batches but the last `Pending`. Others see the data after a barrier.
template<int Pending>
KOKKOS_FORCEINLINE_FUNCTION void wait_for_copies() {
#if OSSATURA_ASYNC_COPY
  __pipeline_wait_prior(Pending);
#endif
}

} // namespace ossatura
