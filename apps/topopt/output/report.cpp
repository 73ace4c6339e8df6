// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/output/report.hpp"

#include "apps/driver/options/notation.hpp"
#include "apps/driver/output/prediction.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/large_displacement.hpp"
#include "apps/topopt/input/choices.hpp"
#include "apps/topopt/input/process.hpp"
#include "apps/topopt/output/summary.hpp"

#include <ossatura/kernels/topopt/helmholtz_terms.hpp>
#include <ossatura/kernels/topopt/overhang.hpp>
#include <ossatura/solvers/topopt/check_options.hpp>
#include <ossatura/solvers/topopt/frequencies/families.hpp>
#include <ossatura/solvers/topopt/limits/limits.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

const char* unit_of(DesignLimitKind kind) {
  switch (kind) {
  case DesignLimitKind::compliance:
    return "J";
  case DesignLimitKind::displacement:
    return "m";
  case DesignLimitKind::stress:
    return "Pa";
  case DesignLimitKind::frequency:
    return "Hz";
  case DesignLimitKind::mass:
    break;
  }
  return "kg";
}

/// "displacement, pull"
std::string label_of(const TopoptModel& model, const DesignLimit& limit) {
  const std::string name = name_of(limit.kind);
  return limit.load_case < 0 || model.case_names.size() == 1
             ? name
             : name + ", " + model.case_names[std::size_t(limit.load_case)];
}

/// "0.001 m at most"
std::string bound_of(const DesignLimit& limit) {
  return format_number(limit.limit) + " " + unit_of(limit.kind) +
         (limit.at_least ? " at least" : " at most");
}

void add_problem(Table& table, const TopoptModel& model) {
  const DesignProblem& p = model.problem;
  const DesignOptions& o = model.options;
  table.section("Problem");
  table.row("mesh", model.source);
  table.row("nodes", format_count(model.num_nodes()));
  table.row("elements", format_count(model.num_elem()));
  table.row("dofs",
            format_count(3 * model.num_nodes()) + ", " + format_count(model.num_held()) + " held");
  if (!p.role.empty())
    table.row("passive elements", format_count(model.count(DesignRole::solid)) + " solid, " +
                                      format_count(model.count(DesignRole::void_)) + " void" +
                                      (model.num_kept > 0 ? "; " + format_count(model.num_kept) +
                                                                " solid ones kept around supports "
                                                                "and loads"
                                                          : ""));
  if (!p.material.empty()) {
    std::vector<std::string> names;
    for (const HexaMaterial& one : p.materials)
      names.push_back(one.name + " of " + format_number(one.young) + " Pa");
    table.row("materials", joined(names, ", "));
  }
  if (!p.rigid.empty())
    table.row("rigid bodies", format_count(std::int64_t(p.rigid.size())));
  table.row("load cases", joined(model.case_names, ", "));
  for (const LoadedBox& box : model.loaded_boxes)
    if (has_more(box))
      table.row("  " + box.place, loaded_text(box));
  table.row("objective", o.objective == DesignObjective::compliance ? "least compliance"
                         : o.objective == DesignObjective::volume   ? "least volume"
                         : o.objective == DesignObjective::frequency
                             ? "largest lowest natural frequency"
                             : "largest output displacement");
  if (o.objective != DesignObjective::volume)
    table.row("volume fraction", format_number(o.volume_fraction) + " at most");
  for (const DesignLimit& one : p.limits)
    table.row(label_of(model, one), bound_of(one));
  if (o.process.any())
    table.row("manufacturing", process_text(o.process));
}

