// SPDX-License-Identifier: Apache-2.0
// Statistics describe the distribution of a value over voxels of equal volume.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace ossatura {

/// The q-quantiles of `values` for ascending q in [0, 1]: value at place q (n - 1) of the sorted
/// values, linear in between (numpy's default). Reorders `values`, which are finite and not empty.
std::vector<double> quantiles(std::vector<double>& values, const std::vector<double>& q);

inline const std::vector<double> percentile_ranks = {5, 25, 50, 75, 90, 95, 98};

struct SampleStatistics {
  std::int64_t count = 0;
  double mean = 0, standard_deviation = 0; ///< of the sample as the whole population
  double minimum = 0, maximum = 0;
  std::vector<double> percentiles; ///< at percentile_ranks
};

/// Reorders `values`, which are finite and not empty.
SampleStatistics summarise(std::vector<double>& values);

/// Equal bins from lower to upper; what is equal to upper is in the last.
struct Histogram {
  double lower = 0, upper = 0;
  std::vector<std::int64_t> count;
};

/// The histogram of `values` from their least to their greatest.
Histogram make_histogram(const std::vector<double>& values, int bins);

} // namespace ossatura
