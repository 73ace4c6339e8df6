// SPDX-License-Identifier: Apache-2.0
#include "python/engine/device_memory.hpp"

#include "python/engine/runtime.hpp"
#include <ossatura/core/base/backend.hpp>

#include <cstring>

namespace ossatura::python {

#if defined(KOKKOS_ENABLE_CUDA)

namespace {

void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess)
    return;
  (void)cudaGetLastError(); // said once
  const std::string text = std::string(what) + ": " + cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation)
    throw OutOfMemory(text);
  throw std::runtime_error(text);
}

} // namespace

bool is_device_memory(const void* data) {
  cudaPointerAttributes found{};
  require(cudaPointerGetAttributes(&found, data), "the place of an array");
  if (found.type != cudaMemoryTypeDevice && found.type != cudaMemoryTypeManaged)
    return false;
  int own = 0;
  require(cudaGetDevice(&own), "the GPU in use");
  if (found.type == cudaMemoryTypeDevice && found.device != own)
    fail<UsageError>("an array on GPU ", found.device, ", and the library works on GPU ", own,
                     ": copy it there, or choose the GPU by CUDA_VISIBLE_DEVICES");
  return true;
}

void wait_for_device() {
  require(cudaDeviceSynchronize(), "work of the process on the GPU");
}

DeviceMemory allocate_on_device(std::size_t bytes) {
  DeviceMemory made{nullptr, 0};
  require(cudaGetDevice(&made.device), "the GPU in use");
  require(cudaMalloc(&made.data, bytes == 0 ? 1 : bytes), "memory of the GPU for a result");
  const cudaError_t cleared = cudaMemset(made.data, 0, bytes);
  if (cleared != cudaSuccess)
    free_on_device(made.data);
  require(cleared, "clearing memory of the GPU");
  wait_for_device();
  return made;
}

void copy_from_host(void* to, const void* from, std::size_t bytes) {
  require(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "a result's copy");
}

void free_on_device(void* data) noexcept {
  (void)cudaFree(data); // at the end of the process there may be no GPU any more
}

#else

bool is_device_memory(const void*) {
  return false;
}

void wait_for_device() {}

DeviceMemory allocate_on_device(std::size_t) {
  fail<BackendError>("an array on a GPU: this build has no CUDA");
}

void copy_from_host(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0)
    std::memcpy(to, from, bytes);
}

void free_on_device(void*) noexcept {}

#endif

} // namespace ossatura::python
