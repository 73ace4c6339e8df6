// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/cohort.hpp"

#include "apps/driver/output/names.hpp"
#include "apps/softbody/command.hpp"

namespace ossatura {

namespace {

/// What an ensemble compares; places are those of the summary.
std::vector<CohortColumn> softbody_columns(bool dry_run) {
  std::vector<CohortColumn> columns = {{"nodes", "/problem/nodes", "nodes"},
                                       {"elements", "/problem/elements", "elements"},
                                       {"steps", "/problem/steps", "steps"}};
  if (dry_run) {
    columns.push_back({"predicted_device_bytes", "/results/predicted_device_bytes", "backend"});
    columns.push_back({"predicted_host_bytes", "/results/predicted_host_bytes", "process"});
    return columns;
  }
  const auto add = [&](const std::string& place, const std::string& name,
                       const std::string& head = {}) {
    columns.push_back({name, "/results/" + place, head});
  };
  add("steps_taken", "steps_taken");
  add("last_time", "last_time", "time");
  add("steps_not_converged", "steps_not_converged", "not converged");
  add("breakdown", "breakdown");
  add("newton_iterations", "newton_iterations");
  add("most_iterations", "most_iterations", "most iterations");
  add("refreshes", "refreshes");
  add("halved_steps", "halved_steps");
  add("most_contacts", "most_contacts", "contacts");
  add("worst_penetration", "worst_penetration");
  for (const char* energy : {"kinetic", "elastic", "potential"})
    add(std::string("energy/final/") + energy, std::string("final_") + energy);
  add("energy/final/total", "final_energy", "energy");
  add("state_hash", "state_hash");
  return columns;
}

} // namespace

int run_scenes(const SoftbodyCommandOptions& options, DriverContext& context) {
  SoftbodyCommandOptions single = options;
  if (!is_cohort(options)) {
    single.scene = options.scenes.front();
    single.name = file_stem(single.scene);
    return run_softbody(single, context);
  }
  Cohort cohort;
  cohort.inputs = options.scenes;
  cohort.option = "scene";
  cohort.noun = "scene";
  cohort.skips_complete = options.skip_complete;
  cohort.columns = softbody_columns(options.common.dry_run);
  cohort.run = [&](const CohortMember& member, DriverContext& run) {
    single.scene = member.input;
    single.name = member.name;
    return run_softbody(single, run);
  };
  return run_cohort(cohort, context);
}

} // namespace ossatura
