// SPDX-License-Identifier: Apache-2.0
#include "apps/pfem/table3_command.hpp"

#include "apps/driver/exit_code.hpp"
#include "apps/driver/output/prediction.hpp"
#include "apps/driver/output/summary.hpp"
#include "apps/driver/output/table.hpp"
#include "apps/driver/subcommand.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/pfem/hexa_batch.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

namespace {

using Json = nlohmann::ordered_json;

/// Table 3 of the paper, m = 10 000: seconds of a core of a Xeon E5-2609 at -O3, and how many times
/// faster a GTX 680 was with AI and with AII.
struct Published {
  double seconds, ai, aii;
};
constexpr Published published[] = {{0.14, 0.74, 0.67},
                                   {0.58, 1.08, 1.05},
                                   {10.52, 1.48, 6.41},
                                   {47.52, 1.41, 6.75},
                                   {293.00, 1.50, 5.01}};

constexpr double tolerance = 1e-12; ///< on differences between matrices, by the largest entry

double largest_difference(const std::vector<Table3Row>& rows) {
  double largest = 0;
  for (const Table3Row& row : rows)
    for (const Table3Time& time : row.times)
      if (time.difference > largest || std::isnan(time.difference))
        largest = time.difference;
  return largest;
}

std::string times_text(double ratio) {
  return format_number(ratio, 3) + "x";
}

std::string table3_text(const Table3Options& options, const std::vector<Table3Row>& rows,
                        const DriverContext& context) {
  Table table;
  table.section("Stiffness matrices, " + format_count(options.elements) +
                " elements of each order");
  table.row("engine", context.provenance().backend + " on " + context.provenance().device);
  table.row("core", "scheme AI of the serial backend, one core, in proportion to the elements "
                    "timed");
  table.row("elements", "unit cubes, trunk space, packed symmetric, quadrature of the paper");
  std::vector<std::string> heads = {"p", "points", "dofs", "timed", "core s"};
  for (const Table3Time& time : rows.front().times) {
    heads.push_back(std::string(name_of(time.method)) + " s");
    heads.emplace_back("faster");
  }
  heads.insert(heads.end(), {"paper: core s", "AI", "AII"});
  std::vector<std::vector<std::string>> lines;
  for (const Table3Row& row : rows) {
    const int cube = row.points * row.points * row.points;
    std::vector<std::string> line = {std::to_string(row.order), std::to_string(cube),
                                     std::to_string(row.dofs), format_count(row.reference_elements),
                                     format_number(row.reference_seconds, 4)};
    for (const Table3Time& time : row.times) {
      line.push_back(time.refusal.empty() ? format_number(time.seconds, 3) : "-");
      line.push_back(time.refusal.empty() ? times_text(row.reference_seconds / time.seconds) : "-");
    }
    const auto p = std::size_t(row.order) - 1;
    const bool known = p < std::size(published) && options.elements == 10000;
    line.push_back(known ? format_number(published[p].seconds, 5) : "");
    line.push_back(known ? times_text(published[p].ai) : "");
    line.push_back(known ? times_text(published[p].aii) : "");
    lines.push_back(std::move(line));
  }
  table.columns(heads, lines);
  return table.text();
}

Json table3_json(const std::vector<Table3Row>& rows) {
  Json list = Json::array();
  for (const Table3Row& row : rows) {
    Json methods = Json::object();
    for (const Table3Time& time : row.times) {
      Json& one = methods[name_of(time.method)];
      if (!time.refusal.empty()) {
        one = {{"refusal", time.refusal}};
        continue;
      }
      one = {{"seconds", time.seconds},
             {"faster_than_core", row.reference_seconds / time.seconds},
             {"largest_relative_difference", time.difference}};
    }
    list.push_back({{"order", row.order},
                    {"quadrature_points", row.points * row.points * row.points},
                    {"dofs_per_element", row.dofs},
                    {"core_elements_timed", row.reference_elements},
                    {"core_seconds", row.reference_seconds},
                    {"methods", std::move(methods)}});
    if (const auto p = std::size_t(row.order) - 1; p < std::size(published))
      list.back()["published"] = {{"core_seconds", published[p].seconds},
                                  {"ai_faster", published[p].ai},
                                  {"aii_faster", published[p].aii}};
  }
  return list;
}

Json table3_problem(const Table3Options& options) {
  return {{"elements", options.elements},
          {"highest_order", options.max_order},
          {"space", "trunk"},
          {"scaling", "paper"},
          {"quadrature", "paper"},
          {"storage", "packed"}};
}

int predict_table3(const Table3Options& options, DriverContext& context) {
  Prediction prediction;
  prediction.problem = table3_problem(options);
  for (int order = 1; order <= options.max_order; ++order) {
    const std::int64_t dofs = 3 * num_hierarchic_modes(HexaSpace::trunk, order);
    const double bytes = 8 * double(matrix_entries(MatrixStorage::packed, dofs));
    prediction.rows.emplace_back("matrices of order " + std::to_string(order),
                                 format_bytes(bytes * double(options.elements)) +
                                     ", a part of them at a time");
    // Matrices take at most 8 GiB on devices and 0.5 GiB elsewhere, parts of them at points as
    // much.
    const double most = options.common.backend == "cuda" ? 16 * 1073741824.0 : 1073741824.0;
    prediction.device_bytes =
        std::max(prediction.device_bytes, std::min(2 * bytes * double(options.elements), most) +
                                              300 * double(options.elements));
  }
  prediction.host_growth = 150 * double(options.elements) +
                           (options.common.backend == "cuda" ? 1.1e9 : prediction.device_bytes);
  return report_prediction(std::move(prediction), "table3", context);
}

void add_table3_options(CLI::App& app, Table3Options& o) {
  app.description("Table 3 of Novikov, Kuzmin, Nedozhogin and Kopysov (PaVT 2014) run again: "
                  "stiffness\nmatrices of orders 1 to 5 by schemes AI and AII, and by sum "
                  "factorisation, against one core.");
  app.option_defaults()->group("Table");
  app.add_option("--elements", o.elements, "Of each order")->type_name("M")->capture_default_str();
  app.add_option("--reference-elements", o.reference_elements,
                 "Of which one core forms so many; its time for all is in proportion (as many as "
                 "take about a second)")
      ->type_name("K");
  app.add_option("--max-order", o.max_order, "The highest order, up to 10")
      ->type_name("P")
      ->capture_default_str();
  add_common_options(app, o.common, {{Precision::fp64}, "Of all arithmetic", false, false});
  app.footer(std::string("Examples:\n"
                         "  ossatura pfem table3 --backend cuda\n"
                         "  ossatura pfem table3 --elements 200 --max-order 3 -o out\n\n") +
             exit_code_help());
}

void check_table3_options(const CLI::App& app, const Table3Options& o) {
  if (o.elements < 1 || o.elements > 10000000)
    fail<UsageError>("--elements ", o.elements, ": 1 to 10000000");
  if (app.count("--reference-elements") > 0 &&
      (o.reference_elements < 1 || o.reference_elements > o.elements))
    fail<UsageError>("--reference-elements ", o.reference_elements, ": 1 to --elements, which is ",
                     o.elements);
  if (o.max_order < 1 || o.max_order > max_hexa_order)
    fail<UsageError>("--max-order ", o.max_order, ": 1 to ", max_hexa_order);
}

int run_table3(const Table3Options& options, DriverContext& context) {
  if (options.common.dry_run)
    return predict_table3(options, context);
  std::vector<Table3Row> rows;
  for (int order = 1; order <= options.max_order; ++order) {
    rows.push_back(measure_table3(options, order));
    log_info("order ", order, ": ", format_number(rows.back().reference_seconds, 4),
             " s on one core");
  }
  const ResultCheck check = {"largest_difference", largest_difference(rows), tolerance};
  if (!check.passed())
    log_warning("matrices-differ", "matrices differ from those of one core by more than ",
                tolerance);
  context.print_result(table3_text(options, rows, context));
  SummaryParts parts;
  parts.certificate = {tolerance, {check}};
  parts.status = check.passed() ? RunStatus::done : RunStatus::matrices_differ;
  parts.problem = table3_problem(options);
  parts.results = {{"rows", table3_json(rows)}};
  context.finish(make_summary(context, parts), "table3");
  return exit_code_of(parts.status);
}

} // namespace

int table3_command(const Invocation& invocation) {
  return run_subcommand(invocation, "pfem table3", add_table3_options, check_table3_options,
                        {{"time", "s"}}, run_table3);
}

} // namespace ossatura
