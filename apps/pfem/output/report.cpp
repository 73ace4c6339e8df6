// SPDX-License-Identifier: Apache-2.0
#include "apps/pfem/output/report.hpp"

#include "apps/driver/output/prediction.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/problem/large_displacement.hpp"
#include "apps/pfem/output/summary.hpp"
#include <ossatura/core/mesh/solids/kinds.hpp>
#include <ossatura/kernels/pfem/elasticity_entry.hpp>
#include <ossatura/solvers/pfem/reactions.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ossatura {

namespace {

std::string vector_text(const std::array<double, 3>& v, int digits = 4) {
  return format_number(v[0], digits) + ", " + format_number(v[1], digits) + ", " +
         format_number(v[2], digits);
}

void add_problem(Table& table, const PfemModel& model) {
  const HierarchicOptions& o = model.options.discretisation;
  table.section("Problem");
  table.row("mesh", model.source);
  table.row("elements",
            format_count(model.num_elem()) + (model.is_trilinear() ? ", trilinear" : ", curved"));
  std::string orders;
  for (const auto& [order, count] : model.elements_by_order())
    orders += (orders.empty() ? "" : ", ") + std::to_string(order) + " (" + format_count(count) +
              " elements)";
  table.row("order", orders + ", " + name_of(model.options.space) + " space");
  const std::string points = o.points > 0                      ? std::to_string(o.points)
                             : o.rule == QuadratureRule::paper ? "max(2, ceil((3p-2)/2))"
                                                               : name_of(o.rule);
  table.row("quadrature", points + " points along each axis");
  table.row("dofs", format_count(3 * std::int64_t(model.numbering.num_modes)) + ", " +
                        format_count(model.num_held()) + " held");
  for (const LoadedBox& box : model.loaded_boxes)
    if (has_more(box))
      table.row(box.place, loaded_text(box));
}

void add_solution(Table& table, const PfemModel& model, const PfemResults& r,
                  const DriverContext& context) {
  const SolveResult& solve = r.solve;
  table.section("Solution");
  table.row("engine", context.provenance().backend + " on " + context.provenance().device);
  table.row("operator", std::string(name_of(r.kind)) + " (" + r.reason + ")");
  table.row("preconditioner", r.preconditioner);
  table.row("iterations", format_count(solve.iterations) +
                              (solve.converged ? ", converged" : ", NOT CONVERGED") +
                              (solve.in_energy ? ", error in energy " : ", true residual ") +
                              format_number(solve.residual, 3));
  table.row("seconds", format_number(r.seconds.read, 3) + " read, " +
                           format_number(r.seconds.setup, 3) + " set-up, " +
                           format_number(r.seconds.solve, 3) + " solve, " +
                           format_number(r.seconds.sample, 3) + " sample");
  table.row("peak memory", format_bytes(double(peak_host_bytes())) + " process, " +
                               format_bytes(double(peak_kokkos_bytes())) + " arrays");
  table.section("Results");
  table.row("strain energy", format_number(r.strain_energy, 10), "J");
  if (r.errors) {
    table.row("  in closed form", format_number(r.errors->energy, 10), "J");
    table.row("error in the energy norm", format_number(100 * r.errors->energy_norm, 4), "%");
    table.row("largest error of displacement", format_number(r.errors->displacement, 4), "m");
  }
  table.row("largest displacement",
            format_number(r.displacement.value, 8) + " m at " + vector_text(r.displacement.x));
  table.row("largest von Mises stress",
            format_number(r.von_mises.value, 6) + " Pa at " + vector_text(r.von_mises.x));
  table.row("loads", vector_text(r.total_load, 6), "N");
  for (std::size_t i = 0; i < model.supports.size(); ++i)
    table.row("reaction, " + model.supports[i].place, vector_text(r.reactions[i], 6), "N");
}

void log_speed(const PfemModel& model, const PfemResults& r) {
  if (!(r.seconds.solve > 0) || r.solve.iterations == 0)
    return;
  const double products = r.solve.iterations;
  log_info(counted(r.solve.iterations, "iteration"), " in ", format_number(r.seconds.solve, 4),
           " s, peak memory ", format_bytes(double(peak_host_bytes())));
  log_verbose(
      format_number(products * 3 * double(model.numbering.num_modes) / r.seconds.solve / 1e6, 4),
      " Mdof iterations/s, operator at least ",
      format_number(products * r.cost.bytes_moved / r.seconds.solve / 1e9, 4), " GB/s");
}

/// The largest Young's modulus (Pa), of orthotropic elements about that; 0 where it is not by
/// elements.
double stiffest_modulus(const ElasticityField& elasticity) {
  double most = 0;
  for (std::size_t e = 0; e < elasticity.value.size(); e += std::size_t(elasticity_entries)) {
    const auto d = [&](int i, int j) {
      return elasticity.value[e + std::size_t(elasticity_entry(i, j))];
    };
    const double mu = std::max({d(3, 3), d(4, 4), d(5, 5)}), lambda = d(0, 1);
    most = std::max(most, mu * (3 * lambda + 2 * mu) / (lambda + mu));
  }
  return most;
}

/// The largest ratio of a longest to a shortest edge of one element.
double slenderness(const PfemModel& model) {
  const ElementMesh& mesh = model.shape.mesh;
  double most = 1;
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    double shortest = std::numeric_limits<double>::infinity(), longest = 0;
    for (const auto& edge : hexa_shape.edge) {
      const double* const a = &mesh.point[3 * std::size_t(mesh.node[8 * e + std::size_t(edge[0])])];
      const double* const b = &mesh.point[3 * std::size_t(mesh.node[8 * e + std::size_t(edge[1])])];
      const double length = std::hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
      shortest = std::min(shortest, length);
      longest = std::max(longest, length);
    }
    most = std::max(most, longest / shortest);
  }
  return most;
}

