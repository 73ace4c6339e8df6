// SPDX-License-Identifier: Apache-2.0
// Steps of remodelling, as rows of a file, as a part of the table and of the summary.
#pragma once

#include "apps/driver/output/files/csv.hpp"
#include "apps/driver/output/table.hpp"
#include <ossatura/solvers/bone/remodelling.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace ossatura {

struct RemodellingResults {
  RemodellingLaw law;
  int num_steps = 0;                  ///< that were asked for
  std::vector<RemodellingStep> steps; ///< from the first state on; one more than were taken
};

/// A line of CSV for each state, with numbers that can be read back exactly.
class RemodellingFile {
public:
  /// Throws InputError where `path` cannot be written.
  explicit RemodellingFile(const std::string& path);
  void add(int number, const RemodellingStep& step);

private:
  CsvFile file_;
};

void add_remodelling(Table& table, const RemodellingResults& results);

nlohmann::ordered_json remodelling_json(const RemodellingResults& results);

} // namespace ossatura
