// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/output/history.hpp"

#include "apps/topopt/output/results.hpp"
#include <ossatura/core/base/exact_digits.hpp>

#include <cstdio>

namespace ossatura {

namespace {

std::string head(std::size_t num_cases, std::size_t num_limits, int num_frequencies,
                 bool has_grids) {
  std::string text = "step,objective";
  for (std::size_t i = 0; i < num_cases; ++i)
    text += ",case_" + std::to_string(i);
  for (std::size_t j = 0; j < num_limits; ++j) {
    const std::string name = ",constraint_" + std::to_string(j);
    text += name + name + "_limit" + name + "_holds";
  }
  for (int i = 1; i <= num_frequencies; ++i)
    text += ",frequency_" + std::to_string(i);
  return text +
         ",volume,change,grey,penalty,sharpness,iterations,residual,prepare,solve,gradient,"
         "update,seconds" +
         (has_grids ? ",elements" : "");
}

} // namespace

DesignHistory::DesignHistory(const std::string& path, std::size_t num_cases,
                             const std::vector<DesignLimit>& limits, int num_frequencies,
                             bool has_grids)
    : file_(path, head(num_cases, limits.size(), num_frequencies, has_grids))
    , has_grids_(has_grids) {
  for (const DesignLimit& one : limits)
    limit_.push_back(one.limit);
}

void DesignHistory::add(const DesignStep& step, std::int64_t num_elem) {
  const auto exact = [](double value) { return "," + exact_digits(value); };
  char text[64];
  const auto brief = [&text](const char* format, double value) {
    std::snprintf(text, sizeof text, format, value);
    return std::string(text);
  };
  std::string line = std::to_string(step.number) + exact(step.objective);
  for (const double value : step.cases)
    line += exact(value);
  for (std::size_t j = 0; j < step.limits.size(); ++j)
    line += exact(step.limits[j].value) + exact(limit_[j]) + (step.limits[j].holds() ? ",1" : ",0");
  for (const double value : step.frequencies)
    line += exact(value);
  for (const double value : {step.volume, step.change, step.grey, step.penalty, step.sharpness})
    line += exact(value);
  line += "," + std::to_string(iterations_of(step)) + brief(",%.6e", residual_of(step));
  for (const double value : {step.seconds_prepare, step.seconds_solve, step.seconds_gradient,
                             step.seconds_update, seconds_of(step)})
    line += brief(",%.9f", value);
  if (has_grids_)
    line += "," + std::to_string(num_elem);
  file_.line(line);
}

} // namespace ossatura
