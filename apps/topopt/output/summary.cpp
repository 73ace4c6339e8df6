// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/output/summary.hpp"

#include "apps/topopt/input/choices.hpp"
#include "apps/topopt/input/process.hpp"

#include <ossatura/solvers/topopt/frequencies/families.hpp>
#include <ossatura/solvers/topopt/frequencies/frequencies.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t most_listed = 2000; ///< steps; longer runs list every k-th

/// A list for each quantity, with an entry for each step that is listed.
Json step_columns(const std::vector<DesignStep>& steps) {
  const std::size_t every =
      std::max<std::size_t>((steps.size() + most_listed - 1) / most_listed, 1);
  Json columns = Json::object();
  columns["every"] = every;
  const auto column = [&](const char* name, const auto& value) {
    Json& list = columns[name] = Json::array();
    for (std::size_t i = 0; i < steps.size(); i += every)
      list.push_back(value(steps[i]));
  };
  using Step = const DesignStep&;
  column("step", [](Step s) { return s.number; });
  column("objective", [](Step s) { return s.objective; });
  column("cases", [](Step s) { return s.cases; });
  if (!steps.empty() && !steps[0].limits.empty())
    column("constraints", [](Step s) {
      std::vector<double> values;
      for (const DesignLimitValue& one : s.limits)
        values.push_back(one.value);
      return values;
    });
  if (!steps.empty() && !steps[0].frequencies.empty())
    column("frequencies", [](Step s) { return s.frequencies; });
  column("volume", [](Step s) { return s.volume; });
  column("change", [](Step s) { return s.change; });
  column("grey", [](Step s) { return s.grey; });
  column("penalty", [](Step s) { return s.penalty; });
  column("sharpness", [](Step s) { return s.sharpness; });
  column("iterations", [](Step s) { return iterations_of(s); });
  column("residual", [](Step s) { return residual_of(s); });
  column("prepare_seconds", [](Step s) { return s.seconds_prepare; });
  column("solve_seconds", [](Step s) { return s.seconds_solve; });
  column("gradient_seconds", [](Step s) { return s.seconds_gradient; });
  column("update_seconds", [](Step s) { return s.seconds_update; });
  return columns;
}

Json materials_json(const DesignProblem& problem) {
  std::vector<std::int64_t> count(problem.materials.size());
  for (const std::uint8_t number : problem.material)
    ++count[number];
  Json list = Json::array();
  for (std::size_t i = 0; i < count.size(); ++i) {
    const HexaMaterial& one = problem.materials[i];
    list.push_back({{"name", one.name},
                    {"young", one.young},
                    {"poisson", one.poisson},
                    {"mass_density", one.density > 0 ? Json(one.density) : Json()},
                    {"elements", count[i]}});
    if (problem.has_temperatures())
      list.back()["expansion"] = one.expansion;
  }
  return list;
}

/// Gravity and rotation.
Json body_loads_json(const std::vector<BodyLoad>& loads) {
  Json list = Json::array();
  for (const BodyLoad& load : loads) {
    Json json = {{"acceleration", load.acceleration}};
    if (load.square_speed > 0)
      json.update(
          {{"speed", std::sqrt(load.square_speed)}, {"origin", load.origin}, {"axis", load.axis}});
    list.push_back(std::move(json));
  }
  return list;
}

/// The range over all nodes, K.
Json temperature_change_json(const std::vector<double>& warming) {
  const auto [least, most] = std::minmax_element(warming.begin(), warming.end());
  return {{"least", *least}, {"most", *most}};
}

/// What a limit is, without a design.
Json limit_json(const TopoptModel& model, const DesignLimit& limit) {
  return {
      {"kind", name_of(limit.kind)},
      {"case", limit.load_case < 0 ? Json() : Json(model.case_names[std::size_t(limit.load_case)])},
      {"bound", limit.at_least ? "at_least" : "at_most"},
      {"limit", limit.limit}};
}

/// The volume, where it is limited, and all limits, as the last design has them.
Json constraints_json(const TopoptModel& model, const DesignStep& final) {
  Json list = Json::array();
  const double fraction = model.options.volume_fraction;
  if (model.options.objective != DesignObjective::volume)
    list.push_back({{"kind", "volume"},
                    {"case", Json()},
                    {"bound", "at_most"},
                    {"limit", fraction},
                    {"value", final.volume},
                    {"excess", final.volume / fraction - 1},
                    {"holds", final.volume <= fraction * (1 + limit_tolerance)}});
  for (std::size_t j = 0; j < final.limits.size(); ++j) {
    const DesignLimitValue& own = final.limits[j];
    Json json = limit_json(model, model.problem.limits[j]);
    json.update({{"value", own.value}, {"excess", own.excess}, {"holds", own.holds()}});
    if (model.problem.limits[j].kind == DesignLimitKind::stress)
      json.update({{"mean", own.mean}, {"solid_stress", own.solid}});
    if (model.problem.limits[j].kind == DesignLimitKind::frequency)
      json["mean"] = own.mean;
    list.push_back(std::move(json));
  }
  return list;
}

