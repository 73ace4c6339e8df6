// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/prediction.hpp"

#include "apps/driver/output/summary.hpp"

#include <ossatura/core/machine/memory.hpp>

#include <algorithm>

namespace ossatura {

namespace {

/// Pages of code that a solve touches first, stacks and files of results, on the serial backend:
/// measured as what the smallest runs take beyond their dry run, 3 to 7 MB.
constexpr double run_bytes = 6e6;

} // namespace

double predict_host_peak(double host_growth) {
  return std::max(double(peak_host_bytes()),
                  double(resident_host_bytes()) + run_bytes + host_growth);
}

int report_prediction(Prediction prediction, const std::string& stem, DriverContext& context) {
  Table& table = prediction.input;
  table.section("Prediction");
  for (const auto& [label, value] : prediction.rows)
    table.row(label, value);
  table.row("memory of the backend", format_bytes(prediction.device_bytes));
  const double host_bytes = predict_host_peak(prediction.host_growth);
  table.row("memory of the process", format_bytes(host_bytes));
  context.print_result(table.text());

  SummaryParts parts;
  parts.status = RunStatus::dry_run;
  parts.problem = std::move(prediction.problem);
  parts.results = std::move(prediction.results);
  parts.results["predicted_device_bytes"] = prediction.device_bytes;
  parts.results["predicted_host_bytes"] = host_bytes;
  context.finish(make_summary(context, parts), stem);
  return exit_code_of(parts.status);
}

} // namespace ossatura
