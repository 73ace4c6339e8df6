// SPDX-License-Identifier: Apache-2.0
// aggregated_append gives each calling thread the next place of a list that many threads append to.
#pragma once

#include <Kokkos_Core.hpp>

namespace ossatura {

/// Takes the next place of a list whose length is *counter, for each thread that calls it. On a GPU
/// the threads of a warp that are here together take theirs at once, by one atomic operation.
KOKKOS_FORCEINLINE_FUNCTION int aggregated_append(int* counter) {
#if defined(__CUDA_ARCH__)
  unsigned before;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(before));
  const unsigned here = __activemask();
  const int leader = __ffs(int(here)) - 1, rank = __popc(here & before);
  int first = 0;
  if (rank == 0)
    first = atomicAdd(counter, __popc(here));
  return __shfl_sync(here, first, leader) + rank;
#else
  return Kokkos::atomic_fetch_add(counter, 1);
#endif
}

} // namespace ossatura
