// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/summary.hpp"

#include "apps/driver/exit_code.hpp"

#include <cmath>
#include <utility>

namespace ossatura {

namespace {

using Json = nlohmann::ordered_json;

Json number_or_null(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json timings(double seconds) {
  Json regions = Json::array();
  for (const TimedRegion& region : region_timers().regions())
    regions.push_back({{"name", region.name},
                       {"depth", region.depth},
                       {"calls", region.calls},
                       {"seconds", region.seconds}});
  return {{"total_seconds", seconds},
          {"fenced", region_timers().fencing()},
          {"regions", std::move(regions)}};
}

Json memory() {
  Json spaces = Json::object();
  for (const SpaceMemory& space : memory_by_space())
    spaces[space.space] = {{"peak_bytes", space.peak}, {"live_bytes", space.live}};
  return {{"host_peak_bytes", peak_host_bytes()},
          {"kokkos_peak_bytes", peak_kokkos_bytes()},
          {"kokkos_spaces", std::move(spaces)}};
}

Json warnings(const std::vector<LogMessage>& messages) {
  const std::string prefix = "warning: ";
  Json list = Json::array();
  for (const LogMessage& message : messages)
    list.push_back({{"code", message.code}, {"text", message.text.substr(prefix.size())}});
  return list;
}

/// The place of the first number that is not finite, as "results.energy"; empty if all are.
std::string find_not_finite(const Json& json, const std::string& place) {
  if (json.is_number_float())
    return std::isfinite(json.get<double>()) ? std::string() : place;
  std::string found;
  if (json.is_object())
    for (auto item = json.begin(); item != json.end() && found.empty(); ++item)
      found = find_not_finite(item.value(), place + "." + item.key());
  if (json.is_array())
    for (std::size_t i = 0; i < json.size() && found.empty(); ++i)
      found = find_not_finite(json[i], place + "[" + std::to_string(i) + "]");
  return found;
}

/// Marks a run that looks well but has a result that is not finite, and warns unless it did so.
void check_finite(SummaryParts& parts, bool& warned) {
  if (parts.status == RunStatus::interrupted || parts.status == RunStatus::broken_down)
    return;
  const std::string place = find_not_finite(parts.results, "results");
  if (place.empty())
    return;
  parts.status = RunStatus::not_finite;
  if (!std::exchange(warned, true))
    log_warning("not-finite", place, " is not finite: numbers of the problem are too large or too ",
                "small, or an element is degenerate; no result can be relied on");
}

} // namespace

int exit_code_of(RunStatus status) {
  switch (status) {
  case RunStatus::converged:
  case RunStatus::steps_done:
  case RunStatus::done:
  case RunStatus::dry_run:
    return exit_done;
  case RunStatus::interrupted:
    return exit_stopped;
  default:
    return exit_not_converged;
  }
}

nlohmann::ordered_json make_summary(const DriverContext& context, const SummaryParts& parts) {
  Json engine = {{"backend", context.provenance().backend},
                 {"device", context.provenance().device},
                 {"threads", context.provenance().threads}};
  if (parts.engine.is_object())
    engine.update(parts.engine);
  Json used = memory();
  if (parts.memory.is_object())
    used.update(parts.memory);
  return {{"schema", "ossatura/" + context.subcommand() + "/1"},
          {"status", name_of(parts.status)},
          {"warnings", warnings(context.warnings())},
          {"problem", parts.problem},
          {"engine", std::move(engine)},
          {"parameters", context.parameters()},
          {"iterations", parts.iterations},
          {"residual",
           {{"recurrent", number_or_null(parts.recurrent_residual)},
            {"true", number_or_null(parts.true_residual)}}},
          {"timings", timings(context.seconds())},
          {"memory", std::move(used)},
          {"results", parts.results},
          {"provenance", to_json(context.provenance())}};
}

int finish_run(const RunReport& report, const std::string& stem, DriverContext& context) {
  bool warned = false;
  SummaryParts parts = report.summary();
  check_finite(parts, warned);
  if (!report.table_has_files)
    context.print_result(report.table());
  if (report.write_files) {
    context.keep_summary(make_summary(context, parts), stem);
    report.write_files(parts.status);
    parts = report.summary();
    check_finite(parts, warned);
  }
  if (report.table_has_files)
    context.print_result(report.table());
  context.print_files(report.files);
  context.finish(make_summary(context, parts), stem);
  return exit_code_of(parts.status);
}

int finish_interrupted(DriverContext& context) {
  context.end_solve();
  log_warning("interrupted", "stopped by a signal before there was a result");
  SummaryParts parts;
  parts.status = RunStatus::interrupted;
  // Without a name for its results, the run is stopped while it reads.
  context.finish(make_summary(context, parts),
                 context.stem().empty() ? context.subcommand() : context.stem());
  return exit_stopped;
}

} // namespace ossatura
