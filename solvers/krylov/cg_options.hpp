// SPDX-License-Identifier: Apache-2.0
// CgOptions say when conjugate gradients end, and when they compute the residual afresh.
#pragma once

namespace ossatura {

struct CgOptions {
  double tolerance = 1e-6;   ///< on |b - A x| / |b - A x0|, Euclidean norms
  int max_iterations = 1000; ///< of all restarts together
  double replacement = 0;    ///< the true residual replaces the recurrent one at each drop by this
                             ///< factor; 0: only when the recurrence meets the tolerance
  double reference = 0;      ///< if positive, residuals are relative to it, not to |b - A x0|
  int stall_window = 0;      ///< gives up where the least residual of so many iterations is not 1 %
                             ///< below the least of as many before; 0: never
};

} // namespace ossatura
