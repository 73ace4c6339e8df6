// SPDX-License-Identifier: Apache-2.0
// The report shows the results of `ossatura eikonal` as a table to read and as the JSON summary.
#pragma once

#include "apps/driver/output/summary.hpp"
#include "apps/eikonal/output/results.hpp"

#include <functional>

namespace ossatura {

/// Warns of what did not converge, is not reached or is swallowed, and ends the run (finish_run).
/// write_files adds the names of those that it wrote to the results. Returns the exit code.
int report_eikonal(const EikonalRunResults& results, const std::string& stem,
                   DriverContext& context, const std::function<void(RunStatus)>& write_files);

/// The same for --dry-run.
int report_eikonal_prediction(const EikonalPrediction& prediction, const std::string& stem,
                              DriverContext& context);

} // namespace ossatura
