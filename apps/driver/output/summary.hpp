// SPDX-License-Identifier: Apache-2.0
// The JSON summary of a run has parts that are the same for every subcommand; this file makes these
// parts.
#pragma once

#include "apps/driver/context.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace ossatura {

/// The parts of the summary that the subcommand fills.
struct SummaryParts {
  std::string status; ///< "converged", "not converged", "interrupted" or "dry run"
  nlohmann::ordered_json problem, engine, results;
  int iterations = 0;                       ///< of all solves
  std::optional<double> recurrent_residual; ///< relative, the largest of all solves
  std::optional<double> true_residual;
};

/// Whether all numbers of the results are finite. Where one is not, warns of it by name
/// (not-finite) and makes the status "not finite": such a run must not end with exit 0.
bool check_finite(SummaryParts& parts);

/// schema, status, warnings (all so far, each a code and a text), problem, engine, parameters,
/// iterations, residual, timings, memory, results, provenance, in this order.
nlohmann::ordered_json make_summary(const DriverContext& context, const SummaryParts& parts);

/// Ends a run that a signal stopped before it had anything to write: warns, writes a summary
/// without results, and returns exit_stopped.
int finish_interrupted(DriverContext& context);

} // namespace ossatura