Json process_json(const DesignProcess& process) {
  const auto name = [](int axis) { return std::string(1, "xyz"[axis]); };
  Json json = Json::object();
  if (process.extrude)
    json["extrude"] = name(*process.extrude);
  for (const DesignProcess::Plane& plane : process.symmetry)
    json["symmetry"].push_back({{"axis", name(plane.axis)}, {"place", plane.place}});
  if (const auto& rotation = process.rotation)
    json["sectors"] = {
        {"count", rotation->sectors}, {"axis", name(rotation->axis)}, {"point", rotation->point}};
  if (process.draw && process.draw->parting)
    json["draw"] = {{"axis", name(process.draw->direction.axis)},
                    {"parting", *process.draw->parting}};
  else if (process.draw)
    json["draw"] = process_axis_text(process.draw->direction);
  if (process.overhang)
    json["overhang"] = process_axis_text(*process.overhang);
  return json;
}

Json placed(const PlacedValue& value) {
  return {{"value", value.value}, {"place", value.place}};
}

Json reanalysis_json(const TopoptModel& model, const TopoptRunResults& results) {
  const ReanalysisSummary& again = *results.reanalysis;
  Json json = {{"failure", again.failure.empty() ? Json() : Json(again.failure)},
               {"body", modelled_share(model.problem.mirrors)},
               {"cube_edge", again.edge},
               {"cube_volume", again.volume},
               {"left_out_volume", again.left_out},
               {"support_nodes", again.num_supported},
               {"support_nodes_of_design", again.num_supports},
               {"seconds", again.seconds}};
  if (!again.failure.empty() || !results.final)
    return json;
  const Reanalysis& solution = again.solution;
  json.update(
      {{"cubes", solution.num_elem},
       {"dofs", 3 * solution.num_nodes},
       {"iterations", solution.iterations},
       {"residual", solution.residual},
       {"objective", solution.objective},
       {"difference", solution.objective / compliance_of(model.problem, *results.final) - 1}});
  Json& cases = json["cases"] = Json::array();
  for (std::size_t k = 0; k < solution.cases.size(); ++k) {
    const ReanalysedCase& one = solution.cases[k];
    cases.push_back({{"name", model.case_names[k]},
                     {"compliance", one.compliance},
                     {"difference", one.compliance / results.final->cases[k] - 1},
                     {"moved_force_share", again.moved[k].share},
                     {"moved_force_distance", again.moved[k].distance},
                     {"largest_displacement", placed(one.displacement)},
                     {"largest_von_mises", placed(one.von_mises)},
                     {"von_mises_99_9_percent", one.von_mises_quantile}});
  }
  return json;
}

Json bound_json(const TopoptModel& model, const TopoptRunResults& results) {
  const BoundSummary& bound = *results.bound;
  if (!bound.is_known())
    return {{"value", nullptr}, {"reason", bound.reason}};
  const double compliance = compliance_of(model.problem, *results.final);
  return {{"value", bound.found.value},
          {"reason", nullptr},
          {"excess", bound.excess_of(compliance)},
          {"relaxed", bound.found.relaxed},
          {"steps", bound.found.steps},
          {"iterations", bound.found.iterations},
          {"breakdown", bound.found.breakdown.empty() ? Json() : Json(bound.found.breakdown)},
          {"seconds", bound.seconds}};
}

} // namespace

