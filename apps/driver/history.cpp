// SPDX-License-Identifier: BSD-3-Clause
#include "apps/driver/history.hpp"

#include "core/require.hpp"

#include <cstdio>

namespace femura {

HistoryWriter::HistoryWriter(const std::string& path)
    : file_(path)
    , stream_(file_.temporary_path()) {
  stream_ << "seconds,load_case,iteration,relative_residual\n";
}

void HistoryWriter::add(double seconds, int load_case, int iteration, double residual) {
  char line[96];
  std::snprintf(line, sizeof line, "%.6f,%d,%d,%.9e\n", seconds, load_case, iteration, residual);
  stream_ << line;
}

void HistoryWriter::commit() {
  stream_.close();
  if (!stream_)
    fail<InputError>(file_.path(), ": cannot be written; is the disk full?");
  file_.commit();
}

} // namespace femura
