// SPDX-License-Identifier: Apache-2.0
// The history writes a line of CSV for every step of a design.
#pragma once

#include "apps/driver/output/files/csv.hpp"
#include <ossatura/solvers/topopt/optimizer.hpp>

namespace ossatura {

/// Columns by their names in the first line, one `case_K` for each of `num_cases`; seconds for the
/// phases. Numbers are written so that they can be read back exactly.
class DesignHistory {
public:
  /// Throws InputError where `path` cannot be written.
  DesignHistory(const std::string& path, std::size_t num_cases);
  void add(const DesignStep& step);

private:
  CsvFile file_;
};

} // namespace ossatura
