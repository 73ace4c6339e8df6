// SPDX-License-Identifier: Apache-2.0
// All blocks of a resident grid are on the device at once, so that they can wait for each other:
// one launch does many steps, and a barrier of the grid between two of them takes about 1 us, where
// a launch takes 1.5 us in a recorded graph and 5 us without. NVIDIA's cooperative launch alone
// promises that; other backends have no resident grids, and go on as they do.
//
// A kernel is a functor with operator()(const ResidentBlock&) const on the device and
//   static constexpr int threads;         // of a block
//   static constexpr int resident_blocks; // on a multiprocessor at least, for its registers
// What one block writes others see after a barrier of the grid, if they read it past the caches of
// multiprocessors (__ldcg).
#pragma once

#include <ossatura/core/base/backend.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace ossatura {

/// Whether code for resident grids on the backend is part of this build.
template<class Exec>
inline constexpr bool builds_resident_grids = false;

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
template<>
inline constexpr bool builds_resident_grids<Cuda> = true;

/// A block, as its threads see it.
struct ResidentBlock {
  int rank, num_blocks;
  char* scratch;      ///< the block's own, on chip, 16-byte aligned
  unsigned* arrivals; ///< of the barrier

  /// By all threads of all blocks. One addition a block to one counter: block 0 adds what brings
  /// the ones of the others to 2^31, so that the highest bit turns over when all are there, and no
  /// one has to set the counter back.
  __device__ __forceinline__ void grid_barrier() const {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      const unsigned mine = rank == 0 ? 0x80000000u - unsigned(num_blocks - 1) : 1u;
      const unsigned before = atomicAdd(arrivals, mine);
      while (((before ^ *static_cast<const volatile unsigned*>(arrivals)) & 0x80000000u) == 0) {
      }
      __threadfence();
    }
    __syncthreads();
  }
};

namespace detail {

template<class Kernel>
__global__ void __launch_bounds__(Kernel::threads, Kernel::resident_blocks)
    run_resident_block(const __grid_constant__ Kernel kernel, unsigned* arrivals) {
  extern __shared__ int4 resident_scratch[];
  kernel(ResidentBlock{int(blockIdx.x), int(gridDim.x), reinterpret_cast<char*>(resident_scratch),
                       arrivals});
}

[[noreturn]] inline void refuse_resident_grid(const char* label, cudaError_t error) {
  (void)cudaGetLastError(); // else Kokkos reports it once more, elsewhere
  throw std::runtime_error(std::string(label) + ": " + cudaGetErrorName(error) + ": " +
                           cudaGetErrorString(error));
}

} // namespace detail

/// Whether the device of an instance can launch resident grids.
inline bool has_resident_grids(const Cuda& exec) {
  int cooperative = 0;
  if (cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, exec.cuda_device()) !=
      cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  return cooperative != 0;
}

/// As many blocks of a kernel, with `bytes` of scratch each, as the device holds at once; 0 where
/// it holds none. Throws std::runtime_error where the device has not that much scratch.
template<class Kernel>
int max_resident_blocks(const char* label, const Cuda& exec, std::size_t bytes) {
  const auto function = detail::run_resident_block<Kernel>;
  cudaError_t error =
      cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
  int blocks = 0;
  if (error == cudaSuccess)
    error =
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, Kernel::threads, bytes);
  if (error != cudaSuccess)
    detail::refuse_resident_grid(label, error);
  return blocks * exec.cuda_device_prop().multiProcessorCount;
}

/// Runs the kernel with `num_blocks` blocks, at most max_resident_blocks(), and `bytes` of scratch
/// each. `arrivals` [1] is 0 before its first use, and belongs to one launch at a time. The label
/// names the kernel in profiles. Does not fence. Throws std::runtime_error where it is not started.
template<class Kernel>
void launch_resident_grid(const char* label, const Cuda& exec, int num_blocks, std::size_t bytes,
                          const Array<unsigned, Cuda>& arrivals, const Kernel& kernel) {
  const auto function = detail::run_resident_block<Kernel>;
  // Here, too: of a kernel that is a template nvcc gives each source a copy of its own, and
  // max_resident_blocks() may be that of another source.
  cudaError_t error =
      cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
  if (error != cudaSuccess)
    detail::refuse_resident_grid(label, error);
  require_launches(label); // so that the error below is of this one
  std::uint64_t id = 0;
  Kokkos::Profiling::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id);
  unsigned* counter = arrivals.data();
  void* arguments[] = {const_cast<Kernel*>(&kernel), &counter};
  error = cudaLaunchCooperativeKernel(function, dim3(unsigned(num_blocks)),
                                      dim3(unsigned(Kernel::threads)), arguments, bytes,
                                      exec.cuda_stream());
  Kokkos::Profiling::endParallelFor(id);
  if (error != cudaSuccess)
    detail::refuse_resident_grid(label, error);
}
#endif

} // namespace ossatura
