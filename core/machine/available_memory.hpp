// SPDX-License-Identifier: Apache-2.0
// available_bytes tells how much memory a backend has left.
#pragma once

#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/machine/memory.hpp>

namespace ossatura {

/// Bytes that arrays of the backend may still take, 0 if unknown: of the device, or of the machine.
template<class Exec>
std::int64_t available_bytes([[maybe_unused]] const Exec& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (BackendTraits<Exec>::is_device) {
    std::size_t left = 0, all = 0;
    if (cudaMemGetInfo(&left, &all) == cudaSuccess)
      return std::int64_t(left);
    (void)cudaGetLastError(); // not for others to find
    return 0;
  }
#endif
  return available_host_bytes();
}

} // namespace ossatura
