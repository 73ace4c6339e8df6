// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/output/report.hpp"

#include "apps/driver/output/prediction.hpp"
#include "apps/driver/output/table.hpp"

#include <cmath>

namespace ossatura {

namespace {

using Json = nlohmann::ordered_json;

int total_iterations(const BoneResults& results) {
  int iterations = 0;
  for (const BoneSolve& solve : results.solves)
    iterations += solve.iterations;
  return iterations;
}

/// NaN is the worst of all.
void keep_worse(std::optional<double>& worst, double residual) {
  if (!worst || residual > *worst || std::isnan(residual))
    worst = residual;
}

// The table.

void add_model(Table& table, const BoneModelInfo& model) {
  table.section("Model");
  table.row("source", model.source);
  table.row("image", std::to_string(model.shape[0]) + " x " + std::to_string(model.shape[1]) +
                         " x " + std::to_string(model.shape[2]) + " voxels of " +
                         format_number(model.spacing) + " mm");
  const std::optional<double> of_mask = model.mask_fraction();
  table.row("bone",
            format_count(model.num_bone_elem()) + " voxels, " +
                format_number(model.bone_volume(), 4) + " mm3, BV/TV " +
                format_number(model.volume_fraction(), 4) +
                (of_mask ? " of the image, " + format_number(*of_mask, 4) + " of the mask" : ""));
  if (model.num_cap_elem > 0)
    table.row("caps", format_count(model.num_cap_elem) + " voxels");
  if (model.num_pad_elem > 0)
    table.row("pads", format_count(model.num_pad_elem) + " voxels");
  if (model.num_dropped_elem > 0)
    table.row("left out",
              format_count(model.num_dropped_elem) + " voxels not connected to the rest");
  table.row("degrees of freedom",
            format_count(model.num_dofs()) + ", " + format_count(model.num_held_dofs) + " held");
  const bool uniform = model.modulus_min == model.modulus_max;
  table.row("Young's modulus", (uniform ? format_number(model.modulus_min)
                                        : format_number(model.modulus_min) + " to " +
                                              format_number(model.modulus_max) + ", mean " +
                                              format_number(model.modulus_mean)) +
                                   " MPa");
  // Ratios are kept as moduli in single precision: several moduli of one ratio differ by rounding.
  const std::string least = format_number(model.poisson_min),
                    greatest = format_number(model.poisson_max);
  table.row("Poisson's ratio", least == greatest ? least : least + " to " + greatest);
}

void add_solution(Table& table, const BoneResults& results, const DriverContext& context) {
  table.section("Solution");
  for (const BoneSolve& solve : results.solves)
    table.row(solve.load,
              counted(solve.iterations, "iteration") + ", residual " +
                  format_number(solve.residual, 3) + ", " + format_number(solve.seconds, 3) + " s" +
                  (solve.fell_back ? ", went on in double precision with the W-cycle" : "") +
                  (solve.converged ? "" : "  NOT CONVERGED"));
  table.row("engine", context.provenance().backend + " on " + context.provenance().device + ", " +
                          std::to_string(results.levels.size()) + " levels " +
                          results.hierarchy_name + ", " + results.precision_name + " precision, " +
                          "work of " + format_number(results.work, 4) + " products");
  if (results.split == "loads")
    table.row("ranks", std::to_string(context.world().size()) + ", which divide the loads");
  if (results.cut && !results.split.empty())
    table.row("ranks", std::to_string(context.world().size()) + " by " +
                           name_of(results.cut->transport) + ": at most " +
                           format_count(results.cut->levels.front().most_nodes) + " nodes and " +
                           format_count(results.cut->levels.front().most_ghosts) + " ghosts, " +
                           format_bytes(double(results.most_host_bytes)) + " process, " +
                           format_bytes(double(results.most_kokkos_bytes)) + " arrays");
  const double dofs = static_cast<double>(results.model.num_dofs());
  table.row("peak memory",
            format_bytes(static_cast<double>(peak_host_bytes())) + " process, " +
                format_bytes(static_cast<double>(peak_kokkos_bytes())) +
                " arrays = " + format_number(static_cast<double>(peak_kokkos_bytes()) / dofs, 3) +
                " bytes per degree of freedom");
}

/// What the mask has across the axis of a test between plates, mm2: the section of a cylindrical
/// core, or of a contour, which the box around it is not.
std::optional<double> section_of_mask(const BoneResults& results) {
  if (!(results.model.mask_area > 0) || !results.response->force || results.test == "file")
    return {};
  return results.model.mask_area;
}

/// By that section in place of the box's.
std::optional<double> modulus_by_mask(const TestResponse& response,
                                      std::optional<double> mask_area) {
  if (!mask_area || !response.apparent_modulus)
    return {};
  return *response.apparent_modulus * response.area / *mask_area;
}

void add_response(Table& table, const TestResponse& response, std::optional<double> mask_area) {
  table.section("Response");
  const auto add = [&table](const char* label, const std::optional<double>& value,
                            const char* unit) {
    if (value)
      table.row(label, *value, unit);
  };
  table.row(response.force || response.moment ? "height between the plates" : "height of the box",
            response.height, "mm");
  table.row("cross-section of the bone's box", response.area, "mm2");
  add("mean cross-section of the mask", mask_area, "mm2");
  add("displacement", response.displacement, "mm");
  add("force", response.force, "N");
  add("stiffness", response.stiffness, "N/mm");
  add("apparent strain", response.strain, "");
  add("apparent stress", response.stress, "MPa");
  add("apparent modulus", response.apparent_modulus, "MPa");
  add("the same by the mask's section", modulus_by_mask(response, mask_area), "MPa");
  add("angle", response.angle, "rad");
  add("moment", response.moment, "N mm");
  add("rotational stiffness", response.rotational_stiffness, "N mm/rad");
}

void add_reactions(Table& table, const std::vector<SupportReaction>& reactions) {
  table.section("Reactions (contact area, N, N mm about the centre of the support)");
  std::vector<std::vector<std::string>> rows;
  for (const SupportReaction& reaction : reactions) {
    std::vector<std::string> row = {reaction.name, format_count(reaction.num_nodes)};
    row.push_back(format_number(reaction.contact_area, 4));
    for (const double value : reaction.force)
      row.push_back(format_number(value));
    for (const double value : reaction.moment)
      row.push_back(format_number(value));
    rows.push_back(row);
  }
  table.columns({"support", "nodes", "mm2", "Fx", "Fy", "Fz", "Mx", "My", "Mz"}, rows);
}

void add_distributions(Table& table, const BoneResults& results) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&rows](const char* label, const std::optional<SampleStatistics>& sample) {
    if (!sample)
      return;
    std::vector<std::string> row = {label, format_number(sample->mean, 4),
                                    format_number(sample->standard_deviation, 4)};
    for (const double value : sample->percentiles)
      row.push_back(format_number(value, 4));
    row.push_back(format_number(sample->maximum, 4));
    rows.push_back(row);
  };
  add("energy density (MPa)", results.sed);
  add("von Mises stress (MPa)", results.von_mises);
  add("effective strain", results.effective_strain);
  if (rows.empty())
    return;
  table.section("Distribution over the bone");
  std::vector<std::string> heads = {"", "mean", "sd"};
  for (const double rank : percentile_ranks)
    heads.push_back(format_number(rank) + " %");
  heads.push_back("max");
  table.columns(heads, rows);
}

