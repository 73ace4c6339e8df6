// SPDX-License-Identifier: Apache-2.0
// Sums by threads: those of a plain loop, with the same bits for any number of threads.
#include "tests/catch.hpp"
#include "tests/core/io/io_threads.hpp"
#include <ossatura/core/machine/part_sum.hpp>

#include <atomic>
#include <cmath>
#include <cstddef>
#include <optional>

using namespace ossatura;

TEST_CASE("Threads sum as one does", "[part_sum]") {
  for (const std::size_t count : {0u, 1u, 4095u, 4096u, 4097u, 100003u}) {
    double expected = 0;
    for (std::size_t i = 0; i < count; ++i)
      expected += std::sin(double(i));
    std::optional<double> before;
    for (const int threads : {1, 2, 5, 40}) {
      const ossatura_test::IoThreads chosen(threads);
      INFO(count << " values, " << threads << " threads");
      std::atomic<std::size_t> calls = 0;
      const double sum = sum_parts(count, [&](std::size_t i) {
        ++calls;
        return std::sin(double(i));
      });
      CHECK(sum == Approx(expected).margin(1e-9));
      CHECK(calls == count);
      CHECK(sum == before.value_or(sum));
      before = sum;
    }
  }
}
