// SPDX-License-Identifier: Apache-2.0
// A child process runs another program, without a shell; no Kokkos.
#pragma once

#include <string>
#include <vector>

namespace ossatura::bench {

/// How a child ended.
struct ChildEnd {
  int exit_code = -1; ///< -1 where a signal ended it
  int signal = 0;
  double wall_seconds = 0; ///< from before its start until it is gone
  double cpu_seconds = 0;  ///< of all its threads, user and system
  std::string last_words;  ///< the last line that it wrote to stderr

  /// "exit code 3: LAST WORDS" or "signal 9".
  std::string text() const;
};

/// Runs `program`, a path, with `arguments`, and waits for it. Its stdin is empty, its stdout and
/// stderr become the files `stdout` and `stderr` in `folder`. The child may run on all processors
/// that this process had before OpenMP bound its first thread to one, and its environment is that
/// of this process without OMP_PROC_BIND and OMP_PLACES, which would bind the child's first thread
/// in turn. Throws std::runtime_error where it cannot be started.
ChildEnd run_child(const std::string& program, const std::vector<std::string>& arguments,
                   const std::string& folder);

} // namespace ossatura::bench
