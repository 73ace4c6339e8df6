// SPDX-License-Identifier: Apache-2.0
#include "tests/backend_test.hpp"
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/solvers/bone/results/pistoia.hpp>
#include <ossatura/solvers/bone/results/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <random>

namespace {

using namespace ossatura;

template<class Exec>
Array<float, Exec> sample(const std::vector<float>& values) {
  return upload(Exec(), "sample", values);
}

OSSATURA_BACKEND_TEST("Quantiles of four numbers by hand", "[statistics]") {
  const std::vector<double> found =
      quantiles(TestType(), sample<TestType>({4, 1, 3, 2}), {0, 0.25, 0.5, 0.5, 0.9, 1});
  const std::vector<double> expected = {1, 1.75, 2.5, 2.5, 3.7, 4};
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(found[i] == Approx(expected[i]));
}

OSSATURA_BACKEND_TEST("Quantiles agree with sorting", "[statistics]") {
  std::mt19937 random(7);
  std::lognormal_distribution<float> distribution(0, 2);
  for (const std::size_t n : {1, 2, 3, 10, 1001}) {
    std::vector<float> values(n);
    for (float& value : values)
      value = distribution(random);
    std::vector<float> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const std::vector<double> ranks = {0.98, 0, 0.01, 0.33, 0.5, 1};
    const std::vector<double> found = quantiles(TestType(), sample<TestType>(values), ranks);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const double place = ranks[i] * double(n - 1);
      const std::size_t below = std::size_t(place);
      const std::size_t above = std::min(below + 1, n - 1);
      const double expected =
          sorted[below] + (place - double(below)) * (double(sorted[above]) - sorted[below]);
      CHECK(found[i] == Approx(expected).epsilon(1e-12));
    }
  }
}

OSSATURA_BACKEND_TEST("Quantiles reject nothing and wrong ranks", "[statistics]") {
  CHECK_THROWS_AS(quantiles(TestType(), sample<TestType>({}), {0.5}), std::invalid_argument);
  CHECK_THROWS_AS(quantiles(TestType(), sample<TestType>({1}), {1.5}), std::invalid_argument);
}

OSSATURA_BACKEND_TEST("The statistics of 1 to 5 are known", "[statistics]") {
  const SampleStatistics found = summarise(TestType(), {0, 5}, sample<TestType>({5, 3, 1, 2, 4}));
  CHECK(found.count == 5);
  CHECK(found.mean == Approx(3));
  CHECK(found.standard_deviation == Approx(std::sqrt(2.0)));
  CHECK(found.minimum == 1);
  CHECK(found.maximum == 5);
  REQUIRE(found.percentiles.size() == percentile_ranks.size());
  CHECK(found.percentiles[2] == Approx(3));
}

OSSATURA_BACKEND_TEST("A histogram holds every value once, the ends included", "[statistics]") {
  const TestType exec;
  const Histogram histogram = make_histogram(exec, sample<TestType>({0, 0.5F, 1, 1.5F, 4}), 4);
  CHECK(histogram.lower == 0);
  CHECK(histogram.upper == 4);
  CHECK(histogram.count == std::vector<std::int64_t>{2, 2, 0, 1});
  CHECK(make_histogram(exec, sample<TestType>({3, 3}), 3).count ==
        std::vector<std::int64_t>{2, 0, 0});
  CHECK_THROWS_AS(make_histogram(exec, sample<TestType>({}), 3), std::invalid_argument);
}

OSSATURA_BACKEND_TEST("Pistoia's factor scales the critical volume to the critical strain",
                      "[pistoia]") {
  const TestType exec;
  std::vector<float> strain(101);
  for (int i = 0; i <= 100; ++i)
    strain[std::size_t(100 - i)] = 1e-4F * float(i);
  const PistoiaResult result = pistoia(exec, sample<TestType>(strain), {0.007, 0.02}).value();
  CHECK(result.strain_at_volume == Approx(0.0098).epsilon(1e-6));
  CHECK(result.factor == Approx(0.007 / 0.0098).epsilon(1e-6));

  // Twice the load, half the factor; and exactly 2 of 101 voxels are beyond it.
  std::vector<float> doubled = strain;
  for (float& value : doubled)
    value *= 2;
  CHECK(pistoia(exec, sample<TestType>(doubled), {0.007, 0.02})->factor ==
        Approx(result.factor / 2));
  CHECK(std::count_if(strain.begin(), strain.end(),
                      [&](double e) { return e * result.factor > 0.007 * (1 + 1e-12); }) == 2);

  CHECK_FALSE(pistoia(exec, sample<TestType>(std::vector<float>(10, 0)), {0.007, 0.02}));
  CHECK_THROWS_AS(pistoia(exec, sample<TestType>(strain), {0.007, 1}), std::invalid_argument);
}

} // namespace
