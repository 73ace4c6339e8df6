// SPDX-License-Identifier: Apache-2.0
// The history writes a line of CSV for every step of a design.
#pragma once

#include "apps/driver/output/files/csv.hpp"
#include <ossatura/solvers/topopt/optimizer.hpp>

namespace ossatura {

/// Columns by their names in the first line, one `case_K` for each of `num_cases`, and for each
/// limit `constraint_J` with its limit and whether it holds (1 or 0), `frequency_1`, ... for each
/// of `num_frequencies`; seconds for the phases. With `has_grids` the last column, `elements`, says
/// of which grid a step was. Numbers are written so that they can be read back exactly.
class DesignHistory {
public:
  /// Throws InputError where `path` cannot be written.
  DesignHistory(const std::string& path, std::size_t num_cases,
                const std::vector<DesignLimit>& limits, int num_frequencies, bool has_grids);
  void add(const DesignStep& step, std::int64_t num_elem);

private:
  std::vector<double> limit_;
  CsvFile file_;
  bool has_grids_;
};

} // namespace ossatura
