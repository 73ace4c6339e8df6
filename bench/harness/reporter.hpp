// SPDX-License-Identifier: Apache-2.0
// The reporter prints a line for each row of ossatura_bench.
#pragma once

#include "bench/harness/plan.hpp"
#include <ossatura/core/base/timer.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace ossatura::bench {

/// Medians over the repetitions, the spread of the time (largest minus smallest, over the median),
/// and the counters that matter most; all of them are in the JSON. Why a row failed or was skipped
/// (outcome.hpp). Before each group, what is left of the plan.
class Reporter final : public benchmark::BenchmarkReporter {
public:
  explicit Reporter(Plan& plan)
      : plan_(plan) {}
  bool ReportContext(const Context& context) override;
  void ReportRuns(const std::vector<Run>& runs) override;
  /// What each group took in all, s: models, verification, warm-up and repetitions.
  void print_times() const;

private:
  void print_row(const std::string& name, const std::vector<Run>& runs);
  void print_progress() const;

  Plan& plan_;
  Stopwatch since_last_row_;
  std::vector<std::pair<std::string, double>> group_seconds_;
  std::size_t width_ = 0;
};

} // namespace ossatura::bench
