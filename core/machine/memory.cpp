// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/machine/memory.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/cgroup_memory.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <fstream>
#include <mutex>
#include <unordered_map>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace ossatura {

namespace {

/// The kB value after `key` in a file such as /proc/meminfo, in bytes; 0 if it is not there.
std::int64_t kilobytes_after(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.compare(0, key.size(), key) == 0)
      return 1024 * std::stoll(line.substr(key.size()));
  return 0;
}

using AllocateCallback = Kokkos_Profiling_allocateDataFunction;
using DeallocateCallback = Kokkos_Profiling_deallocateDataFunction;

/// Callbacks come from any host thread.
struct Tracker {
  std::mutex mutex;
  bool active = false;
  std::vector<SpaceMemory> spaces;
  std::int64_t live = 0, peak = 0; ///< of all spaces
  std::unordered_map<const void*, std::uint64_t> sizes;
  AllocateCallback next_allocate = nullptr; ///< of a tool that was there before
  DeallocateCallback next_deallocate = nullptr;

  SpaceMemory& space(const char* name) {
    for (SpaceMemory& known : spaces)
      if (known.space == name)
        return known;
    spaces.push_back({name, 0, 0});
    return spaces.back();
  }
};

Tracker& tracker() {
  static Tracker instance;
  return instance;
}

using SpaceHandle = Kokkos::Profiling::SpaceHandle;

void count_allocation(const SpaceHandle handle, const char* label, const void* pointer,
                      const std::uint64_t size) {
  Tracker& track = tracker();
  {
    const std::lock_guard<std::mutex> lock(track.mutex);
    SpaceMemory& space = track.space(handle.name);
    space.live += static_cast<std::int64_t>(size);
    space.peak = std::max(space.peak, space.live);
    track.live += static_cast<std::int64_t>(size);
    track.peak = std::max(track.peak, track.live);
    track.sizes[pointer] = size;
  }
  if (track.next_allocate != nullptr)
    track.next_allocate(handle, label, pointer, size);
}

void count_deallocation(const SpaceHandle handle, const char* label, const void* pointer,
                        const std::uint64_t size) {
  Tracker& track = tracker();
  {
    const std::lock_guard<std::mutex> lock(track.mutex);
    // What was allocated before tracking started is not ours to subtract.
    const auto found = track.sizes.find(pointer);
    if (found != track.sizes.end()) {
      track.space(handle.name).live -= static_cast<std::int64_t>(found->second);
      track.live -= static_cast<std::int64_t>(found->second);
      track.sizes.erase(found);
    }
  }
  if (track.next_deallocate != nullptr)
    track.next_deallocate(handle, label, pointer, size);
}

} // namespace

std::int64_t peak_host_bytes() {
  return kilobytes_after("/proc/self/status", "VmHWM:");
}

std::int64_t resident_host_bytes() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  return kilobytes_after("/proc/self/status", "VmRSS:");
}

std::int64_t available_host_bytes(const std::string& root) {
  const std::int64_t machine = kilobytes_after(root + "/proc/meminfo", "MemAvailable:");
  const std::optional<std::int64_t> group = cgroup_available_bytes(root);
  if (!group)
    return machine;
  const std::int64_t left = std::max<std::int64_t>(1, *group); // 0 would say unknown
  return machine > 0 ? std::min(machine, left) : left;
}

MemoryTracking::MemoryTracking() {
  Tracker& track = tracker();
  OSSATURA_REQUIRE(!track.active, "memory is tracked already");
  track.active = true;
  track.spaces.clear();
  track.sizes.clear();
  track.live = track.peak = 0;
  const auto callbacks = Kokkos::Tools::Experimental::get_callbacks();
  track.next_allocate = callbacks.allocate_data;
  track.next_deallocate = callbacks.deallocate_data;
  Kokkos::Tools::Experimental::set_allocate_data_callback(count_allocation);
  Kokkos::Tools::Experimental::set_deallocate_data_callback(count_deallocation);
}

MemoryTracking::~MemoryTracking() {
  Tracker& track = tracker();
  Kokkos::Tools::Experimental::set_allocate_data_callback(track.next_allocate);
  Kokkos::Tools::Experimental::set_deallocate_data_callback(track.next_deallocate);
  track.active = false;
}

std::vector<SpaceMemory> memory_by_space() {
  Tracker& track = tracker();
  const std::lock_guard<std::mutex> lock(track.mutex);
  return track.spaces;
}

std::int64_t peak_kokkos_bytes() {
  Tracker& track = tracker();
  const std::lock_guard<std::mutex> lock(track.mutex);
  return track.peak;
}

void reset_memory_peaks() {
  std::ofstream("/proc/self/clear_refs") << 5; // the largest resident set, proc(5)
  Tracker& track = tracker();
  const std::lock_guard<std::mutex> lock(track.mutex);
  for (SpaceMemory& space : track.spaces)
    space.peak = space.live;
  track.peak = track.live;
}

} // namespace ossatura