void add_labels(Table& table, const BoneResults& results) {
  table.section("By label of the mask (means and maxima over voxels)");
  std::vector<std::vector<std::string>> rows;
  for (const LabelStatistics& of : results.labels)
    rows.push_back({std::to_string(of.label) + (of.name.empty() ? "" : " " + of.name),
                    format_count(of.num_elem), format_number(of.modulus_mean, 4),
                    format_number(of.energy_share, 4), format_number(of.von_mises_mean, 4),
                    format_number(of.von_mises_max, 4), format_number(of.effective_strain_mean, 4),
                    format_number(of.effective_strain_max, 4)});
  table.columns({"label", "voxels", "modulus MPa", "share of energy", "von Mises MPa", "max",
                 "effective strain", "max"},
                rows);
}

void add_failure(Table& table, const FailureEstimate& failure) {
  table.section("Failure after Pistoia (" + format_number(100 * failure.criterion.volume) +
                " % of the bone beyond " + format_number(failure.criterion.critical_strain) +
                " effective strain)");
  table.row("effective strain at that volume", failure.result.strain_at_volume);
  table.row("load factor", failure.result.factor);
  if (failure.force)
    table.row("failure load", *failure.force, "N");
  if (failure.moment)
    table.row("failure moment", *failure.moment, "N mm");
}

