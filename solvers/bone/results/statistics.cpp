// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/results/statistics.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/algebra/sorting/select.hpp>

#include <cmath>

namespace ossatura {

namespace {

template<class Exec>
struct AddValue {
  Array<float, Exec> x;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double* sum) const { *sum += x(i); }
};

template<class Exec>
struct AddSquare {
  Array<float, Exec> x;
  double mean;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double* sum) const {
    const double d = x(i) - mean;
    *sum += d * d;
  }
};

template<class Exec>
struct CountBins {
  Array<float, Exec> x;
  double lower, width;
  int bins;
  Array<std::int64_t, Exec> count;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int bin = width > 0 ? int((x(i) - lower) / width) : 0;
    Kokkos::atomic_inc(&count(bin < bins ? bin : bins - 1));
  }
};

} // namespace

template<class Exec>
std::vector<double> quantiles(const Exec& exec, const Array<float, Exec>& values,
                              const std::vector<double>& q, const Communicator& comm) {
  const std::int64_t n = comm.sum(std::int64_t(values.extent(0)));
  OSSATURA_REQUIRE(n > 0, "quantiles of nothing");
  std::vector<std::int64_t> places; // below and above
  std::vector<double> fraction;
  for (const double rank : q) {
    OSSATURA_REQUIRE(rank >= 0 && rank <= 1, "quantile " << rank);
    const double place = rank * double(n - 1);
    const std::int64_t below = std::int64_t(place);
    fraction.push_back(place - double(below));
    places.push_back(below);
    places.push_back(fraction.back() > 0 ? below + 1 : below);
  }
  const std::vector<float> at = select_sorted(exec, values, places, comm);
  std::vector<double> found;
  for (std::size_t i = 0; i < q.size(); ++i) {
    const double below = at[2 * i], above = at[2 * i + 1];
    found.push_back(below + fraction[i] * (above - below));
  }
  return found;
}

template<class Exec>
SampleStatistics summarise(const Exec& exec, const SharedEntries& entries,
                           const Array<float, Exec>& values) {
  std::vector<double> ranks = {0, 1};
  for (const double percent : percentile_ranks)
    ranks.push_back(percent / 100);
  const std::vector<double> found = quantiles(exec, values, ranks, entries.comm);
  SampleStatistics statistics;
  statistics.count = entries.comm.sum(entries.count());
  statistics.minimum = found[0];
  statistics.maximum = found[1];
  statistics.percentiles.assign(found.begin() + 2, found.end());
  const double count = double(statistics.count);
  statistics.mean = sum_in_groups<1>(exec, entries, AddValue<Exec>{values})[0] / count;
  const double squares =
      sum_in_groups<1>(exec, entries, AddSquare<Exec>{values, statistics.mean})[0];
  statistics.standard_deviation = std::sqrt(squares / count);
  return statistics;
}

template<class Exec>
Histogram make_histogram(const Exec& exec, const Array<float, Exec>& values, int bins,
                         const Communicator& comm) {
  OSSATURA_REQUIRE(bins > 0, bins << " bins");
  const std::vector<double> ends = quantiles(exec, values, {0, 1}, comm);
  Histogram histogram;
  histogram.lower = ends[0];
  histogram.upper = ends[1];
  const double width = (histogram.upper - histogram.lower) / bins;
  const auto count = make_zeros<std::int64_t>(exec, bins, "ossatura::histogram");
  Kokkos::parallel_for("ossatura::make_histogram", range(exec, values.extent(0)),
                       CountBins<Exec>{values, histogram.lower, width, bins, count});
  histogram.count.assign(std::size_t(bins), 0);
  const std::vector<std::int64_t> of_all = comm.gather(download(exec, count));
  for (std::size_t i = 0; i < of_all.size(); ++i)
    histogram.count[i % std::size_t(bins)] += of_all[i];
  return histogram;
}

#define OSSATURA_INSTANTIATE(Exec)                                                                 \
  template std::vector<double> quantiles(const Exec&, const Array<float, Exec>&,                   \
                                         const std::vector<double>&, const Communicator&);         \
  template SampleStatistics summarise(const Exec&, const SharedEntries&,                           \
                                      const Array<float, Exec>&);                                  \
  template Histogram make_histogram(const Exec&, const Array<float, Exec>&, int,                   \
                                    const Communicator&);
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE)
#undef OSSATURA_INSTANTIATE

} // namespace ossatura
