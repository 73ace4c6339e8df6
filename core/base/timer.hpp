// SPDX-License-Identifier: Apache-2.0
// Timers add up the time of named, nested regions. Each region is a profiling region of Kokkos too.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

/// One region at one place in the nesting.
struct TimedRegion {
  std::string name; ///< "ossatura::solve"
  int depth = 0;    ///< 0 = outermost
  int parent = -1;  ///< index in the list of regions, -1 at depth 0
  std::int64_t calls = 0;
  double seconds = 0; ///< wall time of all calls, nested regions included
};

/// The regions of this process. Regions are entered and left on the main thread.
class RegionTimers {
public:
  /// With fencing, the device is waited for at both ends of a region, so that its time is that of
  /// the work launched in it. Without, a region that returns before its kernels do looks shorter
  /// than it is, and the next one that waits looks longer.
  void set_fencing(bool fencing) { fencing_ = fencing; }
  bool fencing() const { return fencing_; }

  void enter(const char* name);
  void leave();

  /// All regions seen, each after its parent and in the order of first entry among siblings.
  /// Regions still open count up to their last leave.
  std::vector<TimedRegion> regions() const;

  /// One line per region: seconds, share of the outermost, calls, indented name.
  std::string table() const;

  /// Forgets everything. No region may be open.
  void clear();

private:
  using Clock = std::chrono::steady_clock;
  struct Open {
    int region;
    Clock::time_point start;
  };
  std::vector<TimedRegion> regions_; ///< in the order of first entry
  std::vector<Open> open_;
  bool fencing_ = false;
};

RegionTimers& region_timers();

/// A region that lasts as long as the object: `const TimedScope scope("ossatura::solve");`
class TimedScope {
public:
  explicit TimedScope(const char* name) { region_timers().enter(name); }
  ~TimedScope() { region_timers().leave(); }
  TimedScope(const TimedScope&) = delete;
  TimedScope& operator=(const TimedScope&) = delete;
};

/// Seconds since construction.
class Stopwatch {
public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

} // namespace ossatura
