// SPDX-License-Identifier: Apache-2.0
#include "apps/eikonal/eikonal_report.hpp"

#include "apps/driver/exit_code.hpp"
#include "apps/driver/prediction.hpp"
#include "apps/driver/summary.hpp"
#include "apps/driver/table.hpp"

namespace femura {

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
}

void add_tissues(Table& table, const EikonalMeshInfo& mesh) {
  table.section("Conduction velocities (m/s)");
  std::vector<std::vector<std::string>> rows;
  for (const TissueInfo& tissue : mesh.tissues)
    rows.push_back({std::to_string(tissue.tag), format_count(tissue.num_tetra),
                    format_number(tissue.velocity.fibre), format_number(tissue.velocity.sheet),
                    format_number(tissue.velocity.normal)});
  table.columns({"tag", "tetrahedra", "fibre", "sheet", "normal"}, rows);
}

void add_solution(Table& table, const EikonalRunResults& results, const DriverContext& context) {
  table.section("Solution");
  table.row("engine", context.provenance().backend + " on " + context.provenance().device + ", " +
                          results.method + ", " + results.metric + ", " + results.precision +
                          " precision" + (results.deterministic ? ", deterministic" : ""));
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
                           format_number(seconds.solve, 3) + " solve, " +
                           format_number(seconds.write, 3) + " write");
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
    for (std::size_t i = 0; i < results.sets[0].tags.size(); ++i)
      add("tag " + std::to_string(results.sets[0].tags[i]), results.sets[0].by_tag[i]);
  table.columns({batch ? "set" : "", "vertices", "unreached", "earliest", "mean", "latest"}, rows);
  if (!batch)
    table.row("total activation time", results.sets[0].total_time(), "ms");
}

std::string eikonal_table(const EikonalRunResults& results, const DriverContext& context) {
  Table table;
  add_mesh(table, results.mesh);
  add_tissues(table, results.mesh);
  add_solution(table, results, context);
  add_activation(table, results);
  if (!results.files.empty()) {
    table.section("Files");
    for (const std::string& file : results.files)
      table.row(file, std::string());
  }
  return table.text();
}

// The summary.

Json to_json(const EikonalMeshInfo& mesh) {
  Json tissues = Json::array();
  for (const TissueInfo& tissue : mesh.tissues)
    tissues.push_back({{"tag", tissue.tag},
                       {"tetrahedra", tissue.num_tetra},
                       {"vl", tissue.velocity.fibre},
                       {"vt", tissue.velocity.sheet},
                       {"vn", tissue.velocity.normal}});
  const auto& box = mesh.bounds;
  return {{"source", mesh.source},
          {"vertices", mesh.num_points},
          {"tetrahedra", mesh.num_tetra},
          {"lower", {box[0], box[1], box[2]}},
          {"upper", {box[3], box[4], box[5]}},
          {"fibres", mesh.has_fibres},
          {"sheets", mesh.has_sheets},
          {"isotropic_tetrahedra", mesh.num_isotropic},
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
  Json json = {{"set", report.set}};
  json.update(to_json(report.all));
  json["total_activation_time"] = report.total_time();
  json["swallowed_sites"] = report.num_swallowed();
  json["sites"] = Json::array();
  for (const SiteReport& site : report.sites)
    json["sites"].push_back({{"site", site.site},
                             {"time", site.time},
                             {"vertices", site.num_vertices},
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
  json["million_tetrahedra_per_second"] = million_per_second(results);
  json["files"] = results.files;
  return json;
}

Json eikonal_summary(const EikonalRunResults& results, const DriverContext& context) {
  SummaryParts parts;
  parts.status = results.converged ? "converged" : "not converged";
  parts.problem = to_json(results.mesh);
  parts.engine = {{"method", results.method},
                  {"metric", results.metric},
                  {"metric_bytes_per_tetrahedron", results.metric_bytes},
                  {"precision", results.precision},
                  {"deterministic", results.deterministic}};
  parts.results = results_json(results);
  parts.iterations = results.solved.iterations;
  parts.true_residual = results.solved.certificate;
  Json summary = make_summary(context, parts);
  summary["memory"]["kokkos_peak_bytes_per_tetrahedron"] =
      double(peak_kokkos_bytes()) / double(results.mesh.num_tetra);
  return summary;
}

void warn(const EikonalRunResults& results) {
  if (!results.converged)
    log_warning("not-converged", "not converged after ", results.solved.iterations,
                " iterations: an update would still lower a time by ", results.solved.certificate,
                " of it (", results.solved.certificate_ms,
                " ms); raise --max-iterations or --tolerance");
  for (const ActivationReport& report : results.sets) {
    if (report.num_unreached() > 0)
      log_warning("unreached-vertices", format_count(report.num_unreached()), " of ",
                  format_count(report.all.num_vertices), " vertices are reached by no site",
                  of_set(report),
                  ": the mesh has parts that share no vertex with one that has a "
                  "site; their time is -1");
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
                   DriverContext& context) {
  warn(results);
  log_info("solved in ", format_number(results.seconds.solve, 4),
           " s: ", format_number(million_per_second(results), 4),
           " million tetrahedra per second, peak memory ", format_bytes(double(peak_host_bytes())));
  context.print_result(eikonal_table(results, context));
  context.finish(eikonal_summary(results, context), stem);
  return results.converged ? exit_done : exit_not_converged;
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

} // namespace femura
