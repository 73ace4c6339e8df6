// SPDX-License-Identifier: Apache-2.0
// The exit codes are the same for every subcommand.
#pragma once

#include <string>
#include <vector>

namespace ossatura {

enum ExitCode : int {
  exit_done = 0,          ///< and converged
  exit_internal = 1,      ///< a bug
  exit_usage = 2,         ///< the command line or a combination of options
  exit_not_converged = 3, ///< finished, results written, tolerance not reached
  exit_unavailable = 4,   ///< backend or device not there or failed, or out of memory
  exit_bad_file = 5,      ///< unreadable or invalid input, unwritable output
  exit_stopped = 75       ///< stopped by a signal, what was computed is written
};

/// The part of --help about exit codes.
const char* exit_code_help();

/// Which of the launcher's processes this is, for report_current_exception().
void set_reporting_rank(int rank, int size);

/// An option that a configuration file has, and "c.ini, line 3".
struct OptionOrigin {
  std::string option; ///< with its dashes
  std::string place;
};

/// Errors that name these options say where they are.
void set_option_origins(std::vector<OptionOrigin> origins);

/// What went wrong, for a line of stderr, and the exit code for it.
struct ExitReason {
  int code;
  std::string kind; ///< "error", "usage error", ...
  std::string what;
};

/// The exception being handled. To be called in a catch block.
ExitReason describe_current_exception();

/// Reports the exception being handled on stderr, as "ossatura: error: ...", and returns its code.
/// Where all ranks have failed together, the first reports for all. To be called in a catch block.
int report_current_exception();

} // namespace ossatura