void add_solution(Table& table, const TopoptModel& model, const TopoptRunResults& results,
                  const DriverContext& context) {
  const DesignOptions& o = model.options;
  const DesignEngine& e = results.engine;
  table.section("Solution");
  table.row("engine", context.provenance().backend + " on " + context.provenance().device);
  table.row("operator", e.operator_name + " (" + e.reason + ")");
  std::string preconditioner = e.preconditioner;
  if (e.num_formings > 0)
    preconditioner += "; coarse levels formed " + format_count(e.num_formings) +
                      (e.num_formings == 1 ? " time" : " times");
  table.row("preconditioner", preconditioner);
  if (e.cut)
    table.row("ranks", std::to_string(context.world().size()) + " by " + name_of(e.cut->transport) +
                           ": at most " + format_count(e.cut->levels.front().most_nodes) +
                           " nodes and " + format_count(e.cut->levels.front().most_ghosts) +
                           " ghosts, " + format_bytes(double(e.most_host_bytes)) + " process, " +
                           format_bytes(double(e.most_kokkos_bytes)) + " arrays");
  std::string method = std::string(name_of(o.method)) + ", filter " + name_of(o.filter);
  if (o.filter != DesignFilter::none)
    method += " of " + format_number(e.radius) + " m";
  if (o.projection)
    method += o.robust > 0
                  ? ", robust projection at " + format_number(o.threshold - o.robust) + ", " +
                        format_number(o.threshold) + " and " + format_number(o.threshold + o.robust)
                  : ", projection";
  table.row("method", method);
  if (results.first_step > 0)
    table.row("resumed", "after step " + std::to_string(results.first_step));
  std::string end = !results.breakdown.empty() ? ", then a BREAKDOWN"
                    : results.stopped          ? ", then stopped"
                    : results.has_failed()     ? ", to a design far worse than one before"
                    : results.converged        ? ", converged"
                                               : ", all that were asked for";
  if (!results.steps.empty())
    end += "; the last changed a density by " + format_number(results.steps.back().change, 3);
  table.row("steps taken", std::to_string(results.steps.size()) + end);
  for (const GridSteps& grid : results.grids)
    table.row("  of " + format_count(grid.num_elem) + " elements",
              counted(std::int64_t(grid.num_steps), "step") + ", " +
                  format_number(grid.seconds, 3) + " s");
  table.row("iterations",
            format_count(results.iterations()) + ", residual at most " +
                format_number(results.residual(), 3) +
                (results.final && !results.steps.empty()
                     ? ", of steps " + format_number(results.step_residual(), 3)
                     : "") +
                (results.fell_back() ? "; some had to go on in double precision" : ""));
  table.row("seconds", format_number(results.seconds.read, 3) + " read, " +
                           format_number(results.seconds.setup, 3) + " set-up, " +
                           format_number(results.seconds.steps, 3) + " steps, " +
                           format_number(results.seconds.write, 3) + " write");
  table.row("peak memory", format_bytes(double(peak_host_bytes())) + " process, " +
                               format_bytes(double(peak_kokkos_bytes())) + " arrays");
}

bool imposes_displacements(const DesignProblem& problem) {
  return std::any_of(problem.cases.begin(), problem.cases.end(),
                     [](const DesignLoadCase& one) { return !one.loads.displacements.empty(); });
}

std::string vector_text(const std::array<double, 3>& v) {
  return format_number(v[0]) + ", " + format_number(v[1]) + ", " + format_number(v[2]);
}

/// The forces that imposed displacements take.
void add_imposed(Table& table, const TopoptModel& model, const TopoptRunResults& results) {
  for (std::size_t k = 0; k < results.balances.size(); ++k)
    if (!model.problem.cases[k].loads.displacements.empty())
      table.row("  force to move, " + model.case_names[k],
                vector_text(results.balances[k].imposed_force), "N");
}

/// The largest displacement and stress over the load cases, where the density is above 0.5.
void add_largest(Table& table, const TopoptModel& model, const TopoptRunResults& results) {
  const std::vector<LargestValues>& values = results.largest;
  const auto add = [&](const char* label, double LargestValues::*value, const char* unit) {
    const auto largest =
        std::max_element(values.begin(), values.end(),
                         [&](const auto& a, const auto& b) { return a.*value < b.*value; });
    if (largest == values.end())
      return;
    if ((*largest).*value < 0)
      return table.row(label, "unknown: no density is above 0.5");
    table.row(label, format_number((*largest).*value, 6),
              values.size() > 1
                  ? unit + (", " + model.case_names[std::size_t(largest - values.begin())])
                  : unit);
  };
  add("largest displacement", &LargestValues::displacement, "m");
  add("largest von Mises stress", &LargestValues::stress, "Pa");
}

