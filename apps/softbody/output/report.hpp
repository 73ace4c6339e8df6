// SPDX-License-Identifier: Apache-2.0
// The report shows the results of a run as a short table and as the JSON summary.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/softbody/output/prediction.hpp"
#include "apps/softbody/output/results.hpp"

#include <functional>
#include <string>

namespace ossatura {

/// Prints the table, writes the summary (`stem`.summary.json in --output-dir, or where --json says;
/// `stem`.json is the scene), warns of steps that did not converge, and returns the exit code.
int report_softbody(const SoftbodyModel& model, const SoftbodyRunResults& results,
                    const std::string& stem, DriverContext& context,
                    const std::function<void()>& write_files);

/// The same for --dry-run.
int report_softbody_prediction(const SoftbodyModel& model, const SoftbodyPrediction& expected,
                               const std::string& stem, DriverContext& context);

} // namespace ossatura
