// SPDX-License-Identifier: Apache-2.0
#include "apps/eikonal/output/report.hpp"

#include "apps/driver/output/prediction.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/eikonal/output/files.hpp"
#include <ossatura/core/base/precision.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ossatura {

std::int64_t ActivationReport::num_swallowed() const {
  std::int64_t count = 0;
  for (const SiteReport& site : sites)
    count += site.is_swallowed();
  return count;
}

namespace {

using Json = nlohmann::ordered_json;

/// " of set 'apex'", or nothing where there is only one.
std::string of_set(const ActivationReport& report) {
  return report.set.empty() ? "" : " of set '" + report.set + "'";
}

double million_per_second(const EikonalRunResults& results) {
  return double(results.mesh.num_tetra) * double(results.sets.size()) / results.seconds.solve / 1e6;
}

// The table.

void add_mesh(Table& table, const EikonalMeshInfo& mesh) {
  table.section("Mesh");
  table.row("source", mesh.source);
  table.row("size", format_count(mesh.num_tetra) + " tetrahedra, " + format_count(mesh.num_points) +
                        " vertices");
  std::string span;
  for (int d = 0; d < 3; ++d)
    span += (d == 0 ? "" : " x ") + format_number(mesh.bounds[d + 3] - mesh.bounds[d], 4);
  table.row("extent", span + " mm");
  std::string fibres = mesh.has_sheets ? "fibres and sheets" : mesh.has_fibres ? "fibres" : "none";
  if (mesh.has_fibres && mesh.num_isotropic > 0)
    fibres += ", " + format_count(mesh.num_isotropic) + " tetrahedra without";
  table.row("directions", fibres);
  if (mesh.num_blocked > 0)
    table.row("non-conducting", format_count(mesh.num_blocked) + " tetrahedra; " +
                                    format_count(mesh.num_blocked_points) +
                                    " vertices belong to no other");
  if (mesh.num_parts > 1)
    table.row("parts", format_count(mesh.num_parts) + " that share no vertex");
}

constexpr std::size_t most_tags = 20; ///< of a table; the summary has all

/// Says how many of `count` tags a table has left out.
void add_rest(Table& table, std::size_t count) {
  if (count > most_tags)
    table.row("and", format_count(std::int64_t(count - most_tags)) +
                         " more tags, which the summary has (--json)");
}

/// "0.6", "0.2 to 0.6".
std::string range_text(double least, double greatest) {
  return least == greatest ? format_number(least)
                           : format_number(least, 4) + " to " + format_number(greatest, 4);
}

void add_tissues(Table& table, const EikonalMeshInfo& mesh) {
  table.section("Conduction velocities (m/s)");
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < std::min(mesh.tissues.size(), most_tags); ++i) {
    const TissueInfo& tissue = mesh.tissues[i];
    rows.push_back({std::to_string(tissue.tag), format_count(tissue.num_tetra)});
    for (const auto component :
         {&ConductionVelocity::fibre, &ConductionVelocity::sheet, &ConductionVelocity::normal})
      rows.back().push_back(tissue.conducts()
                                ? range_text(tissue.least.*component, tissue.greatest.*component)
                                : "none");
  }
  table.columns({"tag", "tetrahedra", "fibre", "sheet", "normal"}, rows);
  add_rest(table, mesh.tissues.size());
}

