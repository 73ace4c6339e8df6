// SPDX-License-Identifier: Apache-2.0
// The outcome counts rows that failed or were skipped. Google Benchmark knows only errors, under
// names that differ between its versions.
#pragma once

#include <map>
#include <set>
#include <string>

namespace ossatura::bench {

struct Outcomes {
  std::string row;                           ///< that runs
  std::map<std::string, std::string> reason; ///< by row: why it failed or was skipped
  std::set<std::string> failed;
  std::set<std::string> left_out; ///< rows that did not run, because a signal ended the run
};

inline Outcomes& outcomes() {
  static Outcomes instance;
  return instance;
}

} // namespace ossatura::bench