nlohmann::ordered_json topopt_problem(const TopoptModel& model) {
  const DesignProblem& p = model.problem;
  const DesignOptions& o = model.options;
  Json cases = Json::array();
  for (std::size_t i = 0; i < p.cases.size(); ++i) {
    double total[3] = {};
    for (const NodeForce& force : p.cases[i].loads.forces)
      for (int c = 0; c < 3; ++c)
        total[c] += force.force[c];
    cases.push_back({{"name", model.case_names[i]},
                     {"weight", p.cases[i].weight},
                     {"forces", p.cases[i].loads.forces.size()},
                     {"total_force", total},
                     {"displacements", p.cases[i].loads.displacements.size()},
                     {"body_loads", body_loads_json(p.cases[i].loads.body)}});
    if (!p.cases[i].loads.warming.empty())
      cases.back()["temperature_change"] = temperature_change_json(p.cases[i].loads.warming);
  }
  Json mirrors = Json::array();
  for (const MirrorPlane& mirror : p.mirrors)
    mirrors.push_back({{"axis", std::string(1, "xyz"[mirror.axis])}, {"place", mirror.place}});
  Json json = {{"source", model.source},
               {"nodes", model.num_nodes()},
               {"elements", model.num_elem()},
               {"dofs", 3 * model.num_nodes()},
               {"held_dofs", model.num_held()},
               {"unused_points_left_out", model.unused_points},
               {"material",
                {{"young", p.young},
                 {"poisson", p.poisson},
                 {"mass_density", model.mass_density ? Json(*model.mass_density) : Json()}}},
               {"cases", std::move(cases)},
               {"solid_elements", model.count(DesignRole::solid)},
               {"kept_elements", model.num_kept},
               {"void_elements", model.count(DesignRole::void_)},
               {"mirrors", std::move(mirrors)},
               {"springs", p.springs.size()},
               {"rigid_bodies", p.rigid.size()},
               {"objective", name_of(o.objective)},
               {"volume_fraction",
                o.objective == DesignObjective::volume ? Json() : Json(o.volume_fraction)},
               {"steps", o.max_steps}};
  if (!model.loaded_boxes.empty())
    json["loaded_boxes"] = loaded_boxes_json(model.loaded_boxes);
  if (const int count = count_frequencies(p, o); count > 0)
    json["frequencies"] = count;
  if (model.frequencies_below > 0 && !is_held_to_frequencies(p, o))
    json["frequencies_below"] = model.frequencies_below;
  if (!p.limits.empty()) {
    Json& list = json["constraints"] = Json::array();
    for (const DesignLimit& one : p.limits)
      list.push_back(limit_json(model, one));
  }
  if (p.has_temperatures() && p.material.empty())
    json["material"]["expansion"] = p.materials[0].expansion;
  if (!p.material.empty())
    json["materials"] = materials_json(p);
  if (o.process.any())
    json["manufacturing"] = process_json(o.process);
  return json;
}

namespace {

/// How ranks divide the nodes.
Json cut_json(const VoxelCutInfo& cut) {
  const VoxelCutInfo::Level& voxels = cut.levels.front();
  Json levels = Json::array();
  for (const VoxelCutInfo::Level& level : cut.levels)
    levels.push_back({{"largest_rank_nodes", level.most_nodes},
                      {"largest_rank_ghosts", level.most_ghosts},
                      {"most_neighbours", level.most_neighbours},
                      {"ghosts", level.num_ghosts}});
  return {{"split", "model"},
          {"transport", name_of(cut.transport)},
          {"superblock_voxels", 1 << cut.bits},
          {"largest_rank_nodes", voxels.most_nodes},
          {"largest_rank_ghosts", voxels.most_ghosts},
          {"ghosts", voxels.num_ghosts},
          {"cut_levels", std::move(levels)}};
}

} // namespace

nlohmann::ordered_json topopt_engine(const TopoptModel& model, const TopoptRunResults& results) {
  const DesignOptions& o = model.options;
  const DesignEngine& e = results.engine;
  const bool on_voxels = o.grid == DesignGrid::voxels;
  Json json = {{"method", name_of(o.method)},  {"move", o.move},
               {"change", o.change_tolerance}, {"objective_change", o.objective_change},
               {"filter", name_of(o.filter)},  {"filter_radius", e.radius},
               {"projection", o.projection}};
  if (o.projection)
    json.update({{"threshold", o.threshold}, {"robust", o.robust}});
  if (o.sharpens())
    json["sharpness"] = continuation_text(o.sharpness);
  json.update({{"penalty", continuation_text(o.penalty)},
               {"min_modulus", o.min_modulus},
               {"linear_below", model.problem.has_body_loads() ? linear_below_with_mass : 0.0},
               {"grid", name_of(o.grid)},
               {"operator", e.operator_name},
               {"operator_reason", e.reason},
               {"operator_bytes", e.cost.bytes_kept},
               {"bytes_per_product", e.cost.bytes_moved},
               {"flops_per_product", e.cost.flops},
               {"deterministic", e.is_deterministic},
               {"preconditioner", on_voxels ? "multigrid" : name_of(o.solver.preconditioner)},
               {"preconditioner_parts", e.preconditioner},
               {"preconditioner_formings", e.num_formings},
               {"solver_precision", name_of(on_voxels ? o.voxels.precision : o.solver.precision)},
               {"tolerance", o.solver.cg.tolerance},
               {"step_tolerance", o.tolerance_of_steps()},
               {"max_iterations", o.solver.cg.max_iterations},
               {"forming_cost", o.solver.forming_cost},
               {"warm_start", o.warm_start}});
  if (e.cut)
    json.update(cut_json(*e.cut));
  return json;
}

