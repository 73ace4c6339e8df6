// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/output/summary.hpp"

#include "apps/softbody/input/read_scene.hpp"

#include <algorithm>

namespace ossatura {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t most_listed = 2000; ///< steps; longer runs list every k-th, and the last

Json to_json(const SoftMaterial& material, ElementShape shape) {
  Json json = {{"law", name_of(material.law)}};
  if (material.law == SoftLaw::corotational)
    json["rotation"] = name_of(material.rotation);
  for (const SoftParameter& p : soft_parameters)
    if (p.is_of(material.law))
      json[p.name] = material.*p.value;
  if (shape == ElementShape::triangle)
    json["thickness"] = material.thickness;
  return json;
}

Json to_json(const SoftEnergy& energy) {
  return {{"kinetic", energy.kinetic},
          {"elastic", energy.elastic},
          {"potential", energy.potential},
          {"total", energy.kinetic + energy.elastic + energy.potential}};
}

Json to_json(const Spread& spread) {
  return {{"mean", spread.mean}, {"median", spread.median}, {"maximum", spread.maximum}};
}

/// A list for each quantity, with an entry for each step that is listed, the last one always.
Json step_columns(const std::vector<SoftStepRecord>& steps) {
  const std::size_t every = (steps.size() + most_listed - 1) / most_listed;
  Json columns = Json::object();
  columns["every"] = std::max<std::size_t>(every, 1);
  const auto column = [&](const char* name, const auto& value) {
    Json& list = columns[name] = Json::array();
    for (std::size_t i = 0; i < steps.size(); i += every)
      list.push_back(value(steps[i]));
    if (!steps.empty() && (steps.size() - 1) % every != 0)
      list.push_back(value(steps.back()));
  };
  using Record = const SoftStepRecord&;
  column("step", [](Record r) { return r.number; });
  column("time", [](Record r) { return r.step.time; });
  column("kinetic", [](Record r) { return r.energy.kinetic; });
  column("elastic", [](Record r) { return r.energy.elastic; });
  column("potential", [](Record r) { return r.energy.potential; });
  column("converged", [](Record r) { return r.step.converged; });
  column("newton_iterations", [](Record r) { return r.step.newton_iterations; });
  column("iterations", [](Record r) { return r.step.iterations; });
  column("residual", [](Record r) { return r.step.residual; });
  column("staleness", [](Record r) { return r.step.staleness; });
  column("contacts", [](Record r) { return r.step.contacts; });
  column("contact_rounds", [](Record r) { return r.step.contact_rounds; });
  column("penetration", [](Record r) { return r.step.penetration; });
  column("complementarity", [](Record r) { return r.step.complementarity; });
  column("friction_residual", [](Record r) { return r.step.friction; });
  column("contact_residual", [](Record r) { return r.step.contact_residual; });
  for (const StepPhase& phase : step_phases)
    column((std::string(phase.name) + "_seconds").c_str(),
           [&phase](Record r) { return r.step.*phase.seconds; });
  return columns;
}

} // namespace

nlohmann::ordered_json softbody_problem(const SoftbodyModel& model) {
  Json objects = Json::array();
  for (std::size_t k = 0; k < model.scene.objects.size(); ++k) {
    const SoftObject& object = model.scene.objects[k];
    const SoftObjectInfo& info = model.info[k];
    objects.push_back({{"name", object.name},
                       {"source", info.source},
                       {"shape", name_of(object.mesh.shape)},
                       {"nodes", object.mesh.num_points()},
                       {"elements", object.mesh.num_elem()},
                       {"fixed_nodes", object.fixed.size()},
                       {"unused_points_left_out", info.unused_points},
                       {"mass", info.mass},
                       {"material", to_json(object.material, object.mesh.shape)}});
  }
  return {
      {"objects", std::move(objects)},
      {"nodes", model.num_nodes()},
      {"elements", model.num_elem()},
      {"dofs", 3 * model.num_nodes()},
      {"held_dofs", 3 * model.num_fixed()},
      {"obstacles", model.scene.obstacles.size()},
      {"contact_between_objects", model.scene.contact_between_objects},
      {"gravity", model.scene.gravity},
      {"time_step", model.options.time_step},
      {"steps", model.steps},
      {"damping",
       {{"mass", model.options.rayleigh_mass}, {"stiffness", model.options.rayleigh_stiffness}}}};
}

