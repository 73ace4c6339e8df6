// SPDX-License-Identifier: Apache-2.0
// The report shows the results of a run as a short table and as the JSON summary.
#pragma once

#include "apps/driver/output/summary.hpp"
#include "apps/topopt/input/model.hpp"
#include "apps/topopt/output/prediction.hpp"
#include "apps/topopt/output/results.hpp"

#include <functional>
#include <string>

namespace ossatura {

/// Warns of a breakdown and of a design that is in parts, and ends the run (finish_run). Returns
/// the exit code.
int report_topopt(const TopoptModel& model, const TopoptRunResults& results,
                  const std::string& stem, DriverContext& context,
                  const std::function<void()>& write_files);

/// Warns of limits of displacements that the first step has the other way round.
void warn_of_opposite_displacements(const TopoptModel& model, const DesignStep& step);

/// The report for --dry-run.
int report_topopt_prediction(const TopoptModel& model, const TopoptPrediction& expected,
                             const std::string& stem, DriverContext& context);

} // namespace ossatura