namespace {

/// Of a load case of the design that was analysed in the end.
Json case_json(const TopoptModel& model, const TopoptRunResults& results, std::size_t k) {
  Json json = {{"name", model.case_names[k]}, {"value", results.final->cases[k]}};
  if (k >= results.balances.size())
    return json;
  const DesignBalance& balance = results.balances[k];
  json["support_force"] = balance.support_force;
  const LargestValues& largest = results.largest[k];
  const bool is_known = largest.stress >= 0;
  json["largest_displacement"] = is_known ? Json(largest.displacement) : Json();
  json["largest_von_mises"] = is_known ? Json(largest.stress) : Json();
  if (!model.problem.cases[k].loads.displacements.empty()) {
    json["imposed_force"] = balance.imposed_force;
    json["imposed_work"] = balance.imposed_work;
  }
  return json;
}

} // namespace

nlohmann::ordered_json topopt_results(const TopoptModel& model, const TopoptRunResults& results) {
  const auto& final = results.final;
  Json cases = Json::array();
  if (final)
    for (std::size_t i = 0; i < final->cases.size() && i < model.case_names.size(); ++i)
      cases.push_back(case_json(model, results, i));
  Json json = {{"converged", results.converged},
               {"first_step", results.first_step},
               {"steps_taken", results.steps.size()},
               {"breakdown", results.breakdown.empty() ? Json() : Json(results.breakdown)},
               {"objective", final ? Json(final->objective) : Json()},
               {"cases", std::move(cases)},
               {"constraints", final ? constraints_json(model, *final) : Json::array()},
               {"volume", final ? Json(final->volume) : Json()},
               {"grey", final ? Json(final->grey) : Json()},
               {"last_change", results.steps.empty() ? Json() : Json(results.steps.back().change)},
               {"iterations_of_final_analysis", final ? Json(iterations_of(*final)) : Json()},
               {"fell_back_to_double", results.fell_back()}};
  if (final && (!final->frequencies.empty() || model.frequencies_below > 0))
    json.update(
        {{"frequencies", final->frequencies}, {"frequency_residuals", final->frequency_residuals}});
  if (final && !final->frequency_families.empty()) {
    Json& axes = json["antisymmetric_about"] = Json::array();
    for (const unsigned family : final->frequency_families)
      axes.push_back(antisymmetric_axes(model.problem, family));
  }
  if (model.options.process.any())
    json["manufacturing"] = {{"undercuts", results.faults.undercuts},
                             {"hanging", results.faults.hanging},
                             {"unlike", results.faults.unlike}};
  if (results.bound)
    json["bound"] = bound_json(model, results);
  if (results.parts)
    json["parts"] = {{"count", results.parts->num_parts},
                     {"loose", results.parts->num_loose},
                     {"volume", results.parts->volume},
                     {"loose_volume", results.parts->loose_volume},
                     {"join_load_and_support", results.parts->joined},
                     {"force_share_beside", results.parts->beside}};
  if (results.surface)
    json["surface"] = {{"vertices", results.surface->num_vertices},
                       {"triangles", results.surface->num_triangles},
                       {"vertices_on_body", results.surface->num_fitted},
                       {"vertices_not_smoothed", results.surface->num_held},
                       {"body", results.surface->body(model.problem.mirrors)},
                       {"copies_of_model", results.surface->num_copies},
                       {"volume", results.surface->volume},
                       {"mass", model.mass_density
                                    ? Json(*model.mass_density * results.surface->volume)
                                    : Json()}};
  if (results.reanalysis)
    json["reanalysis"] = reanalysis_json(model, results);
  for (const GridSteps& grid : results.grids)
    json["grids"].push_back({{"elements", grid.num_elem},
                             {"edge", grid.edge},
                             {"filter_radius", grid.radius},
                             {"steps", grid.num_steps},
                             {"seconds", grid.seconds}});
  json["seconds"] = {{"read", results.seconds.read},
                     {"setup", results.seconds.setup},
                     {"steps", results.seconds.steps},
                     {"final_analysis", results.seconds.final},
                     {"write", results.seconds.write}};
  json["steps"] = step_columns(results.steps);
  json["frames"] = results.num_frames;
  json["files"] = results.files;
  return json;
}

} // namespace ossatura
