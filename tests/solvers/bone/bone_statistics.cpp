// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/pistoia.hpp>
#include <ossatura/solvers/bone/statistics.hpp>

#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <random>

using namespace ossatura;

TEST_CASE("quantiles of four numbers by hand", "[statistics]") {
  std::vector<double> values = {4, 1, 3, 2};
  const std::vector<double> found = quantiles(values, {0, 0.25, 0.5, 0.5, 0.9, 1});
  const std::vector<double> expected = {1, 1.75, 2.5, 2.5, 3.7, 4};
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(found[i] == Approx(expected[i]));
}

TEST_CASE("quantiles agree with sorting", "[statistics]") {
  std::mt19937 random(7);
  std::lognormal_distribution<double> distribution(0, 2);
  for (const std::size_t n : {1, 2, 3, 10, 1001}) {
    std::vector<double> values(n);
    for (double& value : values)
      value = distribution(random);
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const std::vector<double> ranks = {0, 0.01, 0.33, 0.5, 0.98, 1};
    const std::vector<double> found = quantiles(values, ranks);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      const double place = ranks[i] * double(n - 1);
      const std::size_t below = std::size_t(place);
      const std::size_t above = std::min(below + 1, n - 1);
      const double expected =
          sorted[below] + (place - double(below)) * (sorted[above] - sorted[below]);
      CHECK(found[i] == Approx(expected).epsilon(1e-12));
    }
  }
}

TEST_CASE("quantiles reject nothing, wrong ranks and wrong order", "[statistics]") {
  std::vector<double> none, one = {1};
  CHECK_THROWS_AS(quantiles(none, {0.5}), std::invalid_argument);
  CHECK_THROWS_AS(quantiles(one, {1.5}), std::invalid_argument);
  CHECK_THROWS_AS(quantiles(one, {0.5, 0.4}), std::invalid_argument);
}

TEST_CASE("the statistics of 1 to 5 are known", "[statistics]") {
  std::vector<double> values = {5, 3, 1, 2, 4};
  const SampleStatistics sample = summarise(values);
  CHECK(sample.count == 5);
  CHECK(sample.mean == Approx(3));
  CHECK(sample.standard_deviation == Approx(std::sqrt(2.0)));
  CHECK(sample.minimum == 1);
  CHECK(sample.maximum == 5);
  REQUIRE(sample.percentiles.size() == percentile_ranks.size());
  CHECK(sample.percentiles[2] == Approx(3));
}

TEST_CASE("a histogram holds every value once, the ends included", "[statistics]") {
  const Histogram histogram = make_histogram({0, 0.5, 1, 1.5, 4}, 4);
  CHECK(histogram.lower == 0);
  CHECK(histogram.upper == 4);
  CHECK(histogram.count == std::vector<std::int64_t>{2, 2, 0, 1});
  CHECK(make_histogram({3, 3}, 3).count == std::vector<std::int64_t>{2, 0, 0});
  CHECK_THROWS_AS(make_histogram({}, 3), std::invalid_argument);
}

TEST_CASE("Pistoia's factor scales the critical volume to the critical strain", "[pistoia]") {
  std::vector<double> strain(101);
  for (int i = 0; i <= 100; ++i)
    strain[std::size_t(100 - i)] = 1e-4 * i;
  const PistoiaResult result = pistoia(strain, {0.007, 0.02}).value();
  CHECK(result.strain_at_volume == Approx(0.0098));
  CHECK(result.factor == Approx(0.007 / 0.0098));

  // Twice the load, half the factor; and exactly 2 of 101 voxels are beyond it.
  std::vector<double> doubled = strain;
  for (double& value : doubled)
    value *= 2;
  CHECK(pistoia(doubled, {0.007, 0.02})->factor == Approx(result.factor / 2));
  CHECK(std::count_if(strain.begin(), strain.end(),
                      [&](double e) { return e * result.factor > 0.007 * (1 + 1e-12); }) == 2);

  std::vector<double> unloaded(10, 0.0);
  CHECK_FALSE(pistoia(unloaded, {0.007, 0.02}));
  CHECK_THROWS_AS(pistoia(strain, {0.007, 1}), std::invalid_argument);
}
