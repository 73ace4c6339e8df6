// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/statistics.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

std::vector<double> quantiles(std::vector<double>& values, const std::vector<double>& q) {
  OSSATURA_REQUIRE(!values.empty(), "quantiles of nothing");
  std::vector<double> found;
  auto sorted_end = values.begin(); // what is before is no greater than what is after
  double previous = 0;
  for (const double rank : q) {
    OSSATURA_REQUIRE(rank >= previous && rank <= 1, "quantile " << rank << " after " << previous);
    previous = rank;
    const double place = rank * static_cast<double>(values.size() - 1);
    const auto below = values.begin() + static_cast<std::ptrdiff_t>(std::floor(place));
    std::nth_element(sorted_end, below, values.end());
    sorted_end = below;
    const double fraction = place - std::floor(place);
    double value = *below;
    if (fraction > 0)
      value += fraction * (*std::min_element(below + 1, values.end()) - value);
    found.push_back(value);
  }
  return found;
}

SampleStatistics summarise(std::vector<double>& values) {
  OSSATURA_REQUIRE(!values.empty(), "statistics of nothing");
  SampleStatistics statistics;
  const double count = static_cast<double>(values.size());
  statistics.count = static_cast<std::int64_t>(values.size());
  double sum = 0;
  for (const double value : values)
    sum += value;
  statistics.mean = sum / count;
  double squares = 0;
  for (const double value : values)
    squares += (value - statistics.mean) * (value - statistics.mean);
  statistics.standard_deviation = std::sqrt(squares / count);
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  statistics.minimum = *least;
  statistics.maximum = *greatest;
  std::vector<double> ranks;
  for (const double percent : percentile_ranks)
    ranks.push_back(percent / 100);
  statistics.percentiles = quantiles(values, ranks);
  return statistics;
}

Histogram make_histogram(const std::vector<double>& values, int bins) {
  OSSATURA_REQUIRE(!values.empty() && bins > 0, values.size() << " values in " << bins << " bins");
  Histogram histogram;
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  histogram.lower = *least;
  histogram.upper = *greatest;
  histogram.count.assign(static_cast<std::size_t>(bins), 0);
  const double width = (histogram.upper - histogram.lower) / bins;
  for (const double value : values) {
    const int bin = width > 0 ? static_cast<int>((value - histogram.lower) / width) : 0;
    ++histogram.count[static_cast<std::size_t>(std::clamp(bin, 0, bins - 1))];
  }
  return histogram;
}

} // namespace ossatura
