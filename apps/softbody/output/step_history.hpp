// SPDX-License-Identifier: Apache-2.0
// The step history writes a line of CSV for every step.
#pragma once

#include "apps/driver/output/files/csv.hpp"
#include "apps/softbody/output/results.hpp"

namespace ossatura {

/// Columns by their names in the first line; seconds for the phases, J for energies. Numbers are
/// written so that they can be read back exactly.
class StepHistory {
public:
  /// Throws InputError where `path` cannot be written.
  explicit StepHistory(const std::string& path);
  /// The state that the run starts from.
  void start(int step, double time, const SoftEnergy& energy);
  void add(const SoftStepRecord& record);

private:
  CsvFile file_;
};

} // namespace ossatura