void add_constants(Table& table, const EngineeringConstants& constants, const char* axes,
                   const char* title) {
  table.section(title);
  for (int i = 0; i < 3; ++i)
    table.row(std::string("E ") + axes[i], format_number(constants.young[i], 5), "MPa");
  for (int i = 0; i < 3; ++i)
    table.row(std::string("G ") + axes[i] + axes[(i + 1) % 3], format_number(constants.shear[i], 5),
              "MPa");
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      if (i != j)
        table.row(std::string("nu ") + axes[i] + axes[j],
                  format_number(constants.poisson[i][j], 4));
}

void add_stiffness(Table& table, const StiffnessMatrix& stiffness, const char* boundary) {
  table.section(std::string("Apparent stiffness (MPa; engineering shear strains; ") + boundary +
                " boundary)");
  std::vector<std::vector<std::string>> rows;
  for (int i = 0; i < 6; ++i) {
    std::vector<std::string> row = {stiffness_names[i]};
    for (const double value : stiffness[i])
      row.push_back(format_number(value, 5));
    rows.push_back(row);
  }
  table.columns({"", "xx", "yy", "zz", "xy", "yz", "zx"}, rows);
  const auto constants = engineering_constants(stiffness);
  if (!constants)
    return;
  add_constants(table, *constants, "xyz", "Engineering constants along the axes of the image");
  const OrthotropicAxes best = find_orthotropic_axes(stiffness, left_by_solves);
  table.section("Axes of orthotropy");
  for (int i = 0; i < 3; ++i)
    table.row(std::string("axis ") + "123"[i], format_number(best.axis[i][0], 5) + ", " +
                                                   format_number(best.axis[i][1], 5) + ", " +
                                                   format_number(best.axis[i][2], 5));
  table.row("departure", format_number(100 * best.departure, 3), "%");
  if (const auto along = engineering_constants(best.stiffness))
    add_constants(table, *along, "123", "Engineering constants along these");
}

// The summary.

Json to_json(const ModelTurn& turn) {
  const Rotation& r = turn.rotation;
  const AxisAndAngle about = axis_and_angle(r);
  Json json = {{"rotation", {{r[0], r[1], r[2]}, {r[3], r[4], r[5]}, {r[6], r[7], r[8]}}},
               {"axis", about.axis},
               {"degrees", about.degrees}};
  if (turn.bone)
    json["bone"] = {{"axes", turn.bone->axis}, {"spread", turn.bone->spread}};
  return json;
}

Json to_json(const BoneModelInfo& model) {
  const ImageDirection& d = model.direction;
  Json json = {{"source", model.source},
               {"shape", model.shape},
               {"spacing", model.spacing},
               {"origin", model.origin},
               {"direction", {{d[0], d[1], d[2]}, {d[3], d[4], d[5]}, {d[6], d[7], d[8]}}},
               {"world", model.world.empty() ? Json(nullptr) : Json(model.world)},
               {"elements", model.num_elem},
               {"nodes", model.num_nodes},
               {"dofs", model.num_dofs()},
               {"held_dofs", model.num_held_dofs},
               {"components", model.num_components},
               {"dropped_elements", model.num_dropped_elem},
               {"bone_volume", model.bone_volume()},
               {"volume_fraction", model.volume_fraction()},
               {"modulus",
                {{"minimum", model.modulus_min},
                 {"maximum", model.modulus_max},
                 {"mean", model.modulus_mean}}},
               {"poisson", {{"minimum", model.poisson_min}, {"maximum", model.poisson_max}}}};
  if (const std::optional<double> of_mask = model.mask_fraction())
    json["mask_fraction"] = *of_mask;
  if (model.crop)
    json["crop"] = {{"begin", model.crop->begin}, {"end", model.crop->end}};
  if (model.turn)
    json["turn"] = to_json(*model.turn);
  if (model.num_cap_elem > 0)
    json["caps"] = {{"elements", model.num_cap_elem},
                    {"planes_below", model.planes_below},
                    {"planes_above", model.planes_above}};
  if (model.num_pad_elem > 0)
    json["pads"] = {{"elements", model.num_pad_elem}};
  return json;
}

Json to_json(const SampleStatistics& sample) {
  Json percentiles = Json::object();
  for (std::size_t i = 0; i < sample.percentiles.size(); ++i)
    percentiles[format_number(percentile_ranks[i])] = sample.percentiles[i];
  return {{"count", sample.count},           {"mean", sample.mean},
          {"sd", sample.standard_deviation}, {"minimum", sample.minimum},
          {"maximum", sample.maximum},       {"percentiles", std::move(percentiles)}};
}

