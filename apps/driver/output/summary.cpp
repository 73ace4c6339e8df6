// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/summary.hpp"

#include "apps/driver/exit_code.hpp"
#include <ossatura/core/base/backend.hpp>

#include <algorithm>
#include <cmath>

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

/// Peaks of the largest rank were gathered before files were written, where the first may have
/// become the largest.
void include_own_peaks(Json& memory) {
  for (const std::string own : {"host_peak_bytes", "kokkos_peak_bytes"})
    if (const auto largest = memory.find("largest_rank_" + own); largest != memory.end())
      *largest = std::max(largest->get<std::int64_t>(), memory.at(own).get<std::int64_t>());
}

Json warnings(const std::vector<LogMessage>& messages) {
  const std::string prefix = "warning: ";
  Json list = Json::array();
  for (const LogMessage& message : messages)
    list.push_back({{"code", message.code}, {"text", message.text.substr(prefix.size())}});
  return list;
}

/// Numbers that are not finite: how many, and the place of the first, as "results.energy".
struct NotFinite {
  std::int64_t count = 0;
  std::string first;

  void look(const Json& json, const std::string& place) {
    if (json.is_number_float() && !std::isfinite(json.get<double>()) && count++ == 0)
      first = place;
    if (json.is_object())
      for (auto item = json.begin(); item != json.end(); ++item)
        look(item.value(), place + "." + item.key());
    if (json.is_array())
      for (std::size_t i = 0; i < json.size(); ++i)
        look(json[i], place + "[" + std::to_string(i) + "]");
  }
};

/// Whether a run would end well.
bool looks_well(const SummaryParts& parts) {
  return exit_code_of(parts.status) == exit_done;
}

/// Takes a report as it is now, and judges it: by numbers that are not finite, of which those who
/// write fields have warned, and by the checks.
SummaryParts judge(const RunReport& report, const DriverContext& context) {
  SummaryParts parts = report.summary();
  const auto has_warned = [&context](const std::string& code) {
    return std::any_of(context.warnings().begin(), context.warnings().end(),
                       [&code](const LogMessage& warning) { return warning.code == code; });
  };
  NotFinite found;
  found.look(parts.results, "results");
  const bool ended = parts.status != RunStatus::interrupted && //
                     parts.status != RunStatus::broken_down;
  if (found.count > 0 && ended && !has_warned("not-finite"))
    log_warning("not-finite", found.first,
                " is not finite: numbers of the problem are too large or too ",
                "small, or an element is degenerate; no result can be relied on");
  if (found.count == 0 && has_warned("not-finite"))
    found.count = 1; // or more, in fields
  if (found.count > 0 && ended)
    parts.status = RunStatus::not_finite;
  parts.certificate.checks.push_back({"not_finite", double(found.count), 0});
  if (looks_well(parts) && !all_passed(parts.certificate.checks)) {
    parts.status = RunStatus::not_converged;
    if (!has_warned("check-failed"))
      log_warning("check-failed",
                  "the certificate does not hold: ", failed_checks(parts.certificate),
                  "; the solve met its tolerance, but its results do not bear it out. Lower ",
                  "--tolerance, or see docs/warnings.md");
  }
  return parts;
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
                 {"threads", context.provenance().threads},
                 {"ranks", context.world().size()}};
  if (parts.engine.is_object())
    engine.update(parts.engine);
  Json used = memory();
  if (parts.memory.is_object())
    used.update(parts.memory);
  include_own_peaks(used);
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
          {"certificate", to_json(parts.certificate, context.provenance().inputs, context.outputs(),
                                  context.summary_folder())},
          {"timings", timings(context.seconds())},
          {"memory", std::move(used)},
          {"results", parts.results},
          {"provenance", to_json(context.provenance())}};
}

int finish_run(const RunReport& report, const std::string& stem, DriverContext& context) {
  require_launches("the end of the run");
  SummaryParts parts = judge(report, context);
  const auto print_table = [&] {
    context.print_result(report.table() + '\n' + certificate_text(parts.certificate));
  };
  if (!report.table_has_files)
    print_table();
  if (report.write_files) {
    context.keep_summary(make_summary(context, parts), stem);
    report.write_files(parts.status);
  }
  context.note_outputs(report.files);
  context.warn_of_earlier_files();
  parts = judge(report, context);
  if (report.table_has_files)
    print_table();
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
