// SPDX-License-Identifier: Apache-2.0
// This file alone names execution spaces of Kokkos. It lists the backends of this build and offers
// the choice among them at run time.
#pragma once

#include <ossatura/core/base/require.hpp>

#include <Kokkos_Core.hpp>

#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace ossatura {

#if defined(KOKKOS_ENABLE_SERIAL)
using Serial = Kokkos::Serial;
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
using OpenMP = Kokkos::OpenMP;
#endif
#if defined(KOKKOS_ENABLE_CUDA)
using Cuda = Kokkos::Cuda;
#endif

/// `X(Backend)` for each backend of this build (OSSATURA_OPENMP_ONLY: without Serial where there is
/// OpenMP, to build faster).
#if defined(KOKKOS_ENABLE_SERIAL) &&                                                               \
    !(defined(OSSATURA_OPENMP_ONLY) && defined(KOKKOS_ENABLE_OPENMP))
#define OSSATURA_FOR_SERIAL(X) X(::ossatura::Serial)
#else
#define OSSATURA_FOR_SERIAL(X)
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
#define OSSATURA_FOR_OPENMP(X) X(::ossatura::OpenMP)
#else
#define OSSATURA_FOR_OPENMP(X)
#endif
#if defined(KOKKOS_ENABLE_CUDA)
#define OSSATURA_FOR_CUDA(X) X(::ossatura::Cuda)
#else
#define OSSATURA_FOR_CUDA(X)
#endif
#define OSSATURA_FOR_EACH_BACKEND(X)                                                               \
  OSSATURA_FOR_SERIAL(X) OSSATURA_FOR_OPENMP(X) OSSATURA_FOR_CUDA(X)

template<class Exec>
struct BackendTraits;
#if defined(KOKKOS_ENABLE_SERIAL)
template<>
struct BackendTraits<Serial> {
  static constexpr const char* name = "serial";
  static constexpr bool is_device = false; ///< thousands of threads, own memory
};
#endif
#if defined(KOKKOS_ENABLE_OPENMP)
template<>
struct BackendTraits<OpenMP> {
  static constexpr const char* name = "openmp";
  static constexpr bool is_device = false;
};
#endif
#if defined(KOKKOS_ENABLE_CUDA)
template<>
struct BackendTraits<Cuda> {
  static constexpr const char* name = "cuda";
  static constexpr bool is_device = true;
};
#endif

/// Arrays of a backend: contiguous, in the memory of `Exec`.
template<class T, class Exec>
using Array = Kokkos::View<T*, Kokkos::LayoutRight, typename Exec::memory_space>;

/// The level of team scratch that holds a whole block of matrix: on chip on devices, and on cores
/// the one of memory, because Kokkos caps the other at 32 KiB there.
template<class Exec>
inline constexpr int scratch_level = BackendTraits<Exec>::is_device ? 0 : 1;

/// Throws std::runtime_error where a kernel of this thread was not started, as where the device has
/// no memory left for its code. Kokkos does not ask, and what the kernel computes stays as it was.
/// Does not wait.
inline void require_launches([[maybe_unused]] const char* name) {
#if defined(KOKKOS_ENABLE_CUDA)
  const cudaError_t last = cudaPeekAtLastError();
  if (last == cudaSuccess || last == cudaErrorNotReady)
    return;
  (void)cudaGetLastError(); // said once
  throw std::runtime_error(std::string(name) + ": a kernel was not started: " +
                           cudaGetErrorName(last) + ": " + cudaGetErrorString(last));
#endif
}

/// Waits for the work of one instance; the name shows up in profiles. Throws as require_launches().
template<class Exec>
void fence(const Exec& exec, const char* name) {
  exec.fence(name);
  if constexpr (BackendTraits<Exec>::is_device)
    require_launches(name);
}

/// An instance whose work runs beside that of `exec` where the backend can do that; else `exec`.
template<class Exec>
Exec make_concurrent_instance(const Exec& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same_v<Exec, Cuda>)
    return Kokkos::Experimental::partition_space(exec, 1)[0];
#endif
  return exec;
}

/// Whether all work launched on the instance is done. Does not wait.
template<class Exec>
bool is_idle([[maybe_unused]] const Exec& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (std::is_same_v<Exec, Cuda>) {
    require_launches("ossatura::is_idle");
    const bool idle = cudaStreamQuery(exec.cuda_stream()) != cudaErrorNotReady;
    if (!idle)
      (void)cudaGetLastError();
    return idle;
  }
#endif
  return true;
}

/// Names of the backends of this build, the preferred one last.
inline std::vector<std::string> backend_names() {
  std::vector<std::string> names;
#define OSSATURA_BACKEND_NAME(Exec) names.push_back(BackendTraits<Exec>::name);
  OSSATURA_FOR_EACH_BACKEND(OSSATURA_BACKEND_NAME)
#undef OSSATURA_BACKEND_NAME
  return names;
}

/// Calls `run(exec)` with a default instance of the named backend and returns its result. `run` is
/// a generic callable that forwards to a namespace-scope template (nvcc allows no device lambda
/// inside a generic one). Throws BackendError, listing the backends of the build, for another name.
template<class Run>
auto with_backend(const std::string& name, Run&& run)
    -> decltype(run(Kokkos::DefaultHostExecutionSpace())) {
#define OSSATURA_TRY_BACKEND(Exec)                                                                 \
  if (name == BackendTraits<Exec>::name)                                                           \
    return run(Exec());
  OSSATURA_FOR_EACH_BACKEND(OSSATURA_TRY_BACKEND)
#undef OSSATURA_TRY_BACKEND
  std::string known;
  for (const std::string& backend : backend_names())
    known += (known.empty() ? "" : ", ") + backend;
  fail<BackendError>("backend '", name, "' is not in this build, which has: ", known,
                     "; choose one of these or build with a Kokkos that has it");
}

} // namespace ossatura
