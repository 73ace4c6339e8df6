// SPDX-License-Identifier: Apache-2.0
// The smoothers' polynomials against the recursions and tables of the literature.
#include "tests/catch.hpp"
#include <ossatura/solvers/krylov/smoothing_weights.hpp>

#include <map>

namespace {

using namespace ossatura;

/// p(t) by the factors, in the order of application.
double by_factors(const std::vector<double>& weights, double t) {
  double p = 1;
  for (double w : weights)
    p *= 1 - w * t;
  return p;
}

/// The error after `degree` steps of the three-term Chebyshev iteration for t e = 0, e0 = 1 (Y.
/// Saad, Iterative Methods for Sparse Linear Systems, algorithm 12.1).
double first_kind_recursion(int degree, double low, double high, double t) {
  const double centre = (high + low) / 2, half_width = (high - low) / 2,
               sigma = centre / half_width;
  double rho = 1 / sigma, e = 1, d = -t * e / centre;
  for (int k = 1; k <= degree; ++k) {
    e += d;
    const double next = 1 / (2 * sigma - rho);
    d = next * rho * d - 2 * next / half_width * t * e;
    rho = next;
  }
  return e;
}

/// The error after the iteration of the fourth kind with weights beta, in the notation of algorithm
/// 4.1 of arXiv:2202.08830, for the largest eigenvalue 1.
double fourth_kind_recursion(const std::vector<double>& beta, double t) {
  const int degree = int(beta.size());
  double e = 1, r = -t * e, z = 4. / 3 * r; // of A e = 0
  for (int k = 1; k <= degree; ++k) {
    e += beta[k - 1] * z;
    r -= t * z;
    z = (2. * k - 1) / (2 * k + 3) * z + (8. * k + 4) / (2 * k + 3) * r;
  }
  return e;
}

/// Weights of the optimal polynomials of the fourth kind, arXiv:2202.08830 (its published script's
/// table, also in M. Phillips, P. Fischer, arXiv:2210.03179, table 5).
const std::map<int, std::vector<double>> published = {
    {1, {1.12500000000000}},
    {2, {1.02387287570313, 1.26408905371085}},
    {3, {1.00842544782028, 1.08867839208730, 1.33753125909618}},
    {4, {1.00391310427285, 1.04035811188593, 1.14863498546254, 1.38268869241000}},
    {5, {1.00212930146164, 1.02173711549260, 1.07872433192603, 1.19810065292663, 1.41322542791682}},
    {6,
     {1.00128517255940, 1.01304293035233, 1.04678215124113, 1.11616489419675, 1.23829020218444,
      1.43524297106744}}};

std::vector<double> spectrum() {
  std::vector<double> t;
  for (int i = 0; i <= 2000; ++i)
    t.push_back(i / 2000.0);
  return t;
}

TEST_CASE("Chebyshev's weights are least on their interval", "[smoothing_weights]") {
  for (int degree : {1, 2, 3, 4})
    for (double low : {0.02, 0.3}) {
      const double high = 1.8, centre = (high + low) / (high - low);
      const auto weights = chebyshev_weights(degree, low, high);
      double largest = 0;
      for (double s : spectrum())
        largest = std::max(largest, std::abs(by_factors(weights, low + s * (high - low))));
      // 1 / T_degree at the image of zero
      CHECK(largest == Approx(1 / std::cosh(degree * std::acosh(centre))).epsilon(1e-12));
    }
}

TEST_CASE("The factors of the first kind are the three-term recursion", "[smoothing_weights]") {
  for (double ratio : {4., 16., 30.})
    for (int degree : {1, 2, 3, 5, 8, 10, 20}) {
      const auto weights = smoothing_weights({SmootherKind::first_kind, degree, ratio, 1.05}, 2.5);
      REQUIRE(int(weights.size()) == degree);
      double worst = 0;
      for (double s : spectrum()) {
        const double t = 1.05 * 2.5 * s;
        worst = std::max(worst, std::abs(by_factors(weights, t) -
                                         first_kind_recursion(degree, 2.5 / ratio, 2.625, t)));
      }
      INFO("degree " << degree << ", ratio " << ratio);
      CHECK(worst < 1e-13);
    }
}

TEST_CASE("The factors of the fourth kind are its recursion", "[smoothing_weights]") {
  for (int degree : {1, 2, 3, 4, 6, 10, 16, 32}) {
    const auto weights = smoothing_weights({SmootherKind::fourth_kind, degree, 0, 1}, 1);
    double worst = 0;
    for (double t : spectrum()) {
      worst = std::max(worst, std::abs(by_factors(weights, t) -
                                       fourth_kind_recursion(std::vector<double>(degree, 1), t)));
      // t p(t)^2 <= 1 / (2 k + 1)^2 * max of sin^2((k + 1/2) a)
      CHECK(t * std::pow(by_factors(weights, t), 2) <= std::pow(2 * degree + 1, -2) + 1e-13);
    }
    INFO("degree " << degree);
    CHECK(worst < 1e-12);
  }
}

TEST_CASE("The optimal factors are the published ones", "[smoothing_weights]") {
  for (const auto& [degree, beta] : published) {
    const auto weights =
        smoothing_weights({SmootherKind::optimal_fourth_kind, degree, 0, 1.05}, 2 / 1.05);
    double worst = 0;
    for (double t : spectrum())
      worst =
          std::max(worst, std::abs(by_factors(weights, 2 * t) - fourth_kind_recursion(beta, t)));
    INFO("degree " << degree);
    CHECK(worst < 2e-13);
  }
}

/// sup of t p^2 / (1 - p^2) over (0, 1]: 1 / (2 |p'(0)|) at 0.
double cycle_constant(const std::vector<double>& weights) {
  double slope = 0;
  for (double w : weights)
    slope += w;
  double sup = 1 / (2 * slope);
  for (int i = 1; i <= 40000; ++i) {
    const double t = i / 40000., p2 = std::pow(by_factors(weights, t), 2);
    sup = std::max(sup, p2 < 1 ? t * p2 / (1 - p2) : 1e300);
  }
  return sup;
}

TEST_CASE("The optimal polynomial equioscillates, so that no other has a better bound",
          "[smoothing_weights]") {
  for (int degree : {1, 2, 3, 4, 7, 10, 16, 32}) {
    auto weights = smoothing_weights({SmootherKind::optimal_fourth_kind, degree, 0, 1}, 1);
    const double least = cycle_constant(weights);
    double slope = 0;
    for (double w : weights) {
      CHECK(w > 1);
      slope += w;
    }
    // The envelope C / (C + t) of p^2 is met at 0 with its slope, and at `degree` further points.
    CHECK(least == Approx(1 / (2 * slope)).epsilon(1e-9));
    int peaks = 0;
    double last = 1, before = 2; // the value at t = 0 is not counted
    for (int i = 1; i <= 400000; ++i) {
      const double t = i / 400000., height = std::pow(by_factors(weights, t), 2) * (1 + t / least);
      if ((last >= before && last > height && last > 0.99999) || (i == 400000 && height > 0.99999))
        ++peaks;
      before = last;
      last = height;
    }
    INFO("degree " << degree);
    CHECK(peaks == degree);
    const auto plain = smoothing_weights({SmootherKind::fourth_kind, degree, 0, 1}, 1);
    CHECK(least < cycle_constant(plain));
    for (double& w : weights) { // any single root moved
      const double kept = w;
      for (double change : {0.999, 1.001}) {
        w = kept * change;
        CHECK(cycle_constant(weights) > least);
      }
      w = kept;
    }
  }
}

TEST_CASE("Partial products stay small in the order of application", "[smoothing_weights]") {
  for (SmootherKind kind :
       {SmootherKind::first_kind, SmootherKind::fourth_kind, SmootherKind::optimal_fourth_kind})
    for (int degree = 1; degree <= 32; ++degree) {
      const auto weights = smoothing_weights({kind, degree, 16, 1}, 1);
      double largest = 0;
      for (double t : spectrum())
        for (int from = 0; from < degree; ++from) { // how much a rounding error at `from` grows
          double p = 1;
          for (int i = from; i < degree; ++i)
            p *= 1 - weights[i] * t;
          largest = std::max(largest, std::abs(p));
        }
      INFO("degree " << degree);
      CHECK(largest < 20 + 10 * degree);
    }
}

TEST_CASE("Smoothers out of range are refused", "[smoothing_weights]") {
  CHECK_THROWS_AS(smoothing_weights({SmootherKind::first_kind, 0, 16, 1}, 1), UsageError);
  CHECK_THROWS_AS(smoothing_weights({SmootherKind::fourth_kind, 33, 16, 1}, 1), UsageError);
  CHECK_THROWS_AS(smoothing_weights({SmootherKind::first_kind, 3, 1, 1}, 1), UsageError);
  CHECK_THROWS_AS(smoothing_weights({SmootherKind::first_kind, 3, 16, 1}, 0),
                  std::invalid_argument);
}

} // namespace
