// SPDX-License-Identifier: Apache-2.0
// The optimisers by themselves, on problems of pencil and paper.
#include "tests/backend_test.hpp"
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/solvers/topopt/mma.hpp>
#include <ossatura/solvers/topopt/optimality_criteria.hpp>

#include <cmath>
#include <functional>
#include <limits>

namespace {

using namespace ossatura;
using Values = std::vector<double>;

/// f, its gradient, and those of each constraint g_j <= 0.
struct Evaluation {
  double f;
  Values df, g, dg; ///< dg [num_constraints, n]
};

struct Problem {
  Values x, lower, upper;
  std::function<Evaluation(const Values&)> evaluate;
};

struct Solution {
  Values x, multiplier;
  Evaluation at;
  int steps = 0;
};

/// Steps until no variable changes by more than `tolerance`.
template<class Exec>
Solution minimise(const Exec& exec, const Problem& problem, double tolerance, int max_steps) {
  Solution s{problem.x, {}, problem.evaluate(problem.x), 0};
  const std::int64_t n = std::int64_t(s.x.size());
  Mma<Exec> mma(exec, n, int(s.at.g.size()));
  const auto lower = upload(exec, "test::lower", problem.lower),
             upper = upload(exec, "test::upper", problem.upper),
             x_new = make_zeros<double>(exec, n, "test::x_new");
  for (double change = 1; change > tolerance && s.steps < max_steps; ++s.steps) {
    const auto x = upload(exec, "test::x", s.x);
    s.multiplier = mma.propose(exec, x, 1, upload(exec, "test::df", s.at.df), s.at.g,
                               upload(exec, "test::dg", s.at.dg), lower, upper, x_new);
    mma.accept(exec, x);
    change = largest_difference(exec, x, x_new);
    s.x = download(exec, x_new);
    s.at = problem.evaluate(s.x);
  }
  return s;
}

/// The largest violation of the conditions of Karush, Kuhn and Tucker.
double optimality_gap(const Problem& problem, const Solution& s) {
  double gap = 0;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    double slope = s.at.df[i];
    for (std::size_t j = 0; j < s.at.g.size(); ++j)
      slope += s.multiplier[j] * s.at.dg[j * s.x.size() + i];
    const bool at_lower =
        s.x[i]<problem.lower[i] + 1e-6, at_upper = s.x[i]> problem.upper[i] - 1e-6;
    gap = std::max(gap, at_lower ? -slope : at_upper ? slope : std::fabs(slope));
  }
  for (std::size_t j = 0; j < s.at.g.size(); ++j)
    gap = std::max({gap, s.at.g[j], std::fabs(s.multiplier[j] * s.at.g[j])});
  return gap;
}

OSSATURA_BACKEND_TEST("Svanberg's cantilever beam of five variables", "[mma]") {
  // Svanberg (1987), section 5: x* = (6.016, 5.309, 4.494, 3.502, 2.153), f = 1.340.
  const TestType exec;
  Problem beam{Values(5, 5), Values(5, 1), Values(5, 10), [](const Values& x) {
                 const double load[] = {61, 37, 19, 7, 1};
                 Evaluation at{0, Values(5, 0.0624), {-1}, Values(5)};
                 for (std::size_t i = 0; i < 5; ++i) {
                   at.f += 0.0624 * x[i];
                   at.g[0] += load[i] / std::pow(x[i], 3);
                   at.dg[i] = -3 * load[i] / std::pow(x[i], 4);
                 }
                 return at;
               }};
  const Solution s = minimise(exec, beam, 1e-6, 60);
  INFO(s.steps << " steps");
  CHECK(s.steps < 40);
  CHECK(s.at.f == Approx(1.340).margin(5e-4));
  const double published[] = {6.016, 5.309, 4.494, 3.502, 2.153};
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(s.x[i] == Approx(published[i]).margin(2e-3));
  CHECK(optimality_gap(beam, s) < 1e-5);
}

OSSATURA_BACKEND_TEST("Svanberg's truss of two bars", "[mma]") {
  // Svanberg (1987), section 5: x* = (1.41, 0.38), f = 1.51; stresses of two bars, one of which is
  // at its bound.
  const TestType exec;
  Problem truss{{1.5, 0.5}, {0.2, 0.1}, {4, 1.6}, [](const Values& x) {
                  const double root = std::sqrt(1 + x[1] * x[1]), c = 0.124;
                  Evaluation at{x[0] * root, {root, x[0] * x[1] / root}, Values(2), Values(4)};
                  for (std::size_t j = 0; j < 2; ++j) {
                    const double sign = j == 0 ? 1 : -1, inner = 8 / x[0] + sign / (x[0] * x[1]);
                    at.g[j] = c * root * inner - 1;
                    at.dg[2 * j] = -c * root * inner / x[0];
                    at.dg[2 * j + 1] =
                        c * (x[1] / root * inner - root * sign / (x[0] * x[1] * x[1]));
                  }
                  return at;
                }};
  const Solution s = minimise(exec, truss, 1e-6, 60);
  INFO(s.steps << " steps");
  CHECK(s.at.f == Approx(1.51).margin(5e-3));
  CHECK(s.x[0] == Approx(1.41).margin(5e-3));
  CHECK(s.x[1] == Approx(0.38).margin(5e-3));
  CHECK(s.at.g[1] < -0.1);
  CHECK(optimality_gap(truss, s) < 1e-5);
}

