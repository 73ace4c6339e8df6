// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/machine/memory.hpp>

#include "tests/backend_test.hpp"
#include <ossatura/core/base/backend.hpp>

using namespace ossatura;

namespace {

SpaceMemory memory_of(const std::string& space) {
  for (const SpaceMemory& memory : memory_by_space())
    if (memory.space == space)
      return memory;
  return {};
}

} // namespace

OSSATURA_BACKEND_TEST("Kokkos allocations are counted per space, live and at their peak",
                      "[memory]") {
  using Exec = TestType;
  const std::string space = Exec::memory_space::name();
  const std::int64_t slack = 4096; // headers and rounding of Kokkos
  const Array<double, Exec> before("before", 100000);
  {
    const MemoryTracking tracking;
    CHECK(memory_of(space).live == 0);
    CHECK_THROWS_AS(MemoryTracking(), std::invalid_argument);
    {
      const Array<double, Exec> a("a", 1000000);
      const Array<double, Exec> same = a;
      { const Array<float, Exec> b("b", 1000000); }
      CHECK(memory_of(space).live >= 8000000);
      CHECK(memory_of(space).live <= 8000000 + slack);
    }
    CHECK(memory_of(space).live == 0);
    CHECK(memory_of(space).peak >= 12000000);
    CHECK(memory_of(space).peak <= 12000000 + 2 * slack);
    CHECK(peak_kokkos_bytes() >= memory_of(space).peak);
    reset_memory_peaks();
    CHECK(memory_of(space).peak == 0);
  }
  const Array<double, Exec> after("after", 1000);
  CHECK(memory_of(space).live == 0);
}

OSSATURA_BACKEND_TEST("the peak of the process covers what was touched", "[memory]") {
  const std::vector<char> touched(50000000, 1);
  CHECK(touched.back() == 1);
  CHECK(peak_host_bytes() >= 50000000);
  CHECK(available_host_bytes() > 0);
}

// [slow]: the address sanitizer keeps what was given back.
OSSATURA_BACKEND_TEST("the resident set falls when memory is given back", "[memory][slow]") {
  const std::int64_t before = resident_host_bytes();
  {
    const std::vector<char> touched(50000000, 1);
    CHECK(resident_host_bytes() >= before + 45000000); // some of before may have been given back
  }
  CHECK(resident_host_bytes() < before + 10000000);
  CHECK(peak_host_bytes() >= before + 45000000);
}
