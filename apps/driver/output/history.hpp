// SPDX-License-Identifier: Apache-2.0
// The history writes the residual of each iteration as CSV.
#pragma once

#include "apps/driver/output/files/csv.hpp"

namespace ossatura {

struct HistoryLine {
  double seconds;
  int load_case, iteration;
  double residual;
};

/// Columns: seconds since the start of the run, the load case (0, 1, ...), its iteration, and its
/// relative residual.
class HistoryWriter {
public:
  /// Throws InputError where `path` cannot be written.
  explicit HistoryWriter(const std::string& path);
  void add(const HistoryLine& line);

private:
  CsvFile file_;
};

} // namespace ossatura
