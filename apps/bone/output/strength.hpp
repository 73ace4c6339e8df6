// SPDX-License-Identifier: Apache-2.0
// Results of a test beyond yield, as rows of a file, as a part of the table and of the summary.
#pragma once

#include "apps/driver/output/files/csv.hpp"
#include "apps/driver/output/table.hpp"
#include <ossatura/solvers/bone/strength.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace ossatura {

struct StrengthResults {
  YieldLaw law;
  double offset = 0; ///< of the yield load, strain
  int num_steps = 0; ///< that were asked for
  std::vector<StrengthStep> steps;
  std::optional<StrengthFindings> found;
  bool turns = false;          ///< the curve is of moment over angle
  int first_step = 0;          ///< of `steps`, those of the checkpoint
  bool has_checkpoint = false; ///< to go on from
  TestResponse elastic{};      ///< to the whole displacement, without yield
  /// Whether steps were tried: the elastic solve has converged.
  bool followed() const { return elastic.height > 0; }

  bool breaks() const { return law.criterion == YieldCriterion::damage; }
  /// Of the largest force or moment, the part that is left at the last step.
  double load_left() const;
  double energy_error() const { return steps.empty() ? 0 : steps.back().energy_error(); }
};

/// A line of CSV for each step, with numbers that can be read back exactly.
class StrengthCurve {
public:
  /// Throws InputError where `path` cannot be written.
  StrengthCurve(const std::string& path, YieldCriterion criterion);
  void add(int number, const StrengthStep& step);

private:
  bool breaks_;
  CsvFile file_;
};

void add_strength(Table& table, const StrengthResults& strength);

nlohmann::ordered_json strength_json(const StrengthResults& strength);

} // namespace ossatura
