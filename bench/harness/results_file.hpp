// SPDX-License-Identifier: Apache-2.0
// The results file receives the results as they come.
#pragma once

#include <ossatura/core/base/timer.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

namespace ossatura::bench {

/// A file in Google Benchmark's format that is whole at any time: written after a row, unless that
/// was done two seconds ago or less. Beside `context` and `benchmarks` it has `status` ("running",
/// "complete" or "interrupted") and `rows` with the numbers `planned` and `done`. Rows that a
/// signal left out are not in it.
class ResultsFile final : public benchmark::BenchmarkReporter {
public:
  ResultsFile(const std::string& path, std::size_t planned);
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;

  /// Throws InputError where it cannot be written.
  void write(const char* status);

private:
  std::string path_;
  std::size_t planned_;
  std::size_t done_ = 0;
  std::ostringstream text_;
  benchmark::JSONReporter json_;
  Stopwatch since_written_;
};

} // namespace ossatura::bench
