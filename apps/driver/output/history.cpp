// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/history.hpp"

#include <cstdio>

namespace ossatura {

HistoryWriter::HistoryWriter(const std::string& path)
    : file_(path, "seconds,load_case,iteration,recurrent_residual") {}

void HistoryWriter::add(double seconds, int load_case, int iteration, double residual) {
  char line[96];
  std::snprintf(line, sizeof line, "%.6f,%d,%d,%.9e", seconds, load_case, iteration, residual);
  file_.line(line);
}

} // namespace ossatura
