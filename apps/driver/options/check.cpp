// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/options/check.hpp"

#include <ossatura/core/base/require.hpp>

#include <CLI/CLI.hpp>

#include <cmath>

namespace ossatura {

void require_at_least(const char* option, int value, int least) {
  if (value < least)
    fail<UsageError>(option, ' ', value, ": at least ", least);
}

void require_between(const char* option, std::optional<int> value, int least, int most) {
  if (value && (*value < least || *value > most))
    fail<UsageError>(option, ' ', *value, ": ", least, " to ", most);
}

void require_positive(const char* option, std::optional<double> value, const char* what) {
  if (value && !(*value > 0 && std::isfinite(*value)))
    fail<UsageError>(option, ' ', *value, ": ", what, ", greater than 0");
}

void require_fraction(const char* option, double value, const char* what) {
  if (!(value > 0 && value < 1))
    fail<UsageError>(option, ' ', value, ": ", what, ", greater than 0 and less than 1");
}

void require_distortion(std::optional<double> value) {
  if (value && !(*value >= 0 && *value <= 0.5))
    fail<UsageError>("--distort ", *value, ": part of an edge, 0 to 0.5");
}

void require_poisson(std::optional<double> value) {
  if (value && !(*value > -1 && *value < 0.5))
    fail<UsageError>("--poisson ", *value, ": greater than -1 and less than 0.5");
}

void require_effect(const CLI::App& app, const std::vector<OptionUse>& uses) {
  for (const OptionUse& use : uses)
    if (app.count(use.option) > 0 && !use.used)
      fail<UsageError>(use.option, " has no effect without ", use.remedy);
}

} // namespace ossatura
