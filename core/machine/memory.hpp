// SPDX-License-Identifier: Apache-2.0
// These functions measure how much memory the process and the views of each Kokkos memory space
// take.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

/// Largest resident set of this process so far, in bytes (VmHWM of Linux).
std::int64_t peak_host_bytes();

/// Resident set of this process now, in bytes (VmRSS of Linux), after the allocator has given back
/// what is free.
std::int64_t resident_host_bytes();

/// The memory left, in bytes, 0 if unknown: MemAvailable of Linux, or less where a
/// control group, as that of a container, sets a limit. `root` stands before the names of the files
/// that are read, for tests.
std::int64_t available_host_bytes(const std::string& root = {});

/// Allocations in one Kokkos memory space since tracking started, in bytes.
struct SpaceMemory {
  std::string space; ///< Kokkos's name: "Host", "Cuda", "CudaHostPinned"
  std::int64_t live = 0;
  std::int64_t peak = 0;
};

/// Counts Kokkos allocations while it lives, through the callbacks of Kokkos Tools; a tool loaded
/// by the user (KOKKOS_TOOLS_LIBS) still gets its calls. Made after Kokkos is initialized and gone
/// before it is finalized; one at a time. What was allocated before is not seen.
class MemoryTracking {
public:
  MemoryTracking();
  ~MemoryTracking();
  MemoryTracking(const MemoryTracking&) = delete;
  MemoryTracking& operator=(const MemoryTracking&) = delete;
};

/// The spaces seen since tracking started, in the order of first use. Thread safe.
std::vector<SpaceMemory> memory_by_space();

/// Peak bytes of all spaces together since tracking started or since the last reset.
std::int64_t peak_kokkos_bytes();

/// Makes the present use the peak of each space, and of the process where the kernel lets it, to
/// measure the peak of what follows.
void reset_memory_peaks();

} // namespace ossatura