/// What to do where iterations did not meet the tolerance.
std::string remedy_of(const PfemModel& model, const SolveResult& solve) {
  const HierarchicSolverOptions& solver = model.options.solver;
  const bool has_stars = solver.preconditioner == HierarchicPreconditioner::vertex_stars;
  // Conjugate gradients rise by less than the first on their way down, and rounding leaves them
  // less than 1 where they end.
  const bool ended = solve.iterations < solver.cg.max_iterations;
  const bool is_singular = solve.in_energy && solve.broken;
  if (is_singular || !(solve.residual < (ended ? 1 : 1e6)))
    return std::string(is_singular ? "The matrix is not positive definite"
                                   : "It is above the first one") +
           ", as of a body that can move: parts that an edge or a "
           "vertex alone joins turn about it, and elements with too few quadrature points "
           "(--points) bend without energy. Join parts by faces, or hold each";
  if (solve.iterations >= solver.cg.max_iterations)
    return std::string("Raise --max-iterations or --tolerance") +
           (has_stars ? "" : ", or choose --preconditioner vertex-stars");
  constexpr double slender = 20;
  const double ratio = slenderness(model);
  std::string text = "It fell no further, because of rounding";
  if (ratio > slender)
    text += " where elements are " + format_count(std::lround(ratio)) + " times as long as wide";
  text += ": give --tolerance " + format_number(2 * solve.residual, 1);
  return text + (ratio > slender ? ", or shorter elements" : "");
}

void warn(const PfemModel& model, const PfemResults& results) {
  const SolveResult& solve = results.solve;
  if (results.interrupted)
    log_warning("interrupted", "stopped by a signal after ", solve.iterations,
                " iterations: results are not converged");
  else if (!solve.converged)
    log_warning("not-converged", "not converged: the ",
                solve.in_energy ? "error in energy" : "true residual", " is ", solve.residual,
                " after ", solve.iterations, " iterations; results are written. ",
                remedy_of(model, solve));
  for (std::size_t i = 0; i < model.supports.size(); ++i)
    if (const double part = results.reactions_of_points[i];
        solve.converged && has_point_supports(part, model.highest_order())) {
      const std::size_t count = model.supports[i].points.size();
      log_warning("point-supports", model.supports[i].place, ": ",
                  format_count(std::int64_t(count)), count == 1 ? " vertex" : " vertices",
                  " held alone ", count == 1 ? "takes " : "take ", format_number(100 * part, 2),
                  " % of the reactions, and elements are of order ", model.highest_order(),
                  ": displacements by a force on a point grow with the order without a limit; hold "
                  "edges or faces");
    }
  if (solve.converged)
    warn_of_displacement(model.source, results.displacement.value,
                         bounding_box(model.shape.mesh.point), stiffest_modulus(model.elasticity));
}

