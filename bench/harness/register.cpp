// SPDX-License-Identifier: Apache-2.0
#include "bench/harness/register.hpp"

#include "bench/harness/interruption.hpp"
#include "bench/harness/kept.hpp"
#include "bench/harness/measure.hpp"
#include <ossatura/core/machine/kokkos_runtime.hpp>

namespace ossatura::bench {

namespace {

std::vector<std::string>& names() {
  static std::vector<std::string> list;
  return list;
}

std::vector<KeptBase*>& all_kept() {
  static std::vector<KeptBase*> list;
  return list;
}

void run_row(benchmark::State& state, const std::function<void(benchmark::State&)>& run) {
  try {
    run(state);
  } catch (const std::exception& error) {
    const bool does_not_fit =
        is_out_of_memory(error) || dynamic_cast<const BackendError*>(&error) != nullptr;
    if (does_not_fit)
      skip_benchmark(state, "does not fit: " + std::string(error.what()).substr(0, 200));
    else
      fail_benchmark(state, error.what());
    release_kept(); // what is half made, and memory for the next row
  }
}

} // namespace

void add_row(const Options& options, const std::string& name,
             const std::function<void(benchmark::State&)>& run, const RowTiming& timing) {
  if (options.wants && !options.wants(name))
    return;
  names().push_back(name);
  const double min_seconds = options.min_seconds;
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) {
                                 if (interruption() != nullptr && outcomes().row != name) {
                                   outcomes().left_out.insert(name);
                                   state.SkipWithError("left out");
                                   return;
                                 }
                                 outcomes().row = name;
                                 least_seconds() = min_seconds;
                                 run_row(state, run);
                               })
      ->UseManualTime()
      ->Iterations(timing.iterations)
      ->Repetitions(options.repetitions ? options.repetitions(name) : 1)
      ->Unit(timing.unit);
}

const std::vector<std::string>& row_names() {
  return names();
}

KeptBase::KeptBase() {
  all_kept().push_back(this);
}

void release_kept() {
  for (KeptBase* kept : all_kept())
    kept->release();
}

} // namespace ossatura::bench
