// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/summary.hpp"

namespace femura {

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

} // namespace

nlohmann::ordered_json make_summary(const DriverContext& context, const SummaryParts& parts) {
  Json engine = {{"backend", context.provenance().backend},
                 {"device", context.provenance().device},
                 {"threads", context.provenance().threads}};
  if (parts.engine.is_object())
    engine.update(parts.engine);
  return {{"schema", "femura/" + context.subcommand() + "/1"},
          {"status", parts.status},
          {"warnings", warnings(context.warnings())},
          {"problem", parts.problem},
          {"engine", std::move(engine)},
          {"parameters", context.parameters()},
          {"iterations", parts.iterations},
          {"residual",
           {{"recurrent", number_or_null(parts.recurrent_residual)},
            {"true", number_or_null(parts.true_residual)}}},
          {"timings", timings(context.seconds())},
          {"memory", memory()},
          {"results", parts.results},
          {"provenance", to_json(context.provenance())}};
}

} // namespace femura
