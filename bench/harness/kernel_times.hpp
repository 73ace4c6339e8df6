// SPDX-License-Identifier: Apache-2.0
// KernelTimes measure the time of every kernel by its label, through the callbacks of Kokkos Tools:
// on every backend, without a profiler.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ossatura::bench {

/// The launches of one label on one level, inside the named region or outside.
struct KernelTime {
  std::string label; ///< "ossatura::" taken off
  int level = 0;
  bool in_region = false;
  std::int64_t calls = 0;
  double seconds = 0; ///< of all calls
};

/// Records parallel kernels and deep copies while `recording`. Waits for all work before and after
/// each, so what overlaps or hides behind launches otherwise does not here. A kernel that another
/// one starts counts as part of it.
///
/// Kokkos knows no multigrid levels. They are counted: a kernel whose label holds "restrict"
/// belongs to the level that it starts from, and those after it to the next; one whose label holds
/// "prolong" belongs to the level that it ends on, as do those after it.
///
/// One at a time, made after Kokkos is initialized. Tools that were loaded for kernels get no calls
/// while recording.
class KernelTimes {
public:
  /// `region` is the name of the Kokkos region that `in_region` tells apart.
  explicit KernelTimes(std::string region);
  ~KernelTimes();
  KernelTimes(const KernelTimes&) = delete;
  KernelTimes& operator=(const KernelTimes&) = delete;

  /// On level 0, outside of the region.
  void start();
  void stop();

  /// In the order of level, then time.
  std::vector<KernelTime> times() const;
  /// From start to stop, in seconds.
  double seconds() const;
  /// Level and depth of regions at the last stop: 0 and 0 if all that began has ended.
  int open_levels() const;
};

} // namespace ossatura::bench
