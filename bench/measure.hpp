// SPDX-License-Identifier: Apache-2.0
// Timing with fences, and the counters every row carries.
#pragma once

#include "bench/ceilings.hpp"
#include "core/backend.hpp"
#include "core/timer.hpp"

#include <benchmark/benchmark.h>

#include <string>

namespace femura::bench {

/// Benchmarks that failed so far; the process then ends with an error.
inline int& num_failures() {
  static int count = 0;
  return count;
}

/// Marks the benchmark as failed. Its loop must not be entered afterwards.
inline void fail_benchmark(benchmark::State& state, const std::string& reason) {
  ++num_failures();
  state.SkipWithError(reason.c_str());
}

/// Runs `body(state)`; an exception fails the benchmark and not the others.
template<class Body>
void guarded(benchmark::State& state, const Body& body) {
  try {
    body(state);
  } catch (const std::exception& error) {
    fail_benchmark(state, error.what());
  }
}

/// Times `work()`, which launches on `exec`, once per iteration, after one run that is not counted.
/// Returns the mean seconds.
template<class Exec, class Work>
double time_iterations(benchmark::State& state, const Exec& exec, const Work& work) {
  work();
  double total = 0;
  for (auto _ : state) {
    fence(exec, "femura::bench::before");
    const Stopwatch watch;
    work();
    fence(exec, "femura::bench::after");
    const double seconds = watch.seconds();
    state.SetIterationTime(seconds);
    total += seconds;
  }
  return total / double(state.iterations());
}

/// The least a kernel has to do, by a model stated where it is filled in.
struct Cost {
  double dofs = 0;
  double bytes = 0; ///< read and written
  double flops = 0; ///< a multiply-add is two
};

/// Counters of a kernel that took `seconds`: rates, and fractions of the ceilings of its backend.
template<class Exec, class Scalar>
void report(benchmark::State& state, const Cost& cost, double seconds) {
  const Ceilings& best = ceilings<Exec>();
  const double fma = sizeof(Scalar) == 8 ? best.fma_rate_f64 : best.fma_rate_f32;
  state.counters["dofs"] = cost.dofs;
  state.counters["dofs/s"] = cost.dofs / seconds;
  state.counters["bytes/dof"] = cost.bytes / cost.dofs;
  state.counters["flops/dof"] = cost.flops / cost.dofs;
  state.counters["GB/s"] = 1e-9 * cost.bytes / seconds;
  state.counters["GFLOP/s"] = 1e-9 * cost.flops / seconds;
  state.counters["of_copy"] = cost.bytes / seconds / best.copy_rate;
  state.counters["of_fma"] = cost.flops / seconds / fma;
}

} // namespace femura::bench
