// SPDX-License-Identifier: Apache-2.0
// Every subcommand ends its runs in the same way: table, summary, files, exit code. The JSON
// summary has parts that are the same for all; this file makes these parts.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/driver/output/certificate.hpp"
#include <ossatura/core/base/names.hpp>

#include <nlohmann/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// How a run ended. The exit code follows (exit_code_of).
enum class RunStatus {
  converged,
  not_converged,
  interrupted,
  broken_down,
  not_finite,
  steps_done, ///< all that were asked for, without a claim of convergence
  done,
  matrices_differ,
  dry_run
};

constexpr Names<RunStatus> names_of(RunStatus) {
  return {{RunStatus::converged, "converged"},
          {RunStatus::not_converged, "not converged"},
          {RunStatus::interrupted, "interrupted"},
          {RunStatus::broken_down, "broken down"},
          {RunStatus::not_finite, "not finite"},
          {RunStatus::steps_done, "steps done"},
          {RunStatus::done, "done"},
          {RunStatus::matrices_differ, "matrices differ"},
          {RunStatus::dry_run, "dry run"}};
}

int exit_code_of(RunStatus status);

/// The parts of the summary that the subcommand fills.
struct SummaryParts {
  RunStatus status = RunStatus::converged;
  nlohmann::ordered_json problem, engine, results;
  nlohmann::ordered_json memory;            ///< beside what every subcommand reports
  int iterations = 0;                       ///< of all solves
  std::optional<double> recurrent_residual; ///< relative, the largest of all solves
  std::optional<double> true_residual;
  Certificate certificate; ///< finish_run adds the check that all numbers are finite
};

/// schema, status, warnings (all so far, each a code and a text), problem, engine, parameters,
/// iterations, residual, certificate, timings, memory, results, provenance, in this order.
nlohmann::ordered_json make_summary(const DriverContext& context, const SummaryParts& parts);

/// What a subcommand says at the end of a run.
struct RunReport {
  /// Of the results as they are when it is called.
  std::function<SummaryParts()> summary;
  std::function<std::string()> table;
  /// Writes the fields, which may take long or fail; empty: there are none.
  std::function<void(RunStatus)> write_files;
  const std::vector<std::string>& files; ///< the names of those that were written
  bool table_has_files = false;          ///< the table tells what write_files found
};

/// Ends a run: prints the table, writes the summary and the fields, prints the names of the files,
/// and writes the summary again with them and their hashes. A run whose results or fields have a
/// number that is not finite is "not finite", and one of which a check fails is "not converged",
/// with a warning that names it: neither may end with exit 0. Returns the exit code.
int finish_run(const RunReport& report, const std::string& stem, DriverContext& context);

/// Ends a run that a signal stopped before it had anything to write: warns, writes a summary
/// without results, and returns exit_stopped.
int finish_interrupted(DriverContext& context);

} // namespace ossatura
