// SPDX-License-Identifier: Apache-2.0
// PreconditionerAge decides when a preconditioner that serves for a sequence of matrices, each a
// little other than the one before, is formed anew.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ossatura {

/// What a preconditioner has cost since it was formed. With other matrices it takes more iterations
/// than with its own; the mean cost of a matrix, forming included, is least where it is formed anew
/// as soon as one more matrix would cost more than the mean so far. What that will take is taken
/// from how much it changed, a number that the user of this class measures. Iterations are counted
/// and no seconds, so that equal runs decide equally.
struct PreconditionerAge {
  std::int64_t matrices = 0; ///< that it has served for, its own included; 0: to be formed
  std::int64_t own = 0;      ///< iterations with its own matrix
  std::int64_t excess = 0;   ///< iterations beyond `own`, with all others
  double rate = 30; ///< iterations beyond `own` by change, of the last; at first, as often seen

  /// Whether it should serve for a matrix that is `change` from its own; forming costs as much as
  /// `cost` iterations.
  bool serves(double change, std::int64_t cost) const {
    return matrices > 0 && double(matrices) * rate * change <= double(cost + excess);
  }
  /// After all solves with a matrix, which took so many iterations.
  void add_matrix(std::int64_t iterations, double change) {
    if (matrices == 0) {
      if (iterations > 0) // none: it started from the solution
        own = iterations;
    } else {
      const std::int64_t beyond = std::max<std::int64_t>(0, iterations - own);
      excess += beyond;
      if (change > 0)
        rate = double(beyond) / change;
    }
    ++matrices;
  }
  /// It was formed anew for a matrix with which it had taken `cost` iterations more than its own
  /// without an end. What it takes with that one alone is not known, but about `own`.
  void fail(double change, std::int64_t cost) {
    if (change > 0)
      rate = std::max(rate, 2 * double(cost) / change);
    excess = 0;
    matrices = 1;
  }
  /// It was formed anew for a matrix that has yet to be solved with.
  void begin() {
    excess = 0;
    matrices = 0;
  }
};

} // namespace ossatura
