// SPDX-License-Identifier: Apache-2.0
// The tests of falling back take iterations whose results are made up.
#include "tests/catch.hpp"
#include <ossatura/solvers/krylov/solve_with_fallback.hpp>

#include <utility>
#include <vector>

namespace {

using namespace ossatura;

/// Gives the results in turn and records what it was asked for.
struct Script {
  std::vector<SolveResult> results;
  std::vector<CgOptions> asked;
  std::vector<std::pair<int, double>> observed;
  int fallen_back = 0;

  SolveResult run(const CgOptions& options, int first_iterations) {
    return solve_with_fallback(
        options, first_iterations,
        [&](const CgOptions& part, const IterationObserver& observe) {
          const SolveResult result = results.at(asked.size());
          asked.push_back(part);
          for (int i = 0; i <= result.iterations; ++i)
            observe(i, result.recurrent_residual);
          return result;
        },
        [&](const SolveResult&) { ++fallen_back; },
        [&](int iteration, double residual) { observed.emplace_back(iteration, residual); });
  }
};

SolveResult result_of(int iterations, double residual, bool converged) {
  SolveResult result;
  result.iterations = iterations;
  result.residual = residual;
  result.recurrent_residual = residual / 2;
  result.reference = 7;
  result.converged = converged;
  return result;
}

CgOptions options_of(double tolerance, int max_iterations) {
  CgOptions options;
  options.tolerance = tolerance;
  options.max_iterations = max_iterations;
  return options;
}

TEST_CASE("What the fast form does not reach the safe one goes on to, as one solve",
          "[solve_with_fallback]") {
  Script script{{result_of(3, 0.1, false), result_of(2, 1e-9, true)}, {}, {}, 0};
  const SolveResult result = script.run(options_of(1e-8, 50), 20);
  CHECK(script.fallen_back == 1);
  CHECK(script.asked[0].max_iterations == 20);
  CHECK(script.asked[0].reference == 0);
  CHECK(script.asked[1].max_iterations == 47);
  CHECK(script.asked[1].reference == 7); // the tolerance keeps its meaning
  CHECK(script.asked[1].tolerance == 1e-8);
  CHECK(result.iterations == 5);
  CHECK(result.residual == 1e-9);
  CHECK(result.converged);
  CHECK(result.fell_back);
  const std::vector<std::pair<int, double>> whole = {{0, 0.05}, {1, 0.05},  {2, 0.05},
                                                     {3, 0.05}, {4, 5e-10}, {5, 5e-10}};
  CHECK(script.observed == whole);
}

TEST_CASE("The safe form is not tried where it is not needed or of no use",
          "[solve_with_fallback]") {
  for (const SolveResult& only : {result_of(3, 1e-9, true), result_of(50, 0.1, false),
                                  result_of(3, HUGE_VAL, false), result_of(3, NAN, false)}) {
    Script script{{only}, {}, {}, 0};
    const SolveResult result = script.run(options_of(1e-8, 50), 50);
    CHECK(script.fallen_back == 0);
    CHECK(result.iterations == only.iterations);
    CHECK_FALSE(result.fell_back);
  }
}

} // namespace
