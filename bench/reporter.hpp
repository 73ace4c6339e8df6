// SPDX-License-Identifier: Apache-2.0
// What femura_bench prints: a line for each row.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <vector>

namespace femura::bench {

/// Medians over the repetitions, the spread of the time (largest minus smallest, over the median),
/// and the counters that matter most; all of them are in the JSON. Why a row failed or was skipped
/// (outcome.hpp).
class Reporter final : public benchmark::BenchmarkReporter {
public:
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  /// How many rows were reported.
  std::size_t num_rows() const { return num_rows_; }

private:
  std::string group_;
  std::size_t width_ = 0, num_rows_ = 0;
};

} // namespace femura::bench
