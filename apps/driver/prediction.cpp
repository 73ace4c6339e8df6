// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/prediction.hpp"

#include "apps/driver/exit_code.hpp"
#include "apps/driver/summary.hpp"

namespace femura {

int report_prediction(Prediction prediction, const std::string& stem, DriverContext& context) {
  Table& table = prediction.input;
  table.section("Prediction");
  for (const auto& [label, value] : prediction.rows)
    table.row(label, value);
  table.row("memory of the backend", format_bytes(prediction.device_bytes));
  table.row("memory of the process", format_bytes(prediction.host_bytes));
  context.print_result(table.text());

  SummaryParts parts;
  parts.status = "dry run";
  parts.problem = std::move(prediction.problem);
  parts.results = std::move(prediction.results);
  parts.results["predicted_device_bytes"] = prediction.device_bytes;
  parts.results["predicted_host_bytes"] = prediction.host_bytes;
  context.finish(make_summary(context, parts), stem);
  return exit_done;
}

} // namespace femura