OSSATURA_BACKEND_TEST("The point of two balls that is nearest to the origin", "[mma]") {
  // Both constraints bind: the nearest point lies on the circle in which the spheres meet.
  const TestType exec;
  const double centre[2][3] = {{5, 2, 1}, {3, 4, 3}};
  Problem balls{{4, 3, 2}, Values(3, 0), Values(3, 5), [&](const Values& x) {
                  Evaluation at{0, Values(3), {-9, -9}, Values(6)};
                  for (std::size_t i = 0; i < 3; ++i) {
                    at.f += x[i] * x[i];
                    at.df[i] = 2 * x[i];
                    for (std::size_t j = 0; j < 2; ++j) {
                      at.g[j] += std::pow(x[i] - centre[j][i], 2);
                      at.dg[3 * j + i] = 2 * (x[i] - centre[j][i]);
                    }
                  }
                  return at;
                }};
  const Solution s = minimise(exec, balls, 1e-7, 100);
  INFO(s.steps << " steps");
  CHECK(s.multiplier[0] > 0.01);
  CHECK(s.multiplier[1] > 0.01);
  CHECK(optimality_gap(balls, s) < 1e-5);
}

OSSATURA_BACKEND_TEST("Held variables stay, and constraints give way when they must", "[mma]") {
  const TestType exec;
  Problem sum{{0.5, 0.5, 0.3}, {0, 0, 0.3}, {1, 1, 0.3}, [](const Values& x) {
                return Evaluation{0, {-1, -2, -4}, {x[0] + x[1] + x[2] - 1}, {1, 1, 1}};
              }};
  const Solution s = minimise(exec, sum, 1e-6, 40);
  CHECK(s.x[2] == 0.3);
  CHECK(s.x[0] == Approx(0).margin(1e-4)); // the other one gains more
  CHECK(s.x[1] == Approx(0.7).margin(1e-4));

  sum.evaluate = [](const Values& x) { // cannot be met
    return Evaluation{0, {-1, -2, -4}, {x[0] + x[1] + x[2]}, {1, 1, 1}};
  };
  const Solution relaxed = minimise(exec, sum, 1e-6, 40);
  CHECK(relaxed.x[0] == Approx(0).margin(1e-4));
  CHECK(relaxed.x[1] == Approx(0).margin(1e-4));
  CHECK(relaxed.x[2] == 0.3);
}

OSSATURA_BACKEND_TEST("Numbers that are not finite come back as such", "[mma]") {
  const TestType exec;
  Mma<TestType> mma(exec, 2, 1);
  const auto x = upload(exec, "test::x", Values{0.5, 0.5}),
             x_new = upload(exec, "test::y", Values{0, 0}),
             lower = upload(exec, "test::lower", Values{0, 0}),
             upper = upload(exec, "test::upper", Values{1, 1}),
             dg = upload(exec, "test::dg", Values{1, 1}),
             df = upload(exec, "test::df", Values{-1, std::numeric_limits<double>::quiet_NaN()});
  CHECK(std::isnan(mma.propose(exec, x, 1, df, {0.0}, dg, lower, upper, x_new)[0]));
  CHECK_THROWS_AS(Mma<TestType>(exec, 2, max_mma_constraints + 1), std::invalid_argument);
  CHECK_THROWS_AS(Mma<TestType>(exec, 0, 1), std::invalid_argument);
  CHECK_THROWS_AS(mma.propose(exec, x, 1, df, {0.0, 0.0}, dg, lower, upper, x_new),
                  std::invalid_argument);
}

OSSATURA_BACKEND_TEST("Optimality criteria solve what is separable in one step", "[mma]") {
  // Least sum of a_i / x_i with sum of v_i x_i at most V: x_i = sqrt(a_i / v_i) times a constant.
  const TestType exec;
  const Values a = {1, 4, 9, 2}, v = {1, 2, 0.5, 1}, x = {0.3, 0.4, 0.2, 0.5};
  Values df(4), exact(4);
  double used = 0, norm = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    df[i] = -a[i] / (x[i] * x[i]);
    exact[i] = std::sqrt(a[i] / v[i]);
    used += v[i] * x[i];
    norm += v[i] * exact[i];
  }
  const double aim = 1.1;
  const auto step = [&](const Values& lower, const Values& upper, double fraction, double room) {
    const auto there = [&](const Values& values) { return upload(exec, "test::oc", values); };
    const OcArrays<TestType> arrays{
        there(x), {there(lower), there(upper)}, there(df), there(v), {there(v), {}, 0}};
    const auto x_new = there(Values(4));
    optimality_step(exec, arrays, room, fraction, 0.5, 1e-12, x_new);
    return download(exec, x_new);
  };
  // The bound of the multiplier may be far off, too small as well as too large.
  for (double fraction : {0.01, 1.0, 1000.0}) {
    const Values found = step(Values(4, 0), Values(4, 10), fraction, aim - used);
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(found[i] == Approx(exact[i] * aim / norm).epsilon(1e-10));
  }
  // Bounds: what is held stays; where all fits, all is taken; where nothing does, the least.
  const Values held = step({0.3, 0, 0, 0}, {0.3, 10, 10, 10}, 1, aim - used);
  CHECK(held[0] == 0.3);
  CHECK(v[0] * held[0] + v[1] * held[1] + v[2] * held[2] + v[3] * held[3] ==
        Approx(aim).epsilon(1e-10));
  CHECK(step(Values(4, 0), x, 1, 1) == x);
  CHECK(step(x, Values(4, 1), 1, -1) == x);
}

} // namespace
