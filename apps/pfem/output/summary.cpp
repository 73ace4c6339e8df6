// SPDX-License-Identifier: Apache-2.0
#include "apps/pfem/output/summary.hpp"

namespace ossatura {

namespace {

using Json = nlohmann::ordered_json;

Json peak(const PfemPeak& largest) {
  if (largest.elem < 0)
    return {};
  return {{"value", largest.value}, {"at", largest.x}, {"element", largest.elem}};
}

/// Moduli in Pa.
Json material_json(const PfemMaterial& material) {
  if (!material.elasticity.empty())
    return {{"elasticity", material.elasticity}};
  return {{"young", *material.young}, {"poisson", material.poisson.value_or(default_pfem_poisson)}};
}

/// Adds "material" where all elements have one, else "materials", as topopt does.
void add_materials(const PfemModel& model, Json& json) {
  if (model.materials.size() == 1) {
    json["material"] = material_json(model.materials[0].first);
    return;
  }
  Json& list = json["materials"] = Json::array();
  for (const auto& [material, count] : model.materials) {
    if (count == 0)
      continue;
    list.push_back(material_json(material));
    list.back()["elements"] = count;
  }
}

} // namespace

nlohmann::ordered_json pfem_problem(const PfemModel& model) {
  const HierarchicOptions& o = model.options.discretisation;
  Json orders = Json::array();
  for (const auto& [order, count] : model.elements_by_order())
    orders.push_back({{"order", order},
                      {"elements", count},
                      {"dofs_per_element", 3 * num_hierarchic_modes(model.options.space, order)},
                      {"quadrature_points_per_axis",
                       o.points > 0 ? o.points : quadrature_points(o.rule, order)}});
  const HierarchicNumbering& n = model.numbering;
  Json json = {{"source", model.source},
               {"vertices", model.num_vertices()},
               {"elements", model.num_elem()},
               {"geometry", model.is_trilinear() ? "trilinear" : "curved"},
               {"unused_points_left_out", model.unused_points},
               {"space", name_of(model.options.space)},
               {"scaling", name_of(o.scaling)},
               {"quadrature", o.points > 0 ? Json() : Json(name_of(o.rule))},
               {"orders", std::move(orders)},
               {"dofs", 3 * std::int64_t(n.num_modes)},
               {"dofs_by_part",
                {{"vertices", 3 * std::int64_t(n.edge_begin)},
                 {"edges", 3 * std::int64_t(n.face_begin - n.edge_begin)},
                 {"faces", 3 * std::int64_t(n.interior_begin - n.face_begin)},
                 {"interiors", 3 * std::int64_t(n.num_modes - n.interior_begin)}}},
               {"held_dofs", model.num_held()},
               {"supports", model.supports.size()},
               {"loads", model.num_loads}};
  if (!model.loaded_boxes.empty())
    json["loaded_boxes"] = loaded_boxes_json(model.loaded_boxes);
  add_materials(model, json);
  return json;
}

nlohmann::ordered_json pfem_engine(const PfemModel& model, const PfemResults& results) {
  const HierarchicSolverOptions& o = model.options.solver;
  return {{"operator", name_of(results.kind)},
          {"operator_reason", results.reason},
          {"operator_bytes", results.cost.bytes_kept},
          {"bytes_per_product", results.cost.bytes_moved},
          {"flops_per_product", results.cost.flops},
          {"form", name_of(o.form)},
          {"preconditioner", name_of(o.preconditioner)},
          {"preconditioner_parts", results.preconditioner},
          {"element_wise", o.element_wise},
          {"preconditioner_precision", name_of(o.precision)},
          {"tolerance", o.cg.tolerance},
          {"max_iterations", o.cg.max_iterations},
          {"residual_norm", results.solve.in_energy ? "energy" : "euclidean"}};
}

nlohmann::ordered_json pfem_results(const PfemModel& model, const PfemResults& results) {
  Json reactions = Json::array();
  for (std::size_t i = 0; i < model.supports.size(); ++i)
    reactions.push_back({{"support", model.supports[i].place}, {"force", results.reactions[i]}});
  Json json = {{"strain_energy", results.strain_energy},
               {"potential_energy", results.potential_energy},
               {"max_displacement", peak(results.displacement)},
               {"max_von_mises", peak(results.von_mises)},
               {"samples", results.num_samples},
               {"total_load", results.total_load},
               {"total_reaction", results.total_reaction},
               {"reactions", std::move(reactions)}};
  if (results.errors)
    json["exact"] = {{"solution", model.exact->source},
                     {"strain_energy", results.errors->energy},
                     {"relative_energy_norm_of_error", results.errors->energy_norm},
                     {"max_displacement_error", results.errors->displacement}};
  json["seconds"] = {{"read", results.seconds.read},
                     {"setup", results.seconds.setup},
                     {"solve", results.seconds.solve},
                     {"sample", results.seconds.sample}};
  json["files"] = results.files;
  return json;
}

} // namespace ossatura
