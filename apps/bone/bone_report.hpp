// SPDX-License-Identifier: Apache-2.0
// How the results of `femura bone` are told: a table to read and the JSON summary.
#pragma once

#include "apps/bone/bone_results.hpp"
#include "apps/driver/context.hpp"

namespace femura {

/// The table for stdout.
std::string bone_table(const BoneResults& results, const DriverContext& context);

/// The summary as in design: schema, status, problem, ... provenance.
nlohmann::ordered_json bone_summary(const BoneResults& results, const DriverContext& context);

/// Prints the table, writes the summary (`stem`.summary.json in --output-dir, or where --json
/// says), says in the log where a solve did not converge, and returns the exit code.
int report_bone(const BoneResults& results, const std::string& stem, DriverContext& context);

/// The same for --dry-run.
int report_bone_prediction(const BonePrediction& prediction, const std::string& stem,
                           DriverContext& context);

} // namespace femura
