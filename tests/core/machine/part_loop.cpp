// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include <ossatura/core/machine/large_pages.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/processors.hpp>
#include <ossatura/core/machine/select_indices.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace ossatura;

TEST_CASE("Parts make up the whole, once each", "[part_loop]") {
  for (const int threads : {1, 2, 7}) {
    set_io_threads(threads);
    for (const std::size_t count : {0, 1, 99, 100, 12345})
      for (const std::size_t least : {0, 1, 10, 100, 100000}) {
        std::vector<int> visits(count, 0);
        std::atomic<int> small = 0;
        for_parts(count, least, [&](std::size_t first, std::size_t end) {
          small += end - first < least && end < count;
          for (std::size_t i = first; i < end; ++i)
            ++visits[i];
        });
        CHECK(visits == std::vector<int>(count, 1));
        CHECK(small == 0);
      }
  }
  set_io_threads(available_processors());
}

TEST_CASE("The first problem is found for any number of threads", "[part_loop]") {
  for (const int threads : {1, 2, 7}) {
    set_io_threads(threads);
    for (const std::size_t place : {0, 1, 500, 12344}) {
      const auto found = first_problem(12345, 10, [&](std::size_t i) {
        return i == place || i == place + 3 || i == 12344 ? std::to_string(i) : std::string();
      });
      REQUIRE(found);
      CHECK(found->first == place);
      CHECK(found->second == std::to_string(place));
    }
    CHECK_FALSE(first_problem(12345, 10, [](std::size_t) { return std::string(); }));
    CHECK_FALSE(first_problem(0, 10, [](std::size_t) { return std::string("a"); }));
  }
  set_io_threads(available_processors());
}

TEST_CASE("Threads of their own take parts", "[part_loop]") {
  set_io_threads(2);
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<bool> other = false;
  for_parts(2, 1, [&](std::size_t, std::size_t) {
    if (std::this_thread::get_id() != caller)
      other = true;
    for (int wait = 0; wait < 10000 && !other; ++wait) // the caller must not take both
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  CHECK(other);
  set_io_threads(available_processors());
}

TEST_CASE("What a part throws comes to the caller", "[part_loop]") {
  for (const int threads : {1, 4}) {
    set_io_threads(threads);
    CHECK_THROWS_WITH(for_parts(1000, 1,
                                [](std::size_t first, std::size_t end) {
                                  if (first <= 500 && 500 < end)
                                    throw std::runtime_error("part 500");
                                }),
                      "part 500");
  }
  set_io_threads(available_processors());
}

TEST_CASE("Indices are selected in their order", "[part_loop]") {
  const auto wanted = [](std::size_t i) { return i % 7 == 3 || i > 39990; };
  for (const int threads : {1, 4}) {
    set_io_threads(threads);
    for (const std::size_t count : {0, 3, 16384, 40000}) {
      std::vector<std::int32_t> expected;
      for (std::size_t i = 0; i < count; ++i)
        if (wanted(i))
          expected.push_back(std::int32_t(i));
      CHECK(select_indices(count, wanted) == expected);
    }
  }
  set_io_threads(available_processors());
}

TEST_CASE("Copies in large pages are copies", "[large_pages]") {
  for (const std::size_t count : {0, 1, 5000, 3000000}) { // the last is worth it
    std::vector<std::int32_t> values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = std::int32_t(3 * i);
    CHECK(copy_in_large_pages(values.data(), count) == values);
  }
}
