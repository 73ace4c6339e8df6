// SPDX-License-Identifier: Apache-2.0
// The report shows the results of a run as a short table and as the JSON summary.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/topopt/input/model.hpp"
#include "apps/topopt/output/prediction.hpp"
#include "apps/topopt/output/results.hpp"

#include <functional>
#include <string>

namespace ossatura {

/// Prints the table, writes the summary (`stem`.summary.json in --output-dir, or where --json says;
/// `stem`.json may be the problem), warns of a breakdown, and returns the exit code.
int report_topopt(const TopoptModel& model, const TopoptRunResults& results,
                  const std::string& stem, DriverContext& context,
                  const std::function<void()>& write_files);

/// The same for --dry-run.
int report_topopt_prediction(const TopoptModel& model, const TopoptPrediction& expected,
                             const std::string& stem, DriverContext& context);

} // namespace ossatura
