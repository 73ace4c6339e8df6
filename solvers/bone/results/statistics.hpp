// SPDX-License-Identifier: Apache-2.0
// Statistics describe the distribution of a value over voxels of equal volume, of which the
// processes of a communicator may have some each: then all of them call these functions. They are
// computed where the values are; all fence, and are reproducible on a fixed backend and thread
// count.
#pragma once

#include <ossatura/kernels/algebra/reproducible_sums/shared.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace ossatura {

/// The q-quantiles of `values` for up to 16 q in [0, 1]: value at place q (n - 1) of the sorted
/// values, linear in between (numpy's default). Values are finite and there is one at least.
template<class Exec>
std::vector<double> quantiles(const Exec& exec, const Array<float, Exec>& values,
                              const std::vector<double>& q, const Communicator& comm = {});

inline const std::vector<double> percentile_ranks = {5, 25, 50, 75, 90, 95, 98};

struct SampleStatistics {
  std::int64_t count = 0;
  double mean = 0, standard_deviation = 0; ///< of the sample as the whole population
  double minimum = 0, maximum = 0;
  std::vector<double> percentiles; ///< at percentile_ranks
};

/// `values` are those of `entries`, finite, and there is one at least.
template<class Exec>
SampleStatistics summarise(const Exec& exec, const SharedEntries& entries,
                           const Array<float, Exec>& values);

/// Equal bins from lower to upper; what is equal to upper is in the last.
struct Histogram {
  double lower = 0, upper = 0;
  std::vector<std::int64_t> count;
};

/// The histogram of `values`, of which there is one at least, from their least to their greatest.
template<class Exec>
Histogram make_histogram(const Exec& exec, const Array<float, Exec>& values, int bins,
                         const Communicator& comm = {});

} // namespace ossatura
