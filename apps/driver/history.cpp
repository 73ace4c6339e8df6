// SPDX-License-Identifier: BSD-3-Clause
#include "apps/driver/history.hpp"

#include "core/require.hpp"

#include <limits>

namespace femura {

HistoryWriter::HistoryWriter(const std::string& path)
    : file_(path)
    , stream_(file_.temporary_path()) {
  stream_.precision(std::numeric_limits<double>::max_digits10);
  stream_ << "seconds,load_case,iteration,relative_residual\n";
}

void HistoryWriter::add(double seconds, int load_case, int iteration, double residual) {
  stream_ << seconds << ',' << load_case << ',' << iteration << ',' << residual << '\n';
}

void HistoryWriter::commit() {
  stream_.close();
  if (!stream_)
    fail<InputError>(file_.path(), ": cannot be written; is the disk full?");
  file_.commit();
}

} // namespace femura
