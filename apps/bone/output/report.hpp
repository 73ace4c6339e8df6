// SPDX-License-Identifier: Apache-2.0
// The report shows the results of `ossatura bone` as a table to read and as the JSON summary.
#pragma once

#include "apps/bone/output/results.hpp"
#include "apps/driver/context.hpp"

#include <functional>

namespace ossatura {

/// The table for stdout.
std::string bone_table(const BoneResults& results, const DriverContext& context);

/// The summary as in design: schema, status, problem, ... provenance.
nlohmann::ordered_json bone_summary(const BoneResults& results, const DriverContext& context);

/// "converged", "not converged" or "interrupted".
const char* bone_status(const BoneResults& results);

/// Says in the log where a solve did not converge, prints the table and writes the summary
/// (`stem`.summary.json in --output-dir, or where --json says), before and after write_files(),
/// which adds those that it wrote to the results. Returns the exit code.
int report_bone(const BoneResults& results, const std::string& stem, DriverContext& context,
                const std::function<void()>& write_files = {});

/// The same for --dry-run.
int report_bone_prediction(const BonePrediction& prediction, const std::string& stem,
                           DriverContext& context);

} // namespace ossatura
