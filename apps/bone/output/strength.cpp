// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/output/strength.hpp"

#include <ossatura/core/base/exact_digits.hpp>

#include <cmath>

namespace ossatura {

namespace {

using Json = nlohmann::ordered_json;

/// An empty entry where the test has no such number.
std::string next_field(const std::optional<double>& value) {
  return value ? "," + exact_digits(*value) : ",";
}

std::string describe(const YieldLaw& law) {
  const std::string unit = law.are_strains ? " by the modulus" : " MPa";
  const std::string behind = law.criterion == YieldCriterion::damage
                                 ? "fracture energy " + format_number(law.fracture_energy) + " N/mm"
                             : law.hardening == 0
                                 ? "perfectly plastic"
                                 : "hardening " + format_number(law.hardening) + " of the modulus";
  const std::string yield = law.criterion == YieldCriterion::von_mises
                                ? "yield at " + format_number(law.compression) + unit
                                : "yield at " + format_number(law.tension) + " in tension, " +
                                      format_number(law.compression) + " in compression" + unit;
  return std::string(name_of(law.criterion)) + ", " + yield + ", " + behind;
}

Json to_json(const StrengthPoint& point, bool turns) {
  if (turns)
    return {{"angle", point.displacement}, {"moment", point.force}};
  return {{"strain", point.strain}, {"displacement", point.displacement}, {"force", point.force}};
}

Json to_json(const StrengthStep& step, bool breaks) {
  Json json = {{"factor", step.factor}};
  const auto add = [&json](const char* name, const std::optional<double>& value) {
    if (value)
      json[name] = *value;
  };
  if (step.response) {
    add("strain", step.response->strain);
    add("displacement", step.response->displacement);
    add("force", step.response->force);
    add("angle", step.response->angle);
    add("moment", step.response->moment);
  }
  json["external_work"] = step.external_work;
  json["elastic_energy"] = step.elastic_energy;
  if (breaks)
    json.update({{"dissipated_energy", step.dissipation},
                 {"damaged_fraction", step.changed_fraction},
                 {"broken_fraction", step.broken_fraction},
                 {"mean_damage", step.mean_change},
                 {"secant_iterations", step.newton_iterations}});
  else
    json.update({{"plastic_work", step.dissipation},
                 {"plastic_fraction", step.changed_fraction},
                 {"mean_plastic_strain", step.mean_change},
                 {"newton_iterations", step.newton_iterations}});
  json.update({{"iterations", step.cg_iterations},
               {"halvings", step.num_halvings},
               {"residual", step.residual},
               {"converged", step.converged}});
  return json;
}

} // namespace

double StrengthResults::load_left() const {
  if (!found || found->ultimate.force == 0 || !steps.back().response)
    return 1;
  const TestResponse& last = *steps.back().response;
  const double load = turns ? last.moment.value_or(0) : last.force.value_or(0);
  return std::abs(load / found->ultimate.force);
}

StrengthCurve::StrengthCurve(const std::string& path, YieldCriterion criterion)
    : breaks_(criterion == YieldCriterion::damage)
    , file_(path, std::string("step,factor,strain,displacement,force,angle,moment,external_work,"
                              "elastic_energy,") +
                      (breaks_ ? "dissipated_energy,damaged_fraction,broken_fraction,mean_damage,"
                                 "secant_iterations,"
                               : "plastic_work,plastic_fraction,mean_plastic_strain,"
                                 "newton_iterations,") +
                      "iterations,halvings,residual") {}

void StrengthCurve::add(int number, const StrengthStep& step) {
  const TestResponse response = step.response.value_or(TestResponse());
  std::string line = std::to_string(number);
  for (const std::optional<double>& value :
       {std::optional<double>(step.factor), response.strain, response.displacement, response.force,
        response.angle, response.moment, std::optional<double>(step.external_work),
        std::optional<double>(step.elastic_energy), std::optional<double>(step.dissipation),
        std::optional<double>(step.changed_fraction)})
    line += next_field(value);
  if (breaks_)
    line += next_field(step.broken_fraction);
  line += next_field(step.mean_change);
  for (const int count : {step.newton_iterations, step.cg_iterations, step.num_halvings})
    line += "," + std::to_string(count);
  file_.line(line + next_field(step.residual));
}

void add_strength(Table& table, const StrengthResults& strength) {
  table.section("Strength");
  table.row("law", describe(strength.law));
  int newton = 0;
  for (const StrengthStep& step : strength.steps)
    newton += step.newton_iterations;
  table.row("steps", counted(std::int64_t(strength.steps.size()), "step") + " of " +
                         std::to_string(strength.num_steps) + ", " + counted(newton, "iteration") +
                         (strength.breaks() ? " of the secant method" : " of Newton's method"));
  if (strength.first_step > 0)
    table.row("resumed", "after step " + std::to_string(strength.first_step));
  if (strength.steps.empty())
    return;
  const TestResponse& elastic = strength.elastic;
  if (elastic.stiffness)
    table.row("elastic stiffness", *elastic.stiffness, "N/mm");
  if (elastic.apparent_modulus)
    table.row("elastic apparent modulus", *elastic.apparent_modulus, "MPa");
  if (elastic.rotational_stiffness)
    table.row("elastic rotational stiffness", *elastic.rotational_stiffness, "N mm/rad");
  const StrengthStep& last = strength.steps.back();
  table.row(strength.breaks() ? "voxels with damage" : "voxels that yielded",
            format_number(100 * last.changed_fraction, 4), "%");
  if (strength.breaks())
    table.row("voxels that broke", format_number(100 * last.broken_fraction, 4), "%");
  table.row("work done", last.external_work, "N mm");
  table.row(strength.breaks() ? "of which dissipated" : "of which plastic", last.dissipation,
            "N mm");
  if (!strength.found)
    return;
  const StrengthFindings& found = *strength.found;
  const auto at = [](const StrengthPoint& point) {
    return " at a strain of " + format_number(point.strain, 4);
  };
  if (found.yield)
    table.row("yield load", format_number(found.yield->force) + " N" + at(*found.yield) +
                                ", offset " + format_number(100 * strength.offset) + " %");
  else if (found.is_yield_coarse())
    table.row("yield load", "between " + format_number(found.yield_between[0], 3) + " and " +
                                format_number(found.yield_between[1], 3) + " N");
  else if (!strength.turns)
    table.row("yield load", "not reached");
  table.row(
      strength.turns ? "ultimate moment" : "ultimate load",
      format_number(found.ultimate.force) +
          (strength.turns ? " N mm at " + format_number(found.ultimate.displacement) + " radians"
                          : " N" + at(found.ultimate)) +
          (found.still_rises ? ", still rising" : "") +
          (found.is_ultimate_coarse() ? ", at most " + format_number(found.ultimate_between[1], 3) +
                                            " within the step where it drops"
                                      : ""));
}

Json strength_json(const StrengthResults& strength) {
  const YieldLaw& law = strength.law;
  Json json = {
      {"criterion", name_of(law.criterion)},  {"yields_at", law.are_strains ? "strain" : "stress"},
      {"yield_compression", law.compression}, {"yield_tension", law.tension},
      {"hardening", law.hardening},           {"yield_offset", strength.offset},
      {"asked_steps", strength.num_steps},    {"first_step", strength.first_step}};
  if (strength.breaks())
    json["fracture_energy"] = law.fracture_energy;
  const auto add = [&json](const char* name, const std::optional<double>& value) {
    if (value)
      json[name] = *value;
  };
  add("stiffness", strength.elastic.stiffness);
  add("apparent_modulus", strength.elastic.apparent_modulus);
  add("rotational_stiffness", strength.elastic.rotational_stiffness);
  if (strength.found) {
    if (strength.found->yield)
      json["yield"] = to_json(*strength.found->yield, strength.turns);
    if (strength.found->is_yield_coarse())
      json["yield_between"] = strength.found->yield_between; // without a sign
    json["ultimate"] = to_json(strength.found->ultimate, strength.turns);
    if (strength.found->is_ultimate_coarse())
      json["ultimate_between"] = strength.found->ultimate_between;
    json["still_rises"] = strength.found->still_rises;
  }
  json["steps"] = Json::array();
  for (const StrengthStep& step : strength.steps)
    json["steps"].push_back(to_json(step, strength.breaks()));
  return json;
}

} // namespace ossatura
