// SPDX-License-Identifier: Apache-2.0
// These functions time work between fences and set the counters that every row carries.
#pragma once

#include "bench/harness/ceilings.hpp"
#include "bench/harness/outcome.hpp"
#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/base/timer.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

namespace ossatura::bench {

/// Marks the row as wrong; the process then ends with an error. Its loop must not be entered
/// afterwards.
inline void fail_benchmark(benchmark::State& state, const std::string& reason) {
  outcomes().failed.insert(outcomes().row);
  outcomes().reason[outcomes().row] = reason;
  state.SkipWithError(reason.c_str());
}

/// Marks the row as one that cannot be run here, which is no failure.
inline void skip_benchmark(benchmark::State& state, const std::string& reason) {
  outcomes().reason.insert({outcomes().row, reason});
  state.SkipWithError(("skipped: " + reason).c_str());
}

/// Time that the calls of a repetition add up to at the least; add_row sets it.
inline double& least_seconds() {
  static double seconds = 0;
  return seconds;
}

/// Calls `once()`, which returns the seconds it took, until the least time is reached. Returns
/// their mean, or that of each of the `parts` of which a call consists: the time of the repetition.
template<class Once>
double time_calls(benchmark::State& state, const Once& once, int parts = 1) {
  double mean = 0;
  for (auto _ : state) {
    double total = 0;
    std::int64_t calls = 0;
    do {
      total += once();
      ++calls;
    } while (total < least_seconds());
    mean = total / double(calls * parts);
    state.SetIterationTime(mean);
    state.counters["calls"] = double(calls * parts);
  }
  return mean;
}

/// Seconds of `calls` calls of `work`, which launches on `exec`, with a fence before and after all.
template<class Exec, class Work>
double timed(const Exec& exec, const Work& work, int calls = 1) {
  fence(exec, "ossatura::bench::before");
  const Stopwatch watch;
  for (int call = 0; call < calls; ++call)
    work();
  fence(exec, "ossatura::bench::after");
  return watch.seconds();
}

/// time_calls of `work`, which launches on `exec`, after one run that is not counted.
template<class Exec, class Work>
double time_iterations(benchmark::State& state, const Exec& exec, const Work& work) {
  work();
  return time_calls(state, [&] { return timed(exec, work); });
}

/// The least a kernel has to do, by a model stated where it is filled in.
struct Cost {
  double dofs = 0;
  double bytes = 0; ///< read and written
  double flops = 0; ///< a multiply-add is two
};

/// Counters of bytes and flops in `seconds`: rates, and fractions of the ceilings of the backend,
/// of multiply-adds in precision Scalar. Those of plots, too.
template<class Exec, class Scalar>
void report_rates(benchmark::State& state, double bytes, double flops, double seconds) {
  const Ceilings& best = ceilings<Exec>();
  const double fma = sizeof(Scalar) == 8 ? best.fma_rate_f64 : best.fma_rate_f32;
  const double of_copy = bytes / seconds / best.copy_rate, of_fma = flops / seconds / fma;
  state.counters["GB/s"] = 1e-9 * bytes / seconds;
  state.counters["GFLOP/s"] = 1e-9 * flops / seconds;
  state.counters["flops/byte"] = flops / bytes;
  state.counters["of_copy"] = of_copy;
  state.counters["of_fma"] = of_fma;
  state.counters["of_ceiling"] = std::max(of_copy, of_fma);
}

/// Counters of a kernel that took `seconds`.
template<class Exec, class Scalar>
void report(benchmark::State& state, const Cost& cost, double seconds) {
  state.counters["dofs"] = cost.dofs;
  state.counters["dofs/s"] = cost.dofs / seconds;
  state.counters["bytes/dof"] = cost.bytes / cost.dofs;
  state.counters["flops/dof"] = cost.flops / cost.dofs;
  report_rates<Exec, Scalar>(state, cost.bytes, cost.flops, seconds);
}

} // namespace ossatura::bench