Json to_json(const TestResponse& response, std::optional<double> mask_area) {
  Json json = {{"height", response.height}, {"area", response.area}};
  const auto add = [&json](const char* name, const std::optional<double>& value) {
    if (value)
      json[name] = *value;
  };
  add("displacement", response.displacement);
  add("force", response.force);
  add("stiffness", response.stiffness);
  add("strain", response.strain);
  add("stress", response.stress);
  add("apparent_modulus", response.apparent_modulus);
  add("mask_area", mask_area);
  add("mask_apparent_modulus", modulus_by_mask(response, mask_area));
  add("angle", response.angle);
  add("moment", response.moment);
  add("rotational_stiffness", response.rotational_stiffness);
  return json;
}

Json to_json(const FailureEstimate& failure) {
  Json json = {{"critical_strain", failure.criterion.critical_strain},
               {"volume", failure.criterion.volume},
               {"strain_at_volume", failure.result.strain_at_volume},
               {"factor", failure.result.factor}};
  if (failure.force)
    json["force"] = *failure.force;
  if (failure.moment)
    json["moment"] = *failure.moment;
  return json;
}

Json to_json(const EngineeringConstants& constants) {
  return {{"young", constants.young}, {"shear", constants.shear}, {"poisson", constants.poisson}};
}

Json to_json(const HomogenisedStiffness& found, const char* boundary) {
  Json json = {{"boundary", boundary},         {"order", stiffness_names},
               {"stiffness", found.stiffness}, {"asymmetry", asymmetry(found.stiffness)},
               {"voigt", found.voigt},         {"reuss", found.reuss}};
  if (const auto constants = engineering_constants(found.stiffness))
    json["engineering"] = to_json(*constants);
  const OrthotropicAxes best = find_orthotropic_axes(found.stiffness, left_by_solves);
  Json& orthotropic = json["orthotropic"];
  orthotropic = {{"axes", best.axis}, {"departure", best.departure}, {"stiffness", best.stiffness}};
  if (const auto constants = engineering_constants(best.stiffness))
    orthotropic["engineering"] = to_json(*constants);
  return json;
}

Json to_json(const LabelStatistics& of) {
  Json json = {{"elements", of.num_elem},
               {"modulus_mean", of.modulus_mean},
               {"sed_mean", of.sed_mean},
               {"von_mises_mean", of.von_mises_mean},
               {"von_mises_maximum", of.von_mises_max},
               {"effective_strain_mean", of.effective_strain_mean},
               {"effective_strain_maximum", of.effective_strain_max},
               {"energy_share", of.energy_share}};
  if (!of.name.empty())
    json["name"] = of.name;
  return json;
}

Json results_json(const BoneResults& results) {
  Json json = {{"test", results.test}, {"solves", Json::array()}};
  for (const BoneSolve& solve : results.solves)
    json["solves"].push_back({{"load", solve.load},
                              {"iterations", solve.iterations},
                              {"recurrent_residual", solve.recurrent_residual},
                              {"true_residual", solve.residual},
                              {"fell_back_to_double", solve.fell_back},
                              {"converged", solve.converged},
                              {"seconds", solve.seconds}});
  if (results.response)
    json["response"] = to_json(*results.response, section_of_mask(results));
  json["reactions"] = Json::array();
  for (const SupportReaction& reaction : results.reactions)
    json["reactions"].push_back({{"support", reaction.name},
                                 {"nodes", reaction.num_nodes},
                                 {"contact_area", reaction.contact_area},
                                 {"force", reaction.force},
                                 {"moment", reaction.moment},
                                 {"centre", reaction.centre}});
  if (results.strain_energy)
    json["strain_energy"] = *results.strain_energy;
  const std::pair<const char*, const std::optional<SampleStatistics>*> samples[] = {
      {"sed", &results.sed},
      {"von_mises", &results.von_mises},
      {"effective_strain", &results.effective_strain}};
  for (const auto& [name, sample] : samples)
    if (*sample)
      json[name] = to_json(**sample);
  for (const auto& [name, histogram] : results.histograms)
    json["histograms"][name] = {
        {"lower", histogram.lower}, {"upper", histogram.upper}, {"count", histogram.count}};
  for (const LabelStatistics& of : results.labels)
    json["labels"][std::to_string(of.label)] = to_json(of);
  if (results.sections)
    json["sections"] = sections_json(*results.sections);
  if (results.failure)
    json["pistoia"] = to_json(*results.failure);
  if (results.homogenised)
    json["homogenised"] = to_json(*results.homogenised, results.boundary);
  if (results.strength)
    json["strength"] = strength_json(*results.strength);
  if (results.remodelling)
    json["remodelling"] = remodelling_json(*results.remodelling);
  json["files"] = results.files;
  return json;
}

