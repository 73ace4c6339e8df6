// SPDX-License-Identifier: Apache-2.0
#include "tests/backend_test.hpp"
#include <ossatura/kernels/algebra/sorting/select.hpp>

#include <limits>
#include <random>

namespace {

using namespace ossatura;

template<class Exec>
std::vector<float> select(const std::vector<float>& values,
                          const std::vector<std::int64_t>& places) {
  const Exec exec;
  return select_sorted(exec, upload(exec, "values", values), places);
}

OSSATURA_BACKEND_TEST("Entries selected are those of the sorted array", "[select_sorted]") {
  std::mt19937 random(11);
  std::normal_distribution<float> distribution(0, 1e3F);
  for (const std::size_t n : {1, 2, 7, 1000, 65536, 200001}) {
    std::vector<float> values(n);
    for (float& value : values)
      value = distribution(random);
    for (std::size_t i = 0; i < n / 3; ++i) // many that are equal
      values[3 * i] = float(i % 5);
    std::vector<float> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::int64_t> places;
    for (int i = 0; i < 32; ++i) // in no order, and some more than once
      places.push_back(std::int64_t((n - 1) * std::size_t(i * 7 % 32) / 31));
    const std::vector<float> found = select<TestType>(values, places);
    for (std::size_t i = 0; i < places.size(); ++i)
      CHECK(found[i] == sorted[std::size_t(places[i])]);
  }
}

OSSATURA_BACKEND_TEST("Signs, zeros, infinities and the smallest numbers are in order",
                      "[select_sorted]") {
  constexpr float inf = std::numeric_limits<float>::infinity(), tiny = 1e-45F;
  const std::vector<float> sorted = {-inf, -2, -1, -tiny, 0, tiny, 1, 2, inf};
  const std::vector<float> values = {1, tiny, -1, inf, -0.0F, 2, -inf, -tiny, -2};
  CHECK(select<TestType>(values, {0, 1, 2, 3, 4, 5, 6, 7, 8}) == sorted);
  CHECK_FALSE(std::signbit(select<TestType>({-0.0F}, {0})[0]));
}

OSSATURA_BACKEND_TEST("Places beyond the array are refused", "[select_sorted]") {
  CHECK_THROWS_AS(select<TestType>({1, 2}, {2}), std::invalid_argument);
  CHECK_THROWS_AS(select<TestType>({1, 2}, {-1}), std::invalid_argument);
  CHECK_THROWS_AS(select<TestType>({}, {0}), std::invalid_argument);
  CHECK_THROWS_AS(select<TestType>({1}, std::vector<std::int64_t>(33, 0)), std::invalid_argument);
}

} // namespace
