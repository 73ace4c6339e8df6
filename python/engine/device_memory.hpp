// SPDX-License-Identifier: Apache-2.0
// Memory of the GPU as other libraries of the process see it: arrays that come from them, and
// arrays for them, which outlive Kokkos. In builds without CUDA no memory is a GPU's.
#pragma once

#include <cstddef>

namespace ossatura::python {

/// Whether `data` is memory of a GPU. Throws UsageError where it is that of another one than the
/// engine's, on whose thread it is called.
bool is_device_memory(const void* data);

/// Waits until all that this process has given the GPU to do is done, by other libraries too.
void wait_for_device();

struct DeviceMemory {
  void* data;
  int device; ///< the number of its GPU among those that the process sees
};

/// `bytes` of the engine's GPU, all 0; on the engine's thread, Kokkos being there. Throws
/// OutOfMemory, and BackendError in builds without CUDA.
DeviceMemory allocate_on_device(std::size_t bytes);
/// Copies bytes of the host to memory of the host or of the GPU, where they are on return.
void copy_from_host(void* to, const void* from, std::size_t bytes);

/// On any thread, after Kokkos too.
void free_on_device(void* data) noexcept;

} // namespace ossatura::python
