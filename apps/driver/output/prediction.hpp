// SPDX-License-Identifier: Apache-2.0
// The prediction prints the answer to --dry-run, for every subcommand.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/driver/output/table.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>
#include <vector>

namespace ossatura {

struct Prediction {
  Table input;                                           ///< what was read
  std::vector<std::pair<std::string, std::string>> rows; ///< of the table, before the memory
  nlohmann::ordered_json problem, results;               ///< of the summary
  double device_bytes = 0;                               ///< expected peak in the backend's memory
  /// The bytes that the run will add to the memory that the process has now, input and model
  /// included: on a backend of the host the arrays there too.
  double host_growth = 0;
};

/// Peak of the process in a run that goes on from here and adds `host_growth` bytes of its own:
/// that, the memory that the process has now, and the code, threads and files of any run; at least
/// the peak so far.
double predict_host_peak(double host_growth);

/// Prints the table, writes the summary (`stem`.dry-run.json with --output-dir) and returns
/// exit_done.
int report_prediction(Prediction prediction, const std::string& stem, DriverContext& context);

} // namespace ossatura