Json engine_json(const BoneResults& results) {
  Json levels = Json::array();
  for (const MultigridLevelInfo& level : results.levels)
    levels.push_back({{"elements", level.num_elem},
                      {"nodes", level.num_nodes},
                      {"held_dofs", level.num_held_dofs},
                      {"largest_eigenvalue", level.largest_eigenvalue}});
  Json engine = {{"operator", results.operator_name},
                 {"hierarchy", results.hierarchy_name},
                 {"cycle", results.cycle_name},
                 {"precision", results.precision_name},
                 {"launch_graph", results.launch_graph},
                 {"levels", std::move(levels)},
                 {"work", results.work}};
  if (!results.split.empty())
    engine["split"] = results.split;
  if (results.cut) {
    const VoxelCutInfo::Level& voxels = results.cut->levels.front();
    Json cut = Json::array();
    for (const VoxelCutInfo::Level& level : results.cut->levels)
      cut.push_back({{"largest_rank_nodes", level.most_nodes},
                     {"largest_rank_ghosts", level.most_ghosts},
                     {"most_neighbours", level.most_neighbours},
                     {"ghosts", level.num_ghosts}});
    engine.update({{"transport", name_of(results.cut->transport)},
                   {"superblock_voxels", 1 << results.cut->bits},
                   {"largest_rank_nodes", voxels.most_nodes},
                   {"largest_rank_ghosts", voxels.most_ghosts},
                   {"ghosts", voxels.num_ghosts},
                   {"cut_levels", std::move(cut)}});
  }
  return engine;
}

/// Peaks of the largest of several ranks beside those of the first.
Json memory_json(const BoneResults& results) {
  Json memory = {{"kokkos_peak_bytes_per_dof", static_cast<double>(peak_kokkos_bytes()) /
                                                   static_cast<double>(results.model.num_dofs())}};
  if (!results.split.empty())
    memory.update({{"largest_rank_host_peak_bytes", results.most_host_bytes},
                   {"largest_rank_kokkos_peak_bytes", results.most_kokkos_bytes}});
  return memory;
}

std::string bone_table(const BoneResults& results, const DriverContext& context) {
  Table table;
  add_model(table, results.model);
  add_solution(table, results, context);
  if (results.response)
    add_response(table, *results.response, section_of_mask(results));
  if (!results.reactions.empty())
    add_reactions(table, results.reactions);
  if (results.strain_energy) {
    table.section("Energy");
    table.row("strain energy", *results.strain_energy, "N mm");
  }
  add_distributions(table, results);
  if (!results.labels.empty())
    add_labels(table, results);
  if (results.sections)
    add_sections(table, *results.sections);
  if (results.failure)
    add_failure(table, *results.failure);
  if (results.homogenised)
    add_stiffness(table, results.homogenised->stiffness, results.boundary);
  if (results.strength)
    add_strength(table, *results.strength);
  if (results.remodelling)
    add_remodelling(table, *results.remodelling);
  return table.text();
}

/// What is known of the results beside the residual.
Certificate certificate_of(const BoneResults& results, double residual) {
  Certificate certificate{results.tolerance, {{"residual", residual, results.tolerance}}};
  std::vector<ResultCheck>& checks = certificate.checks;
  const double bound = balance_bound(results.tolerance);
  // Bone that broke bears next to nothing: its forces are measured by those that it bore.
  const double left = results.strength ? results.strength->load_left() : 1;
  if (results.balance) {
    checks.push_back({"force_balance", left * results.balance->force_error(), bound});
    checks.push_back({"moment_balance", left * results.balance->moment_error(), bound});
    checks.push_back(
        {"energy_balance",
         results.strength ? results.strength->energy_error() : results.balance->energy_error(),
         bound});
  }
  const double volume = double(results.model.num_solid) * std::pow(results.model.spacing, 3);
  checks.push_back({"bone_volume", std::abs(volume / results.model.bone_volume() - 1), 1e-12});
  if (results.sections)
    checks.push_back({"section_balance", left * results.sections->imbalance(), bound});
  if (results.homogenised)
    checks.push_back({"stiffness_asymmetry", asymmetry(results.homogenised->stiffness), bound});
  return certificate;
}