/// Value, limit, and whether it holds.
void add_limits(Table& table, const TopoptModel& model, const DesignStep& final) {
  for (std::size_t j = 0; j < final.limits.size(); ++j) {
    const DesignLimit& limit = model.problem.limits[j];
    const DesignLimitValue& own = final.limits[j];
    std::string text = format_number(own.value) + " " + unit_of(limit.kind) + ", " +
                       bound_of(limit) + (own.holds() ? "" : ": EXCEEDED");
    if (limit.kind == DesignLimitKind::stress)
      text +=
          "; of solid material where the density is above 0.5: " + format_number(own.solid) + " Pa";
    table.row(label_of(model, limit), text);
  }
}

/// "at least 1.234 J: this one is at most 14 % above the best"
std::string bound_text(const TopoptModel& model, const TopoptRunResults& results) {
  const BoundSummary& bound = *results.bound;
  if (!bound.is_known())
    return "no bound: " + bound.reason;
  const double excess = bound.excess_of(compliance_of(model.problem, *results.final));
  return "at least " + format_number(bound.found.value, 6) + " J: this one is at most " +
         format_number(100 * std::max(0.0, excess), 3) + " % above the best";
}

std::string parts_text(const PartsSummary& parts) {
  std::string text = format_count(parts.num_parts);
  if (!parts.joined)
    text += parts.num_parts > 0 ? ", which join no load to a support" : "";
  else if (parts.num_loose > 0)
    text += ", of which " + format_count(parts.num_loose) + " loose, with " +
            format_number(100 * parts.loose_volume / parts.volume, 3) + " % of the volume";
  return text;
}

/// "whole part", "modelled half"
std::string body_text(const TopoptModel& model, const SurfaceSummary& surface) {
  return surface.num_copies > 1 ? "whole part"
                                : "modelled " + modelled_share(model.problem.mirrors);
}

void add_outcome(Table& table, const TopoptModel& model, const TopoptRunResults& results) {
  if (!results.final)
    return;
  const DesignStep& final = *results.final;
  const bool is_compliance = model.options.objective != DesignObjective::mechanism;
  table.section("Design");
  if (is_compliance)
    table.row(imposes_displacements(model.problem) ? "work of forces less that to move"
                                                   : "compliance",
              format_number(compliance_of(model.problem, final), 9), "J");
  else
    table.row("objective", format_number(final.objective, 9), "m");
  if (final.cases.size() > 1)
    for (std::size_t i = 0; i < final.cases.size(); ++i)
      table.row("  " + model.case_names[i], format_number(final.cases[i], 9),
                is_compliance ? "J" : "m");
  if (results.bound)
    table.row("  of any design", bound_text(model, results));
  add_imposed(table, model, results);
  add_largest(table, model, results);
  if (!final.frequencies.empty()) {
    std::vector<std::string> values;
    for (const double one : final.frequencies)
      values.push_back(format_number(one, 6));
    table.row("natural frequencies", joined(values, ", "), "Hz");
    values.clear();
    for (const unsigned family : final.frequency_families)
      values.push_back(family == 0 ? "-" : antisymmetric_axes(model.problem, family));
    if (!values.empty())
      table.row("  antisymmetric about", joined(values, ", "));
  }
  table.row("volume fraction", format_number(final.volume));
  add_limits(table, model, final);
  table.row("grey", format_number(100 * final.grey, 3), "%");
  if (model.options.process.any())
    table.row("elements not made so", format_count(results.faults.sum()));
  if (results.parts)
    table.row("parts", parts_text(*results.parts));
  if (results.surface)
    table.row("surface",
              format_count(results.surface->num_triangles) + " triangles around " +
                  format_number(results.surface->volume) + " m3" +
                  (model.mass_density
                       ? ", " + format_number(*model.mass_density * results.surface->volume) + " kg"
                       : "") +
                  (model.problem.mirrors.empty()
                       ? ""
                       : ", of the " + body_text(model, *results.surface)));
}

