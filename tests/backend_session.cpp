// SPDX-License-Identifier: Apache-2.0
// Kokkos lives from the first test to the last, not while tests are only listed.
#define CATCH_CONFIG_EXTERNAL_INTERFACES // listeners, in Catch2 version 2
#include "tests/catch.hpp"
#include <ossatura/core/base/backend.hpp>

#include <cstdio>
#include <cstdlib>

namespace {

#if defined(CATCH_VERSION_MAJOR) && CATCH_VERSION_MAJOR < 3
using Listener = Catch::TestEventListenerBase;
#else
using Listener = Catch::EventListenerBase;
#endif

/// Exit status that CTest reports as "skipped"; tests/CMakeLists.txt knows it.
constexpr int skipped = 77;

struct BackendSession : Listener {
  using Listener::Listener;

  void testRunStarting(const Catch::TestRunInfo&) override {
#if defined(KOKKOS_ENABLE_CUDA)
    int num_devices = 0;
    if (cudaGetDeviceCount(&num_devices) != cudaSuccess || num_devices == 0) {
      std::puts("skipped: this build starts CUDA, and there is no CUDA device here");
      std::exit(skipped);
    }
#endif
    Kokkos::initialize();
  }

  void testRunEnded(const Catch::TestRunStats&) override {
    Kokkos::finalize();
  }
};

} // namespace

CATCH_REGISTER_LISTENER(BackendSession)
