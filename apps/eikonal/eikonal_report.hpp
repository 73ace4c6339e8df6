// SPDX-License-Identifier: Apache-2.0
// How the results of `femura eikonal` are told: a table to read and the JSON summary.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/eikonal/eikonal_results.hpp"

namespace femura {

/// Prints the table, writes the summary (`stem`.summary.json in --output-dir, or where --json
/// says), warns of what did not converge, is not reached or is swallowed, and returns the exit
/// code.
int report_eikonal(const EikonalRunResults& results, const std::string& stem,
                   DriverContext& context);

/// The same for --dry-run.
int report_eikonal_prediction(const EikonalPrediction& prediction, const std::string& stem,
                              DriverContext& context);

} // namespace femura
