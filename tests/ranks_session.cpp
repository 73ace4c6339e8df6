// SPDX-License-Identifier: Apache-2.0
// MPI and Kokkos live from the first test to the last. A rank that fails a test ends all: others
// would wait for it.
#define CATCH_CONFIG_EXTERNAL_INTERFACES // listeners, in Catch2 version 2
#include "tests/catch.hpp"
#include <ossatura/core/base/backend.hpp>
#include <ossatura/core/comm/communicator.hpp>

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace {

#if defined(CATCH_VERSION_MAJOR) && CATCH_VERSION_MAJOR < 3
using Listener = Catch::TestEventListenerBase;
#else
using Listener = Catch::EventListenerBase;
#endif

/// Exit status that CTest reports as "skipped"; cmake/OssaturaTest.cmake knows it.
constexpr int skipped = 77;

struct RanksSession : Listener {
  using Listener::Listener;

  void testRunStarting(const Catch::TestRunInfo&) override {
    const ossatura::Communicator world = ossatura::Communicator::world();
#if defined(KOKKOS_ENABLE_CUDA)
    int num_devices = 0;
    if (cudaGetDeviceCount(&num_devices) != cudaSuccess || num_devices == 0) {
      std::puts("skipped: this build starts CUDA, and there is no CUDA device here");
      std::exit(skipped);
    }
    Kokkos::initialize(
        Kokkos::InitializationSettings().set_device_id(world.rank_on_node() % num_devices));
#else
    Kokkos::initialize();
#endif
  }

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (stats.totals.assertions.failed == 0)
      return;
    const ossatura::Communicator world = ossatura::Communicator::world();
    std::cout << "failed on rank " << world.rank() << " of " << world.size() << std::endl;
    if (world.size() > 1)
      world.abort(1);
  }

  void testRunEnded(const Catch::TestRunStats&) override {
    Kokkos::finalize();
  }
};

} // namespace

CATCH_REGISTER_LISTENER(RanksSession)
