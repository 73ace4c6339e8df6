// SPDX-License-Identifier: Apache-2.0
// Tests run with OMP_PROC_BIND=false; tests/apps/processor_binding.py has runs where OpenMP binds.
#include "tests/catch.hpp"
#include <ossatura/core/machine/processor_binding.hpp>
#include <ossatura/core/machine/processors.hpp>

#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

using namespace ossatura;

TEST_CASE("where OpenMP binds no threads, there are no bound processors", "[processor_binding]") {
  CHECK(bound_processors() == 0);
}

#if defined(__linux__)
TEST_CASE("a thread that its program has bound stays bound", "[processor_binding]") {
  bool bound = false;
  int available = 0;
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(std::size_t(sched_getcpu()), &one);
    bound = sched_setaffinity(0, sizeof one, &one) == 0;
    unbind_thread();
    available = available_processors();
  }).join();
  REQUIRE(bound);
  CHECK(available == 1);
}
#endif
