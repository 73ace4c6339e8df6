// SPDX-License-Identifier: Apache-2.0
// The report shows the results of `ossatura pfem` to people and to programs.
#pragma once

#include "apps/driver/output/summary.hpp"
#include "apps/pfem/input/model.hpp"
#include "apps/pfem/output/prediction.hpp"
#include "apps/pfem/output/results.hpp"

#include <functional>
#include <string>

namespace ossatura {

/// Warns where the solve did not converge, and ends the run (finish_run). write_files adds the
/// names of those that it wrote to the results. Returns the exit code.
int report_pfem(const PfemModel& model, const PfemResults& results, const std::string& stem,
                DriverContext& context, const std::function<void(RunStatus)>& write_files);

/// The same for --dry-run.
int report_pfem_prediction(const PfemModel& model, const PfemPrediction& expected,
                           const std::string& stem, DriverContext& context);

} // namespace ossatura
