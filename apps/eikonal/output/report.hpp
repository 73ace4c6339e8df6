// SPDX-License-Identifier: Apache-2.0
// The report shows the results of `ossatura eikonal` as a table to read and as the JSON summary.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/eikonal/output/results.hpp"

#include <functional>

namespace ossatura {

/// "converged", "not converged" or "interrupted".
const char* eikonal_status(const EikonalRunResults& results);

/// Warns of what did not converge, is not reached or is swallowed, prints the table and writes the
/// summary (`stem`.summary.json in --output-dir, or where --json says), before and after
/// write_files(), which adds those that it wrote to the results. Returns the exit code.
int report_eikonal(const EikonalRunResults& results, const std::string& stem,
                   DriverContext& context, const std::function<void()>& write_files);

/// The same for --dry-run.
int report_eikonal_prediction(const EikonalPrediction& prediction, const std::string& stem,
                              DriverContext& context);

} // namespace ossatura