nlohmann::ordered_json softbody_engine(const SoftbodyModel& model,
                                       const SoftbodyRunResults& results) {
  const SoftOptions& o = model.options;
  Json json = {{"assembly", name_of(o.assembly)},    {"newton_iterations", o.newton_iterations},
               {"tolerance", o.tolerance},           {"contact_tolerance", o.contact_tolerance},
               {"product", name_of(o.product)},      {"preconditioner", name_of(o.preconditioner)},
               {"matrix_blocks", results.num_blocks}};
  if (o.preconditioner == SoftPreconditioner::ldlt)
    json.update({{"refresh", refresh_text(o)},
                 {"factor", name_of(results.place)},
                 {"apply", name_of(results.apply)},
                 {"factor_storage", name_of(o.storage)},
                 {"bands", results.num_inverse_bands},
                 {"warp", o.warp},
                 {"factor_entries", results.num_factor_entries},
                 {"inverse_entries", results.num_inverse_entries}});
  return json;
}

nlohmann::ordered_json softbody_results(const SoftbodyModel& model,
                                        const SoftbodyRunResults& results) {
  const StepTotals totals = totals_of(results);
  const EnergyWatch energies = watch_energy(results);
  const std::vector<int> failed = results.not_converged();
  constexpr std::size_t most_named = 20;
  Json json = {
      {"converged", results.converged()},
      {"first_step", results.first_step},
      {"steps_taken", results.steps.size()},
      {"last_time", results.steps.empty() ? Json() : Json(results.steps.back().step.time)},
      {"steps_not_converged", failed.size()},
      {"first_not_converged",
       std::vector<int>(failed.begin(),
                        failed.begin() + std::ptrdiff_t(std::min(failed.size(), most_named)))},
      {"breakdown", results.breakdown.empty() ? Json() : Json(results.breakdown)},
      {"newton_iterations", totals.newton_iterations},
      {"iterations_per_step",
       results.steps.empty() ? 0.0 : double(totals.iterations) / double(results.steps.size())},
      {"most_iterations", totals.most_iterations},
      {"refreshes", totals.refreshes},
      {"largest_staleness", totals.most_stale},
      {"halved_steps", totals.halved},
      {"most_inverted_elements", totals.most_inverted},
      {"most_crossing_edges", results.most_crossing_edges},
      {"deepest_crossing", results.deepest_crossing},
      {"first_crossing_step", results.first_crossing < 0 ? Json() : Json(results.first_crossing)},
      {"most_contacts", totals.most_contacts},
      {"most_contact_rounds", totals.most_contact_rounds},
      {"worst_penetration", totals.worst_penetration},
      {"worst_complementarity", totals.worst_complementarity},
      {"worst_friction_residual", totals.worst_friction},
      {"worst_contact_residual", totals.worst_contact_residual},
      {"energy",
       {{"initial", to_json(results.initial)},
        {"final", to_json(results.final_energy())},
        {"largest_rise", energies.worst().energy},
        {"largest_rise_with_contact", energies.worst_with_contact().energy}}}};
  json["objects"] = Json::array();
  for (std::size_t k = 0; k < results.objects.size(); ++k) {
    const SoftObjectState& state = results.objects[k];
    json["objects"].push_back({{"name", model.scene.objects[k].name},
                               {"mean_position", state.mean_position},
                               {"mean_velocity", state.mean_velocity},
                               {"lower", state.lower},
                               {"upper", state.upper},
                               {"largest_displacement", state.largest_displacement},
                               {"inverted_elements", state.inverted}});
  }
  json["state_hash"] = results.state_hash;
  json["seconds"] = {{"read", results.seconds.read},         {"setup", results.seconds.setup},
                     {"steps", results.seconds.steps},       {"energies", results.seconds.energies},
                     {"surfaces", results.seconds.surfaces}, {"write", results.seconds.write}};
  json["phases_fenced"] = results.fenced;
  for (const StepPhase& phase : step_phases)
    json["step_seconds"][phase.name] = to_json(spread_of(results, phase));
  json["steps"] = step_columns(results.steps);
  json["frames"] = results.num_frames;
  json["files"] = results.files;
  return json;
}

} // namespace ossatura