std::string difference_text(double value, double of_design) {
  const double percent = 100 * (value / of_design - 1);
  return format_number(value, 6) + " J, " + (percent < 0 ? "" : "+") + format_number(percent, 3) +
         " % to the design's";
}

std::string placed_text(const PlacedValue& value, const char* unit) {
  return format_number(value.value, 4) + " " + unit + " at " + format_number(value.place[0], 4) +
         ", " + format_number(value.place[1], 4) + ", " + format_number(value.place[2], 4) + " m";
}

void add_reanalysis(Table& table, const TopoptModel& model, const TopoptRunResults& results) {
  if (!results.reanalysis || !results.reanalysis->failure.empty() || !results.final)
    return;
  const ReanalysisSummary& again = *results.reanalysis;
  const Reanalysis& solution = again.solution;
  table.section("Surface, solved again");
  if (!model.problem.mirrors.empty())
    table.row("body", "the modelled " + modelled_share(model.problem.mirrors) +
                          ", with its share of forces and energies");
  table.row("cubes", format_count(solution.num_elem) + " of " + format_number(again.edge, 4) +
                         " m, " + format_number(again.volume) + " m3, all solid");
  table.row("compliance",
            difference_text(solution.objective, compliance_of(model.problem, *results.final)));
  for (std::size_t k = 0; k < solution.cases.size(); ++k) {
    const ReanalysedCase& one = solution.cases[k];
    if (solution.cases.size() > 1)
      table.row("  " + model.case_names[k],
                difference_text(one.compliance, results.final->cases[k]));
    table.row("  displacement", "at most " + placed_text(one.displacement, "m"));
    table.row("  von Mises stress", "at most " + placed_text(one.von_mises, "Pa") +
                                        "; of 99.9 % of the cubes " +
                                        format_number(one.von_mises_quantile, 4) + " Pa");
  }
}

std::string topopt_table(const TopoptModel& model, const TopoptRunResults& results,
                         const DriverContext& context) {
  Table table;
  add_problem(table, model);
  add_solution(table, model, results, context);
  add_outcome(table, model, results);
  add_reanalysis(table, model, results);
  return table.text();
}

/// The largest of `of(balance)` over the load cases; NaN is larger than any.
template<class Of>
double worst_of(const std::vector<DesignBalance>& balances, const Of& of) {
  double worst = 0;
  for (const ForceBalance& balance : balances)
    if (const double error = of(balance); error > worst || std::isnan(error))
      worst = error;
  return worst;
}

/// Of the last design, but for the residual of steps.
Certificate certificate_of(const DesignOptions& options, const TopoptRunResults& results) {
  const double tolerance = options.solver.cg.tolerance;
  Certificate certificate{tolerance, {}};
  std::vector<ResultCheck>& checks = certificate.checks;
  if (!results.steps.empty())
    checks.push_back({"step_residual", results.step_residual(), options.tolerance_of_steps()});
  if (!results.final)
    return certificate;
  checks.push_back({"residual", results.residual(), tolerance});
  const double bound = balance_bound(tolerance);
  const auto add = [&](const char* name, double (ForceBalance::*error)() const) {
    checks.push_back(
        {name, worst_of(results.balances, [&](const auto& b) { return (b.*error)(); }), bound});
  };
  add("force_balance", &ForceBalance::force_error);
  add("moment_balance", &ForceBalance::moment_error);
  add("energy_balance", &ForceBalance::energy_error);
  // The design is lowered to the volume to 1e-7 of it (DesignOptimizer::meet_volume).
  if (options.objective != DesignObjective::volume)
    checks.push_back({"volume", results.final->volume, options.volume_fraction * (1 + 1e-6)});
  for (std::size_t j = 0; j < results.final->limits.size(); ++j) {
    const double excess = results.final->limits[j].excess;
    checks.push_back({"constraint_" + std::to_string(j),
                      std::isnan(excess) ? excess : std::max(0.0, excess), limit_tolerance});
  }
  // Solves have errors, which energies are right to twice as many digits without.
  if (results.bound && results.bound->is_known())
    checks.push_back({"compliance_bound",
                      std::max(0.0, -results.bound->excess_of(results.final->objective)), bound});
  // Filters and projections average numbers of [0, 1].
  const double beyond = std::max(-results.least_density, results.greatest_density - 1);
  const double allowed = (options.process.overhang ? overhang_excess : 0) +
                         (options.filter == DesignFilter::helmholtz ? helmholtz_excess : 0);
  checks.push_back({"density_bounds", std::max(0.0, beyond), std::max(allowed, 1e-9)});
  return certificate;
}

