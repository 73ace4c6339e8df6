// SPDX-License-Identifier: Apache-2.0
// A bulk copy moves a contiguous piece of global memory to team memory; one thread starts it, and
// the hardware moves the data past the registers and reports at a transfer barrier when all bytes
// are there (cp.async.bulk and mbarriers, compute capability 9.0 [1]). Few and large copies pay:
// one takes some ten instructions of its thread, and 64 kB a multiprocessor must be under way.
//
// A transfer barrier is a 64-bit word of team memory. It has a phase, which ends when the number of
// arrivals that it was made for have come and all bytes that were announced are there; then the
// next begins. Phases are told apart by their parity: the first is 0, and waiting for parity 1 at a
// new barrier does not wait.
//
// For kernels of CUDA devices; OSSATURA_BULK_COPY says, in device code, whether the hardware has
// them, and on the host does_bulk_copies() whether the code that would run does.
//
// [1] NVIDIA. Parallel Thread Execution ISA 8.0 (2022), mbarrier and cp.async.bulk.
#pragma once

#include <ossatura/core/base/backend.hpp>

#include <cstdint>

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define OSSATURA_BULK_COPY 1
#else
#define OSSATURA_BULK_COPY 0
#endif

namespace ossatura {

using TransferBarrier = std::uint64_t;

/// Whether the device runs code of `kernel`, a __global__ function, that was compiled for compute
/// capability 9.0 or more. Not so where older code is translated for a newer device.
template<class Kernel>
bool does_bulk_copies(Kernel kernel) {
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess)
    return attributes.ptxVersion >= 90;
  (void)cudaGetLastError(); // else reported once more, elsewhere
  return false;
}

#if OSSATURA_BULK_COPY

namespace detail {
__device__ __forceinline__ unsigned shared_address(const void* in_team_memory) {
  return unsigned(__cvta_generic_to_shared(in_team_memory));
}
} // namespace detail

/// By one thread; others see the barrier after publish_barriers() by that thread and a barrier of
/// the team.
__device__ __forceinline__ void init_barrier(TransferBarrier* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(detail::shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Arrives; what the thread read and wrote before is done for those who wait.
__device__ __forceinline__ void arrive(TransferBarrier* barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(detail::shared_address(barrier))
               : "memory");
}

/// Arrives and announces `bytes` of bulk copies.
__device__ __forceinline__ void arrive_and_expect(TransferBarrier* barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(detail::shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

/// Until the phase of that parity has ended.
__device__ __forceinline__ void wait_for_phase(TransferBarrier* barrier, int parity) {
  unsigned done = 0;
  while (!done)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; "
                 "selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(detail::shared_address(barrier)), "r"(parity)
                 : "memory");
}

/// Both addresses and `bytes` are multiples of 16. Where threads of the team wrote to the place
/// before, a fence of the asynchronous proxy belongs between; reading needs none.
__device__ __forceinline__ void start_bulk_copy(void* to, const void* from, int bytes,
                                                TransferBarrier* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];" ::"r"(detail::shared_address(to)),
               "l"(from), "r"(bytes), "r"(detail::shared_address(barrier))
               : "memory");
}

/// A barrier of some whole warps of a team, `threads` in all. `id` of 1 .. 15: the team's is 0.
__device__ __forceinline__ void part_barrier(int id, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

#endif

} // namespace ossatura

#endif
