// SPDX-License-Identifier: Apache-2.0
// The command line says what ossatura_bench measures.
#pragma once

#include "bench/harness/options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ossatura::bench {

enum class Command { help, version, list, run, all };

/// Which sizes a group runs at: its own, its smallest, or those of the full table.
enum class Extent { own, quick, full };

struct CommandLine {
  Command command = Command::help;
  std::vector<std::string> names; ///< of groups, or regular expressions that rows begin with
  Extent extent = Extent::own;
  bool rows = false;   ///< list rows, not groups
  std::string output;  ///< file of the results as JSON; empty: none
  bool console = true; ///< rows are printed as text, not as JSON or CSV
  Options options;     ///< without `min_seconds` and `repetitions`, which a group decides
  std::optional<double> min_seconds;
  std::optional<int> repetitions;
  std::vector<std::string> passed; ///< flags of Google Benchmark
};

/// Throws UsageError for what cannot be understood, BackendError for a backend that is not in the
/// build.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

extern const char* const help_text;

} // namespace ossatura::bench
