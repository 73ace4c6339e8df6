// SPDX-License-Identifier: Apache-2.0
// A job's summary is what `ossatura --timings --json` wrote: where its time went, and whether its
// result can be relied on.
#pragma once

#include <ossatura/core/base/names.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace ossatura::bench {

/// What a job does, one after the other.
enum class JobPart : std::uint8_t { read, setup, solve, statistics, write };

constexpr Names<JobPart> names_of(JobPart) {
  return {{JobPart::read, "read"},
          {JobPart::setup, "setup"},
          {JobPart::solve, "solve"},
          {JobPart::statistics, "statistics"},
          {JobPart::write, "write"}};
}

struct JobSummary {
  std::array<double, 5> seconds{}; ///< by JobPart: outermost regions
  double other_seconds = 0;        ///< of regions that belong to no part
  double region_seconds = 0;       ///< of all of these
  double iterations = 0;
  double host_peak_bytes = 0;
  double kokkos_peak_bytes = 0;
  double file_bytes = 0; ///< of all results but the summary
};

/// Reads the summary at `path`. Throws std::runtime_error with what is wrong where the run did not
/// reach what it was asked for, where a check of its certificate failed, or where one of its files
/// is not there as it was written.
JobSummary read_job_summary(const std::string& path);

/// What a run would take, from the summary of a dry run.
struct JobPrediction {
  double host_bytes = 0;
  double device_bytes = 0; ///< of the backend's memory
};
JobPrediction read_job_prediction(const std::string& path);

} // namespace ossatura::bench
