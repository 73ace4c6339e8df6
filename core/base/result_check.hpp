// SPDX-License-Identifier: Apache-2.0
// A ResultCheck is a number that says how good a result is, and the most that it may be.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace ossatura {

struct ResultCheck {
  std::string name; ///< in snake case, as programs read it
  double value = 0, bound = 0;

  bool passed() const { return value <= bound; } ///< NaN does not
};

/// Whether there are checks, and all pass.
inline bool all_passed(const std::vector<ResultCheck>& checks) {
  return !checks.empty() && std::all_of(checks.begin(), checks.end(),
                                        [](const ResultCheck& check) { return check.passed(); });
}

} // namespace ossatura