void add_solution(Table& table, const EikonalRunResults& results, const DriverContext& context) {
  table.section("Solution");
  table.row("engine", context.provenance().backend + " on " + context.provenance().device + ", " +
                          results.method + ", " + results.metric + ", " + results.precision +
                          " precision" + (results.deterministic ? ", deterministic" : ""));
  if (!results.cut && !results.split.empty())
    table.row("ranks", std::to_string(context.world().size()) + ", which divide the sets of sites");
  if (results.cut)
    table.row("ranks", std::to_string(context.world().size()) + " by " + results.transport +
                           ", cut by " + results.partition + ": at most " +
                           format_count(results.cut->most_points) + " vertices and " +
                           format_count(results.cut->most_ghosts) + " ghosts");
  table.row("iterations", std::to_string(results.solved.iterations) + ", " +
                              format_number(results.per_vertex(results.solved.evaluations), 3) +
                              " evaluations and " +
                              format_number(results.per_vertex(results.solved.local_solves), 4) +
                              " local solves per vertex" +
                              (results.converged ? "" : "  NOT CONVERGED"));
  table.row("certificate", format_number(results.solved.certificate, 3) + " relative, " +
                               format_number(results.solved.certificate_ms, 3) + " ms");
  const EikonalSeconds& seconds = results.seconds;
  table.row("seconds", format_number(seconds.read, 3) + " read, " +
                           format_number(seconds.setup, 3) + " set-up, " +
                           format_number(seconds.solve, 3) + " solve");
  table.row("peak memory",
            format_bytes(double(peak_host_bytes())) + " process, " +
                format_bytes(double(peak_kokkos_bytes())) + " arrays = " +
                format_number(double(peak_kokkos_bytes()) / double(results.mesh.num_tetra), 3) +
                " bytes per tetrahedron");
}

std::vector<std::string> times(const ActivationStatistics& statistics) {
  if (statistics.num_reached == 0)
    return {"-", "-", "-"};
  return {format_number(statistics.earliest), format_number(statistics.mean),
          format_number(statistics.latest)};
}

void add_activation(Table& table, const EikonalRunResults& results) {
  table.section("Activation (ms)");
  std::vector<std::vector<std::string>> rows;
  const auto add = [&rows](const std::string& label, const ActivationStatistics& statistics) {
    std::vector<std::string> row = {label, format_count(statistics.num_vertices),
                                    format_count(statistics.num_vertices - statistics.num_reached)};
    for (const std::string& time : times(statistics))
      row.push_back(time);
    rows.push_back(row);
  };
  const bool batch = results.sets.size() > 1;
  for (const ActivationReport& report : results.sets)
    add(batch ? report.set : "all", report.all);
  if (!batch)
    for (std::size_t i = 0; i < std::min(results.sets[0].tags.size(), most_tags); ++i)
      add("tag " + std::to_string(results.sets[0].tags[i]), results.sets[0].by_tag[i]);
  table.columns({batch ? "set" : "", "vertices", "unreached", "earliest", "mean", "latest"}, rows);
  if (batch)
    return;
  add_rest(table, results.sets[0].tags.size());
  table.row("total activation time", results.sets[0].total_time(), "ms");
}

std::string eikonal_table(const EikonalRunResults& results, const DriverContext& context) {
  Table table;
  add_mesh(table, results.mesh);
  add_tissues(table, results.mesh);
  add_solution(table, results, context);
  add_activation(table, results);
  return table.text();
}

// The summary.

/// Velocities: one of each direction, 0 where no wave goes; of tetrahedra [least, greatest].
Json to_json(const TissueInfo& tissue, bool by_tetra) {
  Json json = {{"tag", tissue.tag}, {"tetrahedra", tissue.num_tetra}};
  if (by_tetra)
    json["non_conducting_tetrahedra"] = tissue.num_blocked;
  const std::pair<const char*, double ConductionVelocity::*> components[] = {
      {"vl", &ConductionVelocity::fibre},
      {"vt", &ConductionVelocity::sheet},
      {"vn", &ConductionVelocity::normal}};
  for (const auto& [name, component] : components) {
    const double least = tissue.least.*component, greatest = tissue.greatest.*component;
    json[name] = by_tetra ? Json({least, greatest}) : Json(least);
  }
  return json;
}

Json to_json(const EikonalMeshInfo& mesh) {
  Json tissues = Json::array();
  for (const TissueInfo& tissue : mesh.tissues)
    tissues.push_back(to_json(tissue, mesh.by_tetra));
  const auto& box = mesh.bounds;
  return {{"source", mesh.source},
          {"vertices", mesh.num_points},
          {"tetrahedra", mesh.num_tetra},
          {"lower", {box[0], box[1], box[2]}},
          {"upper", {box[3], box[4], box[5]}},
          {"fibres", mesh.has_fibres},
          {"sheets", mesh.has_sheets},
          {"isotropic_tetrahedra", mesh.num_isotropic},
          {"non_conducting_tetrahedra", mesh.num_blocked},
          {"non_conducting_vertices", mesh.num_blocked_points},
          {"parts", mesh.num_parts},
          {"tissues", std::move(tissues)}};
}

