// SPDX-License-Identifier: Apache-2.0
// The engine is what all runs of a process share: Kokkos, memory, the log and the handling of
// signals.
#pragma once

#include "apps/driver/options/common.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/comm/communicator.hpp>
#include <ossatura/core/machine/kokkos_runtime.hpp>
#include <ossatura/core/machine/memory.hpp>

namespace ossatura {

/// While it lives, Kokkos is initialized, its allocations are counted, a failure of the device
/// keeps files from being written, and a signal ends a run between two iterations.
class DriverEngine {
public:
  /// `world` are the ranks of the launcher. Throws BackendError where the backend cannot start.
  DriverEngine(const CommonOptions& options, const Communicator& world);
  ~DriverEngine();
  DriverEngine(const DriverEngine&) = delete;
  DriverEngine& operator=(const DriverEngine&) = delete;

  /// Messages and progress on stderr.
  StreamLog& log() { return log_; }

private:
  StreamLog log_;
  KokkosRuntime runtime_;
  MemoryTracking tracking_;
};

} // namespace ossatura
