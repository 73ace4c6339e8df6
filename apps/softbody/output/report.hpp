// SPDX-License-Identifier: Apache-2.0
// The report shows the results of a run as a short table and as the JSON summary.
#pragma once

#include "apps/driver/output/summary.hpp"
#include "apps/softbody/output/prediction.hpp"
#include "apps/softbody/output/results.hpp"

#include <functional>
#include <string>

namespace ossatura {

/// Warns of steps that did not converge, and ends the run (finish_run). Returns the exit code.
int report_softbody(const SoftbodyModel& model, const SoftbodyRunResults& results,
                    const std::string& stem, DriverContext& context,
                    const std::function<void(RunStatus)>& write_files);

/// The same for --dry-run.
int report_softbody_prediction(const SoftbodyModel& model, const SoftbodyPrediction& expected,
                               const std::string& stem, DriverContext& context);

} // namespace ossatura