/// Times are null where nothing is reached.
Json to_json(const ActivationStatistics& statistics) {
  const bool reached = statistics.num_reached > 0;
  return {{"vertices", statistics.num_vertices},
          {"reached", statistics.num_reached},
          {"unreached", statistics.num_vertices - statistics.num_reached},
          {"earliest", reached ? Json(statistics.earliest) : Json()},
          {"mean", reached ? Json(statistics.mean) : Json()},
          {"latest", reached ? Json(statistics.latest) : Json()}};
}

Json to_json(const ActivationReport& report) {
  Json json = {{"set", report.set.empty() ? Json() : Json(report.set)}};
  json.update(to_json(report.all));
  json["total_activation_time"] = report.total_time();
  json["swallowed_sites"] = report.num_swallowed();
  json["sites"] = Json::array();
  for (const SiteReport& site : report.sites)
    json["sites"].push_back({{"site", site.site},
                             {"time", site.time},
                             {"vertices", site.num_vertices},
                             {"non_conducting_vertices", site.num_blocked},
                             {"swallowed_vertices", site.num_swallowed}});
  json["tags"] = Json::array();
  for (std::size_t i = 0; i < report.tags.size(); ++i) {
    json["tags"].push_back({{"tag", report.tags[i]}});
    json["tags"].back().update(to_json(report.by_tag[i]));
  }
  return json;
}

Json results_json(const EikonalRunResults& results) {
  const EikonalResult& solved = results.solved;
  Json json = {{"converged", results.converged},
               {"iterations", solved.iterations},
               {"evaluations", solved.evaluations},
               {"evaluations_per_vertex", results.per_vertex(solved.evaluations)},
               {"local_solves", solved.local_solves},
               {"local_solves_per_vertex", results.per_vertex(solved.local_solves)},
               {"residual", solved.residual},
               {"certificate", solved.certificate},
               {"certificate_ms", solved.certificate_ms},
               {"activation", Json::array()}};
  for (const ActivationReport& report : results.sets)
    json["activation"].push_back(to_json(report));
  json["seconds"] = {{"read", results.seconds.read},
                     {"setup", results.seconds.setup},
                     {"solve", results.seconds.solve},
                     {"iterations", results.solved.seconds},
                     {"write", results.seconds.write}};
  json["unreached_mark"] = unreached_text(results.unreached_mark);
  json["million_tetrahedra_per_second"] = million_per_second(results);
  json["files"] = results.files;
  return json;
}

SummaryParts summary_parts(const EikonalRunResults& results) {
  SummaryParts parts;
  parts.status = results.interrupted ? RunStatus::interrupted
                 : results.converged ? RunStatus::converged
                                     : RunStatus::not_converged;
  parts.problem = to_json(results.mesh);
  parts.engine = {{"method", results.method},
                  {"metric", results.metric},
                  {"metric_bytes_per_tetrahedron", results.metric_bytes},
                  {"precision", results.precision},
                  {"deterministic", results.deterministic}};
  if (!results.split.empty())
    parts.engine["split"] = results.split;
  if (results.cut)
    parts.engine.update({{"partition", results.partition},
                         {"transport", results.transport},
                         {"largest_rank_vertices", results.cut->most_points},
                         {"largest_rank_ghosts", results.cut->most_ghosts},
                         {"ghosts", results.cut->num_ghosts}});
  parts.results = results_json(results);
  parts.iterations = results.solved.iterations;
  parts.recurrent_residual = results.solved.residual;
  parts.true_residual = results.solved.certificate;
  parts.certificate = results.certificate;
  parts.memory = {{"kokkos_peak_bytes_per_tetrahedron",
                   double(peak_kokkos_bytes()) / double(results.mesh.num_tetra)}};
  return parts;
}

