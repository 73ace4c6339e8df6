// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/history.hpp"

#include <cstdio>

namespace ossatura {

HistoryWriter::HistoryWriter(const std::string& path)
    : file_(path, "seconds,load_case,iteration,recurrent_residual") {}

void HistoryWriter::add(const HistoryLine& line) {
  char text[96];
  std::snprintf(text, sizeof text, "%.6f,%d,%d,%.9e", line.seconds, line.load_case, line.iteration,
                line.residual);
  file_.line(text);
}

} // namespace ossatura
