// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>

namespace ossatura {

struct DesignBoundOptions {
  int max_steps = 40; ///< each takes the solves of a step of the design
  /// Ends where no bound of this kind is higher by more than this part of the present one.
  double tolerance = 0.01;
};

/// What the compliance of no design of a problem is below,
/// solvers/topopt/bound/compliance_bound.hpp.
struct DesignBound {
  double value = -std::numeric_limits<double>::infinity(); ///< J
  /// The least compliance of the relaxed problem that was found, J: no bound of this kind is above.
  double relaxed = std::numeric_limits<double>::infinity();
  int steps = 0;
  long iterations = 0;   ///< of all solves
  std::string breakdown; ///< the solve that ended it, if one did; the value is a bound all the same
};

} // namespace ossatura