void warn_of_unreached(const EikonalRunResults& results, const ActivationReport& report) {
  const std::string mark = unreached_text(results.unreached_mark);
  const std::string vertices = " of " + format_count(report.all.num_vertices) + " vertices";
  if (report.num_apart > 0)
    log_warning("unreached-vertices", format_count(report.num_apart), vertices,
                " are reached by no site", of_set(report), ": ",
                results.mesh.num_blocked > 0 ? "what conducts" : "the mesh",
                " has parts that share no vertex with one that has a site; their time is ", mark);
  const std::int64_t num_late = report.num_unreached() - report.num_apart;
  if (num_late > 0 && results.solved.converged)
    log_warning("late-arrival", "the wave arrives later than 1e10 ms at ", format_count(num_late),
                vertices, of_set(report), ", whose time is ", mark,
                ": is a velocity too small? Tissue that does not conduct has velocity 0");
  else if (num_late > 0)
    log_warning("unreached-vertices", format_count(num_late), vertices,
                " were not reached before the iteration ended", of_set(report), "; their time is ",
                mark);
}

void warn_of_rounding(const EikonalRunResults& results, const ActivationReport& report) {
  if (results.precision != name_of(Precision::fp32) || report.all.num_reached == 0)
    return;
  const double rounding = coarse_rounding(report.all.earliest, report.all.latest);
  if (rounding > 0)
    log_warning("coarse-times", "times", of_set(report), " reach ",
                format_number(std::max(std::abs(report.all.earliest), std::abs(report.all.latest))),
                " ms, where numbers of single precision are rounded by up to ",
                format_number(rounding, 2), " ms, and the wave takes ",
                format_number(report.total_time(), 4),
                " ms: start at 0, and add the start afterwards, or --precision double");
}

void warn(const EikonalRunResults& results) {
  if (results.interrupted) {
    log_warning("interrupted", "stopped by a signal after ", results.solved.iterations,
                " iterations: times are upper bounds, and ", unreached_text(results.unreached_mark),
                " where no wave had come yet");
    return;
  }
  if (!results.converged)
    log_warning("not-converged", "not converged after ", results.solved.iterations,
                " iterations: an update would still lower a time by ", results.solved.residual,
                " of it; ",
                results.solved.converged && results.solved.certificate > coarse_certificate &&
                        results.precision == name_of(Precision::fp32)
                    ? "tetrahedra are too flat for single precision, or velocities of one differ "
                      "too much: --precision double"
                    : "raise --max-iterations or --tolerance");
  else if (results.solved.certificate > coarse_certificate)
    log_warning("coarse-precision", "single precision leaves errors of about ",
                format_number(results.solved.certificate, 2), " of a time (",
                format_number(results.solved.certificate_ms, 2),
                " ms): tetrahedra are flat, or velocities of one differ much; --precision double "
                "does better");
  for (const ActivationReport& report : results.sets) {
    warn_of_unreached(results, report);
    warn_of_rounding(results, report);
    std::int64_t shown = 0;
    for (const SiteReport& site : report.sites)
      if (site.is_swallowed() && ++shown <= 5)
        log_warning("swallowed-site", "site ", site.site, of_set(report),
                    " is swallowed: all of it is activated before its ", site.time,
                    " ms; it has no effect");
    if (shown > 5)
      log_warning("swallowed-site", "in all, ", format_count(shown), " sites", of_set(report),
                  " are swallowed");
  }
}

} // namespace

int report_eikonal(const EikonalRunResults& results, const std::string& stem,
                   DriverContext& context, const std::function<void(RunStatus)>& write_files) {
  warn(results);
  log_info("solved in ", format_number(results.seconds.solve, 4),
           " s: ", format_number(million_per_second(results), 4),
           " million tetrahedra per second, peak memory ", format_bytes(double(peak_host_bytes())));
  return finish_run({[&] { return summary_parts(results); },
                     [&] { return eikonal_table(results, context); }, write_files, results.files},
                    stem, context);
}

int report_eikonal_prediction(const EikonalPrediction& expected, const std::string& stem,
                              DriverContext& context) {
  Prediction prediction;
  add_mesh(prediction.input, expected.mesh);
  add_tissues(prediction.input, expected.mesh);
  prediction.rows = {{"sets of sites", std::to_string(expected.num_sets)}};
  prediction.problem = to_json(expected.mesh);
  prediction.results = {{"sets", expected.num_sets}};
  prediction.device_bytes = expected.device_bytes;
  prediction.host_growth = expected.host_growth;
  return report_prediction(std::move(prediction), stem, context);
}

} // namespace ossatura
