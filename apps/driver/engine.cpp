// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/engine.hpp"

#include "apps/driver/interrupt.hpp"
#include "apps/driver/process_start.hpp"
#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/base/region_poll.hpp>
#include <ossatura/core/base/timer.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>
#include <ossatura/core/machine/processors.hpp>

#include <cstdio>

namespace ossatura {

namespace {

RuntimeOptions runtime_options(const CommonOptions& options) {
  RuntimeOptions runtime;
  runtime.threads = options.threads ? options.threads : options.rank_threads;
  if (options.backend == "serial")
    runtime.threads = 1; // Kokkos sets memory with OpenMP whichever backend is chosen
  runtime.device = options.device;
  runtime.warnings = options.log_level == LogLevel::verbose;
  return runtime;
}

} // namespace

DriverEngine::DriverEngine(const CommonOptions& options, const Communicator& world)
    : log_(stderr, options.log_level)
    , runtime_(runtime_options(options)) {
  set_io_threads(
      options.backend == "serial"
          ? 1
          : options.threads.value_or(options.rank_threads.value_or(available_processors())));
  keep_within_memory();
  set_commit_check([] { require_launches("before a file was written"); });
  region_timers().set_fencing(options.timings);
  note_interrupts(world.size() > 1);
}

DriverEngine::~DriverEngine() {
  set_region_poll(nullptr);
  set_commit_check(nullptr);
}

} // namespace ossatura
