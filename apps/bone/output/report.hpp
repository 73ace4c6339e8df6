// SPDX-License-Identifier: Apache-2.0
// The report shows the results of `ossatura bone` as a table to read and as the JSON summary.
#pragma once

#include "apps/bone/output/results.hpp"
#include "apps/driver/output/summary.hpp"

#include <functional>

namespace ossatura {

/// Says in the log where a solve did not converge, and ends the run (finish_run). write_files adds
/// the names of those that it wrote to the results. Returns the exit code.
int report_bone(const BoneResults& results, const std::string& stem, DriverContext& context,
                const std::function<void(RunStatus)>& write_files = {});

/// The same for --dry-run.
int report_bone_prediction(const BonePrediction& prediction, const std::string& stem,
                           DriverContext& context);

} // namespace ossatura
