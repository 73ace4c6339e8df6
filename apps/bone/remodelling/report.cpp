// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/remodelling/report.hpp"

#include <ossatura/core/base/exact_digits.hpp>

namespace ossatura {

namespace {

/// Rows of the table: more are in the file.
constexpr std::size_t most_rows = 12;

} // namespace

RemodellingFile::RemodellingFile(const std::string& path)
    : file_(path, "step,mass,mean_density,mean_stimulus,forming,resorbing,at_least,at_most,"
                  "mean_change,strain_energy,stiffness,iterations,residual") {}

void RemodellingFile::add(int number, const RemodellingStep& step) {
  const RemodellingState& s = step.state;
  std::string line = std::to_string(number);
  for (const double value : {step.mass, s.mean_density, s.mean_stimulus, s.forming, s.resorbing,
                             s.at_least, s.at_most, s.mean_change, step.strain_energy})
    line += "," + exact_digits(value);
  const std::optional<double> stiffness = step.response ? step.response->stiffness : std::nullopt;
  line += stiffness ? "," + exact_digits(*stiffness) : ",";
  file_.line(line + "," + std::to_string(step.iterations) + "," + exact_digits(step.residual));
}

void add_remodelling(Table& table, const RemodellingResults& results) {
  table.section("Remodelling (lazy zone " +
                format_number((1 - results.law.lazy) * results.law.stimulus) + " to " +
                format_number((1 + results.law.lazy) * results.law.stimulus) + " J/g)");
  std::vector<std::vector<std::string>> rows;
  const std::size_t count = results.steps.size(), stride = (count + most_rows - 1) / most_rows;
  for (std::size_t n = 0; n < count; ++n) {
    if (n % stride != 0 && n + 1 != count)
      continue;
    const RemodellingStep& step = results.steps[n];
    const RemodellingState& s = step.state;
    rows.push_back({std::to_string(n), format_number(step.mass, 5),
                    format_number(s.mean_density, 4), format_number(s.mean_stimulus, 4),
                    format_number(s.forming, 3), format_number(s.resorbing, 3),
                    format_number(step.strain_energy, 5), std::to_string(step.iterations)});
  }
  table.columns({"step", "mass g", "density g/cm3", "stimulus J/g", "forming", "resorbing",
                 "energy N mm", "iterations"},
                rows);
}

nlohmann::ordered_json remodelling_json(const RemodellingResults& results) {
  const RemodellingLaw& law = results.law;
  nlohmann::ordered_json json = {{"coefficient", law.coefficient},
                                 {"exponent", law.exponent},
                                 {"stimulus", law.stimulus},
                                 {"lazy", law.lazy},
                                 {"rate", law.rate},
                                 {"range", {law.least, law.most}},
                                 {"asked_steps", results.num_steps},
                                 {"steps", nlohmann::ordered_json::array()}};
  for (const RemodellingStep& step : results.steps) {
    const RemodellingState& s = step.state;
    json["steps"].push_back({{"mass", step.mass},
                             {"mean_density", s.mean_density},
                             {"mean_stimulus", s.mean_stimulus},
                             {"forming", s.forming},
                             {"resorbing", s.resorbing},
                             {"at_least", s.at_least},
                             {"at_most", s.at_most},
                             {"mean_change", s.mean_change},
                             {"strain_energy", step.strain_energy},
                             {"iterations", step.iterations},
                             {"residual", step.residual}});
    if (step.response && step.response->stiffness)
      json["steps"].back()["stiffness"] = *step.response->stiffness;
  }
  return json;
}

} // namespace ossatura