SummaryParts summary_parts(const TopoptModel& model, const TopoptRunResults& results) {
  SummaryParts parts;
  parts.status = !results.breakdown.empty() ? RunStatus::broken_down
                 : results.was_stopped()    ? RunStatus::interrupted
                 : results.has_failed() || !results.holds_limits() ||
                         (results.final && !results.final->frequency_failure.empty())
                     ? RunStatus::not_converged // of which a warning says why
                 : results.converged ? RunStatus::converged
                                     : RunStatus::steps_done;
  parts.problem = topopt_problem(model);
  parts.engine = topopt_engine(model, results);
  if (results.engine.cut)
    parts.memory = {{"largest_rank_host_peak_bytes", results.engine.most_host_bytes},
                    {"largest_rank_kokkos_peak_bytes", results.engine.most_kokkos_bytes}};
  parts.results = topopt_results(model, results);
  parts.iterations = int(results.iterations());
  parts.true_residual = results.residual();
  parts.certificate = certificate_of(model.options, results);
  return parts;
}

void log_speed(const TopoptModel& model, const TopoptRunResults& results) {
  double seconds = 0;
  std::int64_t iterations = 0;
  for (const DesignStep& step : results.steps) {
    seconds += step.seconds_solve;
    iterations += iterations_of(step);
  }
  if (!(seconds > 0))
    return;
  const double products = double(iterations);
  log_info(counted(std::int64_t(results.steps.size()), "step"), " in ",
           format_number(results.seconds.steps, 4), " s, peak memory ",
           format_bytes(double(peak_host_bytes())));
  log_verbose(format_number(products * 3 * double(model.num_nodes()) / seconds / 1e6, 4),
              " Mdof iterations/s, operator at least ",
              format_number(products * results.engine.cost.bytes_moved / seconds / 1e9, 4),
              " GB/s");
}

/// Loads that act in the void beside the surface, where grey elements carried them.
void warn_of_loads_beside(const TopoptModel& model, const PartsSummary& parts) {
  constexpr double negligible = 0.01;
  for (std::size_t k = 0; k < parts.beside.size(); ++k) {
    if (!(parts.beside[k] > negligible))
      continue;
    const bool is_output = k >= model.case_names.size();
    log_warning("loads-beside", "the surface ends more than an element away from ",
                format_number(100 * parts.beside[k], 3), " % of the ",
                is_output ? "output" : "loads of case '" + model.case_names[k] + "'",
                ": the part that is written does not carry them, as it is grey there, or on the "
                "way. Keep layers around loads (--keep), or take projection, more --steps or more "
                "volume");
  }
}

void warn_of_parts(const TopoptModel& model, const PartsSummary& parts) {
  if (parts.joined)
    warn_of_loads_beside(model, parts);
  if (parts.num_parts > 0 && !parts.joined)
    log_warning("no-load-path", "no part of the design joins a load to a support at the level of ",
                "its surface: more --steps, or a lower --stl-level");
  if (parts.num_loose > 0)
    log_warning("loose-pieces", parts.num_loose, " of ", parts.num_parts,
                " parts of the design, with ", format_number(parts.loose_volume, 3), " m3 of ",
                format_number(parts.volume, 3),
                parts.num_loose == 1 ? ", joins no load" : ", join no load", " to a support",
                parts.keeps_loose ? "" : ", and the surface is without (--keep-loose: with)",
                ": a finer mesh, projection, stiffer springs or more volume may join all");
}

