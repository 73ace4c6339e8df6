// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/base/timer.hpp>

#include "tests/catch.hpp"

#include <stdexcept>
#include <thread>

using namespace ossatura;

namespace {

void sleep_ms(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

} // namespace

TEST_CASE("timed regions nest, count their calls and contain their children's time", "[timer]") {
  region_timers().clear();
  {
    const TimedScope solve("solve");
    for (int i = 0; i < 3; ++i) {
      const TimedScope smooth("smooth");
      sleep_ms(2);
    }
    const TimedScope restrict("restrict");
  }
  {
    const TimedScope write("write");
    const TimedScope smooth("smooth"); // another place: another region
  }
  {
    const TimedScope solve("solve");
    const TimedScope smooth("smooth");
  }
  const std::vector<TimedRegion> regions = region_timers().regions();
  REQUIRE(regions.size() == 5);
  CHECK(regions[0].name == "solve");
  CHECK(regions[0].calls == 2);
  CHECK(regions[1].name == "smooth");
  CHECK(regions[1].calls == 4);
  CHECK(regions[1].parent == 0);
  CHECK(regions[1].depth == 1);
  CHECK(regions[1].seconds >= 0.006);
  CHECK(regions[0].seconds >= regions[1].seconds + regions[2].seconds);
  CHECK(regions[2].name == "restrict");
  CHECK(regions[3].name == "write");
  CHECK(regions[4].parent == 3);
  CHECK(regions[4].calls == 1);
  CHECK(region_timers().table().find("  smooth\n") != std::string::npos);
}

TEST_CASE("a timed region is left by an exception", "[timer]") {
  region_timers().clear();
  try {
    const TimedScope scope("fails");
    throw std::runtime_error("");
  } catch (const std::runtime_error&) {
  }
  REQUIRE(region_timers().regions().size() == 1);
  CHECK(region_timers().regions()[0].calls == 1);
  CHECK_THROWS_AS(region_timers().leave(), std::invalid_argument);
}
