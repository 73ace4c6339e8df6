// SPDX-License-Identifier: Apache-2.0
// When a preconditioner is formed anew, against the mean cost computed for every choice.
#include "tests/catch.hpp"
#include <ossatura/solvers/krylov/preconditioner_age.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

using namespace ossatura;

constexpr int cost = 25, own = 10, most = 200;

/// Iterations beyond its own with a matrix `k` steps away, which is 0.01 k from its own.
double beyond(double by_change, int k) {
  return by_change * 0.01 * k;
}

/// Matrices that a preconditioner serves for.
int matrices_served(double by_change, double first_rate) {
  PreconditionerAge age;
  age.rate = first_rate;
  age.add_matrix(own, 0);
  while (age.matrices < most && age.serves(0.01 * double(age.matrices), cost))
    age.add_matrix(own + std::lround(beyond(by_change, int(age.matrices))),
                   0.01 * double(age.matrices));
  return int(age.matrices);
}

/// Of forming and of iterations beyond its own, for each of so many matrices.
double mean_cost(double by_change, int matrices) {
  double sum = cost;
  for (int k = 0; k < matrices; ++k)
    sum += beyond(by_change, k);
  return sum / matrices;
}

TEST_CASE("a preconditioner serves for as many matrices as cost least on the mean") {
  for (const double by_change : {50, 100, 300, 1000, 2000}) {
    double least = std::numeric_limits<double>::max();
    for (int matrices = 1; matrices <= most; ++matrices)
      least = std::min(least, mean_cost(by_change, matrices));
    for (const double first_rate : {0.0, 30.0, by_change}) {
      const int matrices = matrices_served(by_change, first_rate);
      INFO(by_change << " iterations by change, " << matrices << " matrices");
      CHECK(matrices >= 2);
      CHECK(mean_cost(by_change, matrices) < 1.1 * least);
    }
  }
  CHECK(matrices_served(5000, 5000) == 1);
  CHECK(matrices_served(0, 30) == most);
}

TEST_CASE("a preconditioner that failed is tried again when less changes") {
  PreconditionerAge age;
  CHECK_FALSE(age.serves(0, cost)); // there is none
  age.add_matrix(own, 0);
  CHECK(age.serves(0.5, cost));
  CHECK_FALSE(age.serves(1, cost));
  age.fail(0.5, cost);
  CHECK(age.matrices == 1);
  CHECK(age.own == own);
  CHECK_FALSE(age.serves(0.5, cost));
  CHECK(age.serves(0.2, cost));
  age.add_matrix(own + 4, 0.2);
  CHECK(age.excess == 4);
  CHECK(age.serves(0.5, cost)); // that went well
  age.add_matrix(own - 3, 0.3);
  CHECK(age.excess == 4);
  CHECK(age.rate == 0);
  age.begin();
  CHECK_FALSE(age.serves(0, cost));
}

TEST_CASE("a preconditioner always serves for its own matrix again") {
  PreconditionerAge age;
  age.add_matrix(own, 0);
  age.add_matrix(own + 100, 0);
  CHECK(age.serves(0, cost));
}

} // namespace
