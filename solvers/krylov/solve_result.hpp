// SPDX-License-Identifier: Apache-2.0
// Every iterative solve reports a SolveResult. Its `residual` is the true one in all systems: that
// of the x that is returned.
#pragma once

#include <functional>

namespace ossatura {

struct SolveResult {
  int iterations = 0;
  double residual = 0;           ///< |b - A x| / reference, computed afresh from b, A and x
  double recurrent_residual = 0; ///< the recurrence's estimate of it, at the last iteration
  double reference = 0;          ///< |b - A x0|, or |b| where the solver says so
  bool converged = false;        ///< `residual` meets the tolerance
  bool broken = false; ///< A or M is not positive definite along a direction, or not finite
  bool in_energy =
      false; ///< residuals are in the norm of A^-1: x's error in energy (direct solves)
  bool fell_back = false; ///< a faster form failed, and a safer one went on (solve_with_fallback)
};

/// Called after each iteration with its number (0 before the first) and the recurrent residual.
using IterationObserver = std::function<void(int iteration, double recurrent_residual)>;

} // namespace ossatura