SummaryParts summary_parts(const BoneResults& results) {
  SummaryParts parts;
  parts.status = results.interrupted() ? RunStatus::interrupted
                 : results.converged() ? RunStatus::converged
                                       : RunStatus::not_converged;
  parts.problem = to_json(results.model);
  parts.engine = engine_json(results);
  parts.results = results_json(results);
  parts.iterations = total_iterations(results);
  for (const BoneSolve& solve : results.solves) {
    keep_worse(parts.recurrent_residual, solve.recurrent_residual);
    keep_worse(parts.true_residual, solve.residual);
  }
  parts.certificate = certificate_of(results, parts.true_residual.value_or(std::nan("")));
  parts.memory = memory_json(results);
  return parts;
}

/// Why an iteration may have stalled, the likeliest first, and what to do.
std::string stall_remedy(const BoneResults& results) {
  const BoneModelInfo& model = results.model;
  if (results.strength && results.strength->followed())
    return std::string(results.strength->steps.empty() ? "no step did: take more --load-steps, "
                                                       : "results are of the last step that did: "
                                                         "take more --load-steps, ") +
           (results.strength->has_checkpoint ? "from there with --resume, " : "") +
           (results.strength->breaks() ? "" : "some --hardening, ") + "or a larger --tolerance";
  const std::string text = "it stalls, and more iterations are of no use: ";
  if (model.poisson_max > 0.49)
    return text + "the cause is likely Poisson's ratio of " + format_number(model.poisson_max) +
           ", next to incompressible; lower it";
  if (model.modulus_max > 1e5 * model.modulus_min)
    return text + "the cause is likely the contrast of moduli, " +
           format_number(model.modulus_min) + " to " + format_number(model.modulus_max) +
           " MPa; make the softest void with --lower";
  return text + "the cause is likely a part that hangs on an edge or a corner of a voxel and is "
                "loaded, so that it can turn; --largest-component keeps what is connected by "
                "faces, --precision double and a larger --tolerance help with rounding";
}

} // namespace

int report_bone(const BoneResults& results, const std::string& stem, DriverContext& context,
                const std::function<void(RunStatus)>& write_files) {
  for (const BoneSolve& solve : results.solves)
    if (solve.interrupted)
      log_warning("interrupted", "load ", solve.load, ": stopped by a signal after ",
                  solve.iterations, " iterations: results are not converged",
                  results.strength && results.strength->has_checkpoint ? "; go on with --resume"
                                                                       : "");
    else if (!solve.converged)
      log_warning("not-converged", "load ", solve.load, ": not converged after ", solve.iterations,
                  " iterations: the true residual is ", solve.residual, "; ",
                  solve.stalled || (results.strength && results.strength->followed())
                      ? stall_remedy(results)
                      : "raise --max-iterations or --tolerance");
  const double seconds = results.solve_seconds();
  if (seconds > 0)
    log_info("solved in ", format_number(seconds, 4), " s: ",
             format_number(static_cast<double>(results.model.num_dofs()) *
                               static_cast<double>(results.solves.size()) / seconds / 1e6,
                           4),
             " million degrees of freedom per second, peak memory ",
             format_bytes(static_cast<double>(peak_host_bytes())));
  return finish_run({[&] { return summary_parts(results); },
                     [&] { return bone_table(results, context); }, write_files, results.files},
                    stem, context);
}

int report_bone_prediction(const BonePrediction& expected, const std::string& stem,
                           DriverContext& context) {
  Prediction prediction;
  add_model(prediction.input, expected.model);
  prediction.rows = {{"test", expected.test}};
  prediction.problem = to_json(expected.model);
  prediction.results = {{"test", expected.test}};
  if (!expected.preview.empty()) {
    prediction.rows.emplace_back("preview", expected.preview);
    prediction.results["preview"] = expected.preview;
  }
  if (expected.num_ranks > 1) {
    prediction.rows.emplace_back("of the largest of", format_count(expected.num_ranks) + " ranks");
    prediction.results["ranks"] = expected.num_ranks;
  }
  prediction.device_bytes = expected.device_bytes;
  prediction.host_growth = expected.host_growth;
  return report_prediction(std::move(prediction), stem, context);
}

} // namespace ossatura