Certificate certificate_of(const PfemModel& model, const PfemResults& results) {
  const double chosen = model.options.solver.cg.tolerance,
               tolerance = results.solve.in_energy ? direct_bound(chosen) : chosen,
               bound = balance_bound(tolerance);
  Certificate certificate{tolerance, {{"residual", results.solve.residual, tolerance}}};
  certificate.checks.push_back({"force_balance", results.balance.force_error(), bound});
  if (model.is_trilinear())
    certificate.checks.push_back({"moment_balance", results.balance.moment_error(), bound});
  certificate.checks.push_back({"energy_balance", results.balance.energy_error(), bound});
  return certificate;
}

SummaryParts summary_parts(const PfemModel& model, const PfemResults& results) {
  SummaryParts parts;
  parts.status = results.interrupted       ? RunStatus::interrupted
                 : results.solve.converged ? RunStatus::converged
                                           : RunStatus::not_converged;
  parts.problem = pfem_problem(model);
  parts.engine = pfem_engine(model, results);
  parts.results = pfem_results(model, results);
  parts.iterations = results.solve.iterations;
  parts.recurrent_residual = results.solve.recurrent_residual;
  parts.true_residual = results.solve.residual;
  parts.certificate = certificate_of(model, results);
  return parts;
}

std::string pfem_table(const PfemModel& model, const PfemResults& results,
                       const DriverContext& context) {
  Table table;
  add_problem(table, model);
  add_solution(table, model, results, context);
  return table.text();
}

} // namespace

int report_pfem(const PfemModel& model, const PfemResults& results, const std::string& stem,
                DriverContext& context, const std::function<void(RunStatus)>& write_files) {
  warn(model, results);
  log_speed(model, results);
  return finish_run({[&] { return summary_parts(model, results); },
                     [&] { return pfem_table(model, results, context); }, write_files,
                     results.files},
                    stem, context);
}

int report_pfem_prediction(const PfemModel& model, const PfemPrediction& expected,
                           const std::string& stem, DriverContext& context) {
  Prediction prediction;
  add_problem(prediction.input, model);
  prediction.problem = pfem_problem(model);
  prediction.rows.emplace_back("operator", std::string(name_of(expected.chosen.kind)) + " (" +
                                               expected.chosen.reason + ")");
  prediction.results["operator"] = name_of(expected.chosen.kind);
  prediction.results["operator_reason"] = expected.chosen.reason;
  prediction.rows.emplace_back("blocks of the matrix", format_count(expected.num_blocks));
  prediction.results["blocks"] = expected.num_blocks;
  for (const auto& one : expected.operators) {
    prediction.rows.emplace_back(
        std::string("memory of operator ") + name_of(one.kind),
        format_bytes(one.kept) +
            (one.kind == HierarchicOperatorKind::shared && expected.chosen.num_matrices == 0
                 ? ", if all elements have one shape"
                 : ""));
    prediction.results["operator_bytes"][name_of(one.kind)] = one.kept;
  }
  prediction.rows.emplace_back("memory of vertex-stars", format_bytes(expected.star_bytes));
  if (expected.factor_bytes > 0) {
    prediction.rows.emplace_back("memory of ldlt", format_bytes(expected.factor_bytes));
    prediction.results["preconditioner_bytes"]["ldlt"] = expected.factor_bytes;
  }
  prediction.rows.emplace_back("memory of all else", format_bytes(expected.model_bytes));
  prediction.results["preconditioner_bytes"]["vertex-stars"] = expected.star_bytes;
  prediction.results["model_bytes"] = expected.model_bytes;
  prediction.device_bytes = expected.device_bytes;
  prediction.host_growth = expected.host_growth;
  return report_prediction(std::move(prediction), stem, context);
}

} // namespace ossatura
