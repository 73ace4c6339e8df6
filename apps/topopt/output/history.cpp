// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/output/history.hpp"

#include "apps/topopt/output/results.hpp"

#include <cstdio>

namespace ossatura {

namespace {

std::string head(std::size_t num_cases) {
  std::string text = "step,objective";
  for (std::size_t i = 0; i < num_cases; ++i)
    text += ",case_" + std::to_string(i);
  return text + ",volume,change,grey,penalty,sharpness,iterations,residual,prepare,solve,gradient,"
                "update,seconds";
}

} // namespace

DesignHistory::DesignHistory(const std::string& path, std::size_t num_cases)
    : file_(path, head(num_cases)) {}

void DesignHistory::add(const DesignStep& step) {
  char text[64];
  const auto exact = [&text](double value) {
    std::snprintf(text, sizeof text, ",%.17g", value);
    return std::string(text);
  };
  const auto brief = [&text](const char* format, double value) {
    std::snprintf(text, sizeof text, format, value);
    return std::string(text);
  };
  std::string line = std::to_string(step.number) + exact(step.objective);
  for (const double value : step.cases)
    line += exact(value);
  for (const double value : {step.volume, step.change, step.grey, step.penalty, step.sharpness})
    line += exact(value);
  line += "," + std::to_string(iterations_of(step)) + brief(",%.6e", residual_of(step));
  for (const double value : {step.seconds_prepare, step.seconds_solve, step.seconds_gradient,
                             step.seconds_update, seconds_of(step)})
    line += brief(",%.9f", value);
  file_.line(line);
}

} // namespace ossatura