void warn_of_reanalysis(const TopoptModel& model, const ReanalysisSummary& again,
                        const std::optional<SurfaceSummary>& surface) {
  if (again.is_stopped)
    return;
  if (!again.failure.empty()) {
    log_warning("not-reanalysed", "the surface could not be solved again: ", again.failure,
                "; --reanalyse 0: do without");
    return;
  }
  if (again.left_out > 0)
    log_warning("reanalysis-parts", "solved again without ", format_number(again.left_out, 3),
                " m3 of ", format_number(again.left_out + again.volume, 3),
                " in cubes that share no face with those at supports: members are thinner than a "
                "cube there; finer cubes by --reanalyse 2, or more volume");
  constexpr double alike = 0.05;
  const double cubes = again.volume + again.left_out;
  const double enclosed = surface ? surface->volume / surface->num_copies : cubes;
  if (std::abs(cubes - enclosed) > alike * enclosed)
    log_warning("coarse-cubes", "solved again as cubes of ", format_number(cubes),
                " m3, where the "
                "surface encloses ",
                format_number(enclosed),
                ": members are hardly thicker than a cube, and the compliance is of others. Finer "
                "cubes by --reanalyse 2, finer elements, or more volume");
  for (std::size_t k = 0; k < again.moved.size(); ++k)
    if (again.moved[k].share > 0)
      log_warning("moved-loads", "the surface lacks ", format_number(100 * again.moved[k].share, 3),
                  " % of the forces of load case '", model.case_names[k],
                  "', which act on the nearest loaded nodes that it has, ",
                  format_number(again.moved[k].distance, 3),
                  " m away at most: its compliance is of loads in other places. Keep layers "
                  "around loads");
}

/// A member that is grey in the design is not in the surface, and others bend in its place.
void warn_of_weak_surface(const TopoptModel& model, const TopoptRunResults& results) {
  if (!results.reanalysis->failure.empty() || !results.final)
    return;
  constexpr double alike = 1.5;
  const double ratio =
      results.reanalysis->solution.objective / compliance_of(model.problem, *results.final);
  if (ratio > alike)
    log_warning("weak-surface", "the surface, solved again, is ", format_number(ratio, 3),
                " times as compliant as its design: it lacks members that are grey in the design. "
                "Take projection, more --steps, more volume or finer elements, or a lower "
                "--stl-level");
}

void warn_of_faults(const ProcessFaults& faults) {
  const auto say = [](std::int64_t count, const char* what) {
    if (count > 0)
      log_warning("not-made-so", counted(count, "element"), what);
  };
  say(faults.undercuts, " between material and the parting face without material: the part cannot "
                        "be drawn there. Void elements, or gaps of the body, are in the way");
  say(faults.hanging, " of material with none below: the part cannot be built there. Solid "
                      "elements, kept ones among them, hang in the air");
  say(faults.unlike, " unlike those that they should be the same as: the design lacks the "
                     "extrusion, symmetry or sectors there. Solid or void elements lack them");
}

/// A design that is analysed last is one step further than the last step's frequencies.
void warn_of_frequencies(const TopoptRunResults& results) {
  const DesignStep& final = *results.final;
  if (!final.frequency_failure.empty())
    log_warning("no-frequencies", final.frequency_failure,
                "; all other results of the design hold");
  constexpr double part = 0.5;
  if (results.steps.empty() || results.steps.back().frequencies.empty() ||
      final.frequencies.empty() ||
      final.frequencies[0] >= part * results.steps.back().frequencies[0])
    return;
  const DesignStep& last = results.steps.back();
  log_warning(
      "frequency-fell", "the lowest natural frequency of the design is ",
      format_number(final.frequencies[0]), " Hz, and that of the step before was ",
      format_number(last.frequencies[0]),
      " Hz: a part has come loose. Take other --steps, a smaller --move, or the design of a "
      "--checkpoint before");
}

