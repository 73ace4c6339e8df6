// SPDX-License-Identifier: Apache-2.0
// Wide teams have more scratch memory on chip than Kokkos gives (48 KiB a team on CUDA, of 227 that
// a multiprocessor of Hopper has), and run kernels of up to 32 KiB, whose tables are then constants
// of the launch. Elsewhere wide teams are Kokkos's teams of one thread.
//
// A kernel is a functor with operator()(const WideTeam&) and
//   static constexpr int max_threads;  // of a team
//   static constexpr int min_teams;    // on a multiprocessor at least, for its registers
#pragma once

#include <ossatura/core/base/backend.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace ossatura {

struct WideTeam {
  std::int64_t league_rank, league_size;
  int rank, size;  ///< of the thread in its team
  double* scratch; ///< at a multiple of 64 bytes

  KOKKOS_FORCEINLINE_FUNCTION void barrier() const {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }
  /// body(i) for i of [0, n), spread over the threads.
  template<class Body>
  KOKKOS_FORCEINLINE_FUNCTION void each(int n, const Body& body) const {
    for (int i = rank; i < n; i += size)
      body(i);
  }
  /// store(i, load(i)) for i of [0, n), spread over the threads, `Batch` loads before their stores:
  /// compilers leave loads behind stores that might be to the same place, and a thread would wait
  /// for memory each time.
  template<int Batch, class Load, class Store>
  KOKKOS_FORCEINLINE_FUNCTION void transfer(int n, const Load& load, const Store& store) const {
    for (int first = rank; first < n; first += Batch * size) {
      decltype(load(0)) value[Batch];
      for (int k = 0; k < Batch; ++k)
        if (first + k * size < n)
          value[k] = load(first + k * size);
      for (int k = 0; k < Batch; ++k)
        if (first + k * size < n)
          store(first + k * size, value[k]);
    }
  }
};

namespace detail {
template<class Kernel>
struct OneThreadTeam {
  Kernel kernel;
  std::size_t bytes;

  template<class Team>
  KOKKOS_FUNCTION void operator()(const Team& team) const {
    double* const scratch = static_cast<double*>(team.team_scratch(1).get_shmem_aligned(bytes, 64));
    kernel(WideTeam{team.league_rank(), team.league_size(), 0, 1, scratch});
  }
};
} // namespace detail

/// As many teams as run at once, `teams` on a multiprocessor of a device.
template<class Exec>
std::int64_t wide_team_concurrency(const Exec& exec, int /*teams*/) {
  return exec.concurrency();
}

/// Bytes of scratch that a team can have.
template<class Exec>
std::size_t max_wide_scratch(const Exec&) {
  return std::size_t(1) << 30;
}

/// Runs the kernel with `league` teams of `threads` threads (one on cores) and `bytes` of scratch
/// each. Does not fence.
template<class Exec, class Kernel>
void launch_wide_teams(const char* label, const Exec& exec, std::int64_t league, int /*threads*/,
                       std::size_t bytes, const Kernel& kernel) {
  using Policy = Kokkos::TeamPolicy<Exec>;
  Kokkos::parallel_for(
      label, Policy(exec, int(league), 1).set_scratch_size(1, Kokkos::PerTeam(int(bytes) + 64)),
      detail::OneThreadTeam<Kernel>{kernel, bytes});
}

#if defined(KOKKOS_ENABLE_CUDA)
inline std::int64_t wide_team_concurrency(const Cuda& exec, int teams) {
  return std::int64_t(exec.cuda_device_prop().multiProcessorCount) * teams;
}

inline std::size_t max_wide_scratch(const Cuda& exec) {
  return exec.cuda_device_prop().sharedMemPerBlockOptin;
}

#if defined(__CUDACC__)
namespace detail {
template<class Kernel>
__global__ void __launch_bounds__(Kernel::max_threads, Kernel::min_teams)
    run_wide_team(const __grid_constant__ Kernel kernel) {
  extern __shared__ __align__(128) double scratch[];
  kernel(WideTeam{blockIdx.x, gridDim.x, int(threadIdx.x), int(blockDim.x), scratch});
}
} // namespace detail

/// Throws std::runtime_error if the device has not that much scratch.
template<class Kernel>
void launch_wide_teams(const char* label, const Cuda& exec, std::int64_t league, int threads,
                       std::size_t bytes, const Kernel& kernel) {
  if (league <= 0)
    return;
  require_launches(label); // so that the error below is of this one
  const auto function = detail::run_wide_team<Kernel>;
  std::uint64_t id = 0; // a kernel of Kokkos, too, for tools that measure it
  Kokkos::Profiling::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id);
  cudaError_t error =
      cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, int(bytes));
  if (error == cudaSuccess) {
    function<<<unsigned(league), unsigned(threads), bytes, exec.cuda_stream()>>>(kernel);
    error = cudaGetLastError();
  }
  Kokkos::Profiling::endParallelFor(id);
  if (error == cudaSuccess)
    return;
  (void)cudaGetLastError(); // else Kokkos reports it once more, elsewhere
  throw std::runtime_error(std::string(label) + ": " + cudaGetErrorName(error) + ": " +
                           cudaGetErrorString(error));
}
#endif
#endif

} // namespace ossatura
