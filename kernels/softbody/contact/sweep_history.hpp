// SPDX-License-Identifier: Apache-2.0
// What sweeps over contacts keep on the way, and what came of them.
#pragma once

namespace ossatura {

struct SweepResult {
  int sweeps = 0;
  double change = 0; ///< the largest in the last sweep, as a motion of its pair, over `scale`
  double scale = 0;  ///< m, the largest free motion of pairs that go through each other, or more
};

namespace detail {

/// Where sweeps end.
struct SweepLimits {
  int sweeps_before = 0; ///< that count among the most
  int max_sweeps = 0;
  double tolerance = 0;   ///< of `change`
  double least_scale = 0; ///< m
};

/// Steps back that the acceleration looks.
constexpr int sweep_memory = 8;

/// The numbers kept of each row, one array after the other: of the last sweep, and after that
/// differences between sweeps.
struct SweepHistory {
  enum { start, change, force, motion, steps };
};
constexpr int sweep_arrays = SweepHistory::steps + 3 * sweep_memory;

} // namespace detail

} // namespace ossatura