void warn_of_rise(const TopoptRunResults& results) {
  if (!results.rise)
    return;
  const DesignStep& final = *results.final;
  log_warning("compliance-rose", "the compliance of the last design is ",
              format_number(final.objective), " J, ", format_number(results.rise->times, 3),
              " times that of the design before step ", results.rise->step,
              final.volume < 1e-3          ? ": hardly any material is left"
              : results.rise->is_failure() ? ": material that carried the loads has gone"
                                           : ": members of that design have been cut",
              results.rise->sharpened ? ", as sharpness has grown since. Take a --sharpness that "
                                        "ends lower, or more --steps"
                                      : ". Take more --steps, or a smaller --move");
}

/// Of a least volume of next to nothing, which meets the constraints all the same.
void warn_of_nothing(const TopoptRunResults& results) {
  if (results.is_nothing)
    log_warning("nothing-carried",
                "the design of least volume is no material at all, which meets the constraints: "
                "limit what a lack of material makes larger, such as compliance, stress, or a "
                "displacement in the direction of its loads");
}

/// Of a mechanism whose output goes the wrong way.
void warn_of_output(const TopoptModel& model, const DesignStep& final) {
  if (model.options.objective == DesignObjective::mechanism && final.objective < 0)
    log_warning("odd-direction", "the output of the mechanism moves by ",
                format_number(final.objective),
                " m, against the direction that it is to move in: turn its \"direction\" round if "
                "that is meant, else take more --steps, or another place of loads, supports or "
                "output");
}

/// Of a design that would be stiffer with the rest of the volume that it may have.
void warn_of_unused_volume(const TopoptModel& model, const DesignStep& final) {
  constexpr double much = 0.02; // by which a limit that counts would not be missed
  const double most = model.options.volume_fraction;
  const bool is_limited =
      std::any_of(final.limits.begin(), final.limits.end(),
                  [](const DesignLimitValue& one) { return !(one.excess < -much); });
  if (final.volume >= (1 - much) * most || is_limited ||
      !wants_volume(model.problem, model.options))
    return;
  log_warning("volume-not-met", "the design takes ", format_number(final.volume),
              " of the volume, where it may take ", format_number(most),
              final.limits.empty() ? "" : " and meets its constraints by far",
              ", and would be stiffer with more: take more --steps, a larger --move or --start, or "
              "a --sharpness that begins and ends lower");
}

/// Of a design that is solid, as those of least volume are where a run begins.
std::string value_of_first(const TopoptRunResults& results, const DesignLimit& limit,
                           std::size_t which) {
  if (results.steps.empty() || results.steps.front().number != 1 ||
      results.steps.front().limits[which].holds())
    return {};
  return ": the first design, which had " + format_number(100 * results.steps.front().volume, 3) +
         " % of the volume, had " + format_number(results.steps.front().limits[which].value) + " " +
         unit_of(limit.kind);
}

void warn(const TopoptModel& model, const TopoptRunResults& results) {
  if (!results.breakdown.empty())
    log_warning("broke-down", "broke down in step ", results.last_step() + 1, ": ",
                results.breakdown, "; results are of the design before it");
  if (results.stopped)
    log_warning("interrupted", "stopped by a signal after step ", results.last_step(),
                results.has_checkpoint ? "; go on with --resume" : "");
  if (!results.within_volume && results.final)
    log_warning("volume-exceeded", "the design takes ", format_number(results.final->volume),
                " of the volume, ", format_number(model.options.volume_fraction),
                " at most were asked for: more --steps, or a lower --start");
  warn_of_faults(results.faults);
  if (!results.final)
    return;
  warn_of_frequencies(results);
  warn_of_unused_volume(model, *results.final);
  warn_of_rise(results);
  warn_of_nothing(results);
  warn_of_output(model, *results.final);
  double stiffest = 0;
  for (const HexaMaterial& one : model.problem.materials)
    stiffest = std::max(stiffest, one.young);
  warn_of_displacement(model.source, results.load_displacement, model.problem.bounds(), stiffest);
  for (std::size_t j = 0; j < results.final->limits.size(); ++j) {
    const DesignLimit& limit = model.problem.limits[j];
    const DesignLimitValue& own = results.final->limits[j];
    if (!own.holds())
      log_warning(
          "constraint-exceeded", "the constraint ", label_of(model, limit),
          " does not hold: ", format_number(own.value), " ", unit_of(limit.kind), ", and ",
          bound_of(limit), " was asked for. ",
          limit.at_least && own.value < 0
              ? "It moves the other way: turn \"direction\" round if that is meant, else more "
                "--steps"
          : model.options.objective == DesignObjective::volume
              ? "More --steps or a smaller --move, or a limit that can be met" +
                    value_of_first(results, limit, j)
              : "More --steps or a smaller --move, a limit that can be met, or more volume");
  }
}

} // namespace

