// SPDX-License-Identifier: Apache-2.0
// The list of jobs: whole runs of the executable `ossatura` that the rows of the group `jobs` are.
#pragma once

#include <string>
#include <vector>

namespace ossatura::bench {

struct Job {
  const char* subcommand;
  const char* name; ///< its part of the row's name: "sphere:32"
  /// After the subcommand. "@examples/" and "@data/" stand for the folder of examples and for
  /// OSSATURA_SHARED_DATA.
  std::vector<const char*> arguments;
  bool is_large = false; ///< with --full alone
};

/// Those that people start with, and those of the table "Whole jobs" in docs/performance.md.
const std::vector<Job>& all_jobs();

/// The arguments of a job with the folders in their places, or why it cannot be run here.
struct JobArguments {
  std::vector<std::string> words;
  std::string missing; ///< empty: nothing
};
JobArguments arguments_of(const Job& job);

} // namespace ossatura::bench
