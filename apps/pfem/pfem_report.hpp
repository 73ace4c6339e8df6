// SPDX-License-Identifier: Apache-2.0
// The results of `femura pfem` for people and for programs.
#pragma once

#include "apps/pfem/pfem_model.hpp"
#include "apps/pfem/pfem_prediction.hpp"
#include "apps/pfem/pfem_results.hpp"

#include <string>

namespace femura {

/// Prints the table, writes the summary, and returns the exit code.
int report_pfem(const PfemModel& model, const PfemResults& results, const std::string& stem,
                DriverContext& context);

/// The same for --dry-run.
int report_pfem_prediction(const PfemModel& model, const PfemPrediction& expected,
                           const std::string& stem, DriverContext& context);

} // namespace femura
