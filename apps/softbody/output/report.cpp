// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/output/report.hpp"

#include "apps/driver/output/prediction.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/softbody/input/read_scene.hpp"
#include "apps/softbody/output/summary.hpp"
#include <ossatura/solvers/softbody/doubts.hpp>

namespace ossatura {

namespace {

std::string milliseconds(double seconds) {
  return format_number(1e3 * seconds, 4);
}

void add_scene(Table& table, const SoftbodyModel& model) {
  table.section("Scene");
  std::vector<std::vector<std::string>> rows;
  for (std::size_t k = 0; k < model.info.size(); ++k) {
    const SoftObject& object = model.scene.objects[k];
    rows.push_back({object.name, format_count(std::int64_t(object.mesh.num_points())),
                    format_count(std::int64_t(object.mesh.num_elem())), name_of(object.mesh.shape),
                    name_of(object.material.law), format_count(std::int64_t(object.fixed.size())),
                    format_number(model.info[k].mass, 4)});
  }
  table.columns({"object", "nodes", "elements", "shape", "law", "fixed", "mass (kg)"}, rows);
  table.row("steps",
            std::to_string(model.steps) + " of " + format_number(model.options.time_step) + " s");
  if (!model.scene.obstacles.empty() || model.scene.contact_between_objects)
    table.row("contact", counted(std::int64_t(model.scene.obstacles.size()), "obstacle") +
                             (model.scene.contact_between_objects ? ", between objects" : ""));
}

void add_solution(Table& table, const SoftbodyModel& model, const SoftbodyRunResults& results,
                  const DriverContext& context) {
  const SoftOptions& o = model.options;
  const StepTotals totals = totals_of(results);
  table.section("Solution");
  std::string method = name_of(o.preconditioner);
  if (o.preconditioner == SoftPreconditioner::ldlt)
    method += std::string(" made on ") + name_of(results.place) + " (" + refresh_text(o) +
              "), applied by " + name_of(results.apply);
  table.row("engine",
            context.provenance().backend + " on " + context.provenance().device + ", " + method);
  if (results.first_step > 0)
    table.row("resumed", "after step " + std::to_string(results.first_step));
  const std::size_t failed = results.not_converged().size();
  table.row("steps taken",
            std::to_string(results.steps.size()) +
                (failed > 0 ? ", " + std::to_string(failed) + " NOT CONVERGED" : "") +
                (results.breakdown.empty() ? "" : ", then a BREAKDOWN") +
                (results.stopped ? ", then stopped" : ""));
  const double steps = double(std::max<std::size_t>(results.steps.size(), 1));
  table.row("iterations", format_number(double(totals.iterations) / steps, 4) +
                              " a step, at most " + std::to_string(totals.most_iterations) +
                              "; factor at most " + std::to_string(totals.most_stale) + " old");
  table.row("residual", format_number(totals.worst_residual, 3) + " at worst");
  if (totals.most_contacts > 0)
    table.row("contacts", "at most " + std::to_string(totals.most_contacts) + "; penetration " +
                              format_number(totals.worst_penetration, 3) + " m, residual " +
                              format_number(totals.worst_contact_residual, 3) + " at worst");
  if (totals.most_inverted > 0 || totals.halved > 0)
    table.row("recovered", counted(totals.halved, "step") + " taken in parts, at most " +
                               counted(totals.most_inverted, "element") + " inside out");
  table.row("seconds", format_number(results.seconds.read, 3) + " read, " +
                           format_number(results.seconds.setup, 3) + " set-up, " +
                           format_number(results.seconds.steps, 3) + " steps");
  table.row("peak memory", format_bytes(double(peak_host_bytes())) + " process, " +
                               format_bytes(double(peak_kokkos_bytes())) + " arrays");
}

void add_steps(Table& table, const SoftbodyRunResults& results) {
  table.section(std::string("Milliseconds of a step") +
                (results.fenced ? "" : " (on devices, phases are apart with --timings only)"));
  std::vector<std::vector<std::string>> rows;
  for (const StepPhase& phase : step_phases) {
    const Spread spread = spread_of(results, phase);
    rows.push_back({phase.name, milliseconds(spread.mean), milliseconds(spread.median),
                    milliseconds(spread.maximum)});
  }
  table.columns({"", "mean", "median", "maximum"}, rows);
}

void add_outcome(Table& table, const SoftbodyModel& model, const SoftbodyRunResults& results) {
  table.section("Energy (J)");
  std::vector<std::vector<std::string>> rows;
  for (const auto& [label, energy] : {std::make_pair("initial", results.initial),
                                      std::make_pair("final", results.final_energy())})
    rows.push_back({label, format_number(energy.kinetic), format_number(energy.elastic),
                    format_number(energy.potential)});
  table.columns({"", "kinetic", "elastic", "potential"}, rows);

  if (results.objects.empty())
    return;
  table.section("Objects (m)");
  rows.clear();
  for (std::size_t k = 0; k < results.objects.size(); ++k) {
    const SoftObjectState& state = results.objects[k];
    rows.push_back({model.scene.objects[k].name, format_number(state.mean_position[0]),
                    format_number(state.mean_position[1]), format_number(state.mean_position[2]),
                    format_number(state.largest_displacement)});
  }
  table.columns({"object", "mean x", "mean y", "mean z", "largest displacement"}, rows);
}

std::string softbody_table(const SoftbodyModel& model, const SoftbodyRunResults& results,
                           const DriverContext& context) {
  Table table;
  add_scene(table, model);
  add_solution(table, model, results, context);
  add_steps(table, results);
  add_outcome(table, model, results);
  return table.text();
}

/// The largest of all steps: what is left of the momentum balance of a system, and at the positions
/// after a step what is left of the conditions of contact.
Certificate certificate_of(const StepTotals& totals, const SoftOptions& options) {
  Certificate certificate{options.tolerance,
                          {{"momentum_residual", totals.worst_residual, options.tolerance}}};
  if (totals.most_contacts > 0) {
    const double bound = options.contact_tolerance;
    certificate.checks.push_back({"contact_penetration", totals.worst_contact_depth, bound});
    certificate.checks.push_back({"contact_residual", totals.worst_contact_residual, bound});
  }
  return certificate;
}

SummaryParts summary_parts(const SoftbodyModel& model, const SoftbodyRunResults& results) {
  const StepTotals totals = totals_of(results);
  SummaryParts parts;
  parts.status = results.stopped              ? RunStatus::interrupted
                 : !results.breakdown.empty() ? RunStatus::broken_down
                 : results.converged()        ? RunStatus::converged
                                              : RunStatus::not_converged;
  parts.problem = softbody_problem(model);
  parts.engine = softbody_engine(model, results);
  parts.results = softbody_results(model, results);
  parts.iterations = int(totals.iterations);
  parts.true_residual = totals.worst_residual;
  parts.certificate = certificate_of(totals, model.options);
  return parts;
}

/// What did not converge, each with what helps.
std::string remedies(const StepTotals& totals) {
  std::string text;
  if (totals.systems_failed > 0)
    text += "; linear systems of " + counted(std::int64_t(totals.systems_failed), "step") +
            ": raise --max-iterations or --tolerance, or refresh the factor more often";
  if (totals.newton_failed > 0)
    text += "; Newton's iterations of " + counted(std::int64_t(totals.newton_failed), "step") +
            ": raise --newton, or take a smaller --time-step";
  if (totals.contact_failed > 0)
    text += "; contact of " + counted(std::int64_t(totals.contact_failed), "step") + " (residual " +
            format_number(totals.worst_contact_residual, 3) + ", penetration " +
            format_number(totals.worst_penetration, 3) +
            " m): raise --contact-iterations, or take a smaller --time-step";
  return text;
}

/// Elements that recovered on the way are in the table alone.
void warn_of_inverted(const SoftbodyModel& model, const SoftbodyRunResults& results) {
  for (std::size_t k = 0; k < results.objects.size(); ++k) {
    const SoftObject& object = model.scene.objects[k];
    const std::int64_t count = results.objects[k].inverted;
    if (count == 0)
      continue;
    const bool resists = object.material.law == SoftLaw::neo_hookean;
    log_warning("inside-out", format_count(count), " of ",
                format_count(std::int64_t(object.mesh.num_elem())), " elements of '", object.name,
                "' are inside out at the end, as no body is: take a smaller --time-step, a stiffer "
                "material or smaller loads",
                resists ? "" : ", or a law that resists being flattened (neo_hookean)");
  }
}

/// Of what contact gives where it pushes bodies out of each other.
void warn_of_contact_energy(const SoftbodyModel& model, const SoftbodyRunResults& results,
                            const EnergyRise& rise) {
  if (!rise.is_doubtful())
    return;
  std::string remedy =
      "move apart what starts in each other or in an obstacle; where nothing does, "
      "take a smaller --time-step, or refine the meshes where they meet";
  if (const auto& start = results.start_crossing)
    remedy = "at the start '" + model.scene.objects[std::size_t(start->first)].name + "' and '" +
             model.scene.objects[std::size_t(start->second)].name + "' are in each other, by " +
             format_number(start->depth, 3) + " m at (" + format_number(start->place[0], 4) + ", " +
             format_number(start->place[1], 4) + ", " + format_number(start->place[2], 4) +
             ") m: move them apart";
  log_warning("contact-energy", "contact has given ", format_number(rise.energy, 3),
              " J until step ", rise.step, ", ", format_number(100 * rise.part, 3),
              " % of what was in motion and strain: it pushes bodies out of each other within a "
              "step, so that they fly apart; ",
              remedy);
}

void warn_of_energy(const SoftbodyModel& model, const SoftbodyRunResults& results) {
  const EnergyWatch energies = watch_energy(results);
  const EnergyRise& rise = energies.worst();
  if (!rise.is_doubtful()) {
    warn_of_contact_energy(model, results, energies.worst_with_contact());
    return;
  }
  bool corotational = false;
  for (const SoftObject& object : model.scene.objects)
    corotational = corotational || (object.material.law == SoftLaw::corotational &&
                                    object.mesh.shape == ElementShape::tetra);
  log_warning("energy-rises", "the total energy has risen by ", format_number(rise.energy, 3),
              " J until step ", rise.step, ", ", format_number(100 * rise.part, 3),
              " % of what was in motion and strain; nothing in the scene gives any, and the motion "
              "is wrong: take a smaller --time-step",
              corotational ? ", or a law with exact tangents (neo_hookean)" : "",
              model.options.newton_iterations == 1 ? ", or several Newton iterations (--newton 10)"
                                                   : "");
}

void warn(const SoftbodyModel& model, const SoftbodyRunResults& results) {
  warn_of_inverted(model, results);
  for (std::size_t k = 0; k < results.objects.size(); ++k)
    if (results.objects[k].inverted == 0) // which is said
      warn_of_stretch(model.scene.objects[k], results.objects[k].stretch, "at the end");
  warn_of_energy(model, results);
  const std::vector<int> failed = results.not_converged();
  const StepTotals totals = totals_of(results);
  if (!failed.empty()) {
    std::string named;
    for (std::size_t i = 0; i < failed.size() && i < 5; ++i)
      named += (i == 0 ? "" : ", ") + std::to_string(failed[i]);
    log_warning("not-converged", failed.size(), " of ", results.steps.size(),
                " steps not converged: ", named, failed.size() > 5 ? ", ..." : "",
                remedies(totals));
  }
  if (!results.breakdown.empty())
    log_warning("broke-down", "broke down in step ",
                results.first_step + int(results.steps.size()) + 1, ": ", results.breakdown,
                "; results end before it");
  if (results.stopped)
    log_warning("interrupted", "stopped by a signal after step ",
                results.first_step + int(results.steps.size()),
                results.has_checkpoint ? "; go on with --resume" : "");
}

} // namespace

int report_softbody(const SoftbodyModel& model, const SoftbodyRunResults& results,
                    const std::string& stem, DriverContext& context,
                    const std::function<void(RunStatus)>& write_files) {
  warn(model, results);
  if (results.seconds.steps > 0)
    log_info(counted(std::int64_t(results.steps.size()), "step"), " in ",
             format_number(results.seconds.steps, 4),
             " s: ", format_number(double(results.steps.size()) / results.seconds.steps, 4),
             " steps per second, peak memory ", format_bytes(double(peak_host_bytes())));
  return finish_run({[&] { return summary_parts(model, results); },
                     [&] { return softbody_table(model, results, context); }, write_files,
                     results.files},
                    stem, context);
}

int report_softbody_prediction(const SoftbodyModel& model, const SoftbodyPrediction& expected,
                               const std::string& stem, DriverContext& context) {
  Prediction prediction;
  add_scene(prediction.input, model);
  prediction.rows = {{"blocks of the matrix", format_count(expected.num_blocks)},
                     {"entries of the factor", format_count(expected.num_factor_entries)},
                     {"entries of its inverse", format_count(expected.num_inverse_entries)}};
  prediction.problem = softbody_problem(model);
  prediction.results = {{"matrix_blocks", expected.num_blocks},
                        {"factor_entries", expected.num_factor_entries},
                        {"inverse_entries", expected.num_inverse_entries}};
  prediction.device_bytes = expected.device_bytes;
  prediction.host_growth = expected.host_growth;
  return report_prediction(std::move(prediction), stem, context);
}

} // namespace ossatura