void warn_of_opposite_displacements(const TopoptModel& model, const DesignStep& step) {
  for (const std::size_t j : find_opposite_displacements(model.problem, step.limits)) {
    const DesignLimit& limit = model.problem.limits[j];
    log_warning("odd-direction", "the constraint ", label_of(model, limit), ": is ",
                format_number(step.limits[j].value), " ", unit_of(limit.kind),
                " in the first design, the other way by more than the limit, so that it holds "
                "whatever moves: turn \"direction\" round, or limit both directions");
  }
}

int report_topopt(const TopoptModel& model, const TopoptRunResults& results,
                  const std::string& stem, DriverContext& context,
                  const std::function<void()>& write_files) {
  warn(model, results);
  log_speed(model, results);
  const auto write = [&](RunStatus) {
    write_files();
    if (results.was_stopped() && !results.stopped)
      log_warning("interrupted", "stopped by a signal after the last step: ",
                  results.reanalysis && results.reanalysis->is_stopped
                      ? "the surface was not solved again"
                      : "the bound of the compliance may be far from the best");
    if (results.parts)
      warn_of_parts(model, *results.parts);
    if (results.reanalysis) {
      warn_of_reanalysis(model, *results.reanalysis, results.surface);
      warn_of_weak_surface(model, results);
    }
  };
  // What is known of the surface is in the table.
  return finish_run({[&] { return summary_parts(model, results); },
                     [&] { return topopt_table(model, results, context); }, write, results.files,
                     true},
                    stem, context);
}

int report_topopt_prediction(const TopoptModel& model, const TopoptPrediction& expected,
                             const std::string& stem, DriverContext& context) {
  Prediction prediction;
  add_problem(prediction.input, model);
  prediction.problem = topopt_problem(model);
  if (model.options.grid == DesignGrid::voxels) {
    const double dofs = 3 * double(model.num_nodes());
    if (context.world().size() > 1)
      prediction.rows.emplace_back("ranks", std::to_string(context.world().size()) +
                                                ", each of which takes what follows");
    prediction.rows.emplace_back("memory of the solver on voxels",
                                 format_bytes(expected.voxel_bytes));
    prediction.rows.emplace_back("bytes per dof, designs among them",
                                 format_number(expected.device_bytes / dofs, 3));
    prediction.results["voxel_solver_bytes"] = expected.voxel_bytes;
    prediction.results["bytes_per_dof"] = expected.device_bytes / dofs;
  } else {
    prediction.results["automatic_operator"] = name_of(expected.choice.kind);
    prediction.results["automatic_operator_reason"] = expected.choice.reason;
    prediction.rows.emplace_back("operator auto", std::string(name_of(expected.choice.kind)) +
                                                      " (" + expected.choice.reason + ")");
  }
  for (const auto& one : expected.operators) {
    prediction.rows.emplace_back(std::string("memory of operator ") + name_of(one.kind),
                                 format_bytes(one.kept));
    prediction.results["operator_bytes"][name_of(one.kind)] = one.kept;
  }
  for (const auto& one : expected.preconditioners) {
    prediction.rows.emplace_back(std::string("memory of ") + name_of(one.preconditioner),
                                 format_bytes(one.kept));
    prediction.results["preconditioner_bytes"][name_of(one.preconditioner)] = one.kept;
  }
  prediction.rows.emplace_back("memory of all else", format_bytes(expected.design_bytes));
  prediction.results["design_bytes"] = expected.design_bytes;
  prediction.device_bytes = expected.device_bytes;
  prediction.host_growth = expected.host_growth;
  return report_prediction(std::move(prediction), stem, context);
}

} // namespace ossatura
