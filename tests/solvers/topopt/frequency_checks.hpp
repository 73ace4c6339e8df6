// SPDX-License-Identifier: Apache-2.0
// Options and a problem of natural frequencies, and gradients of their mean against differences.
#pragma once

#include "tests/solvers/topopt/design_gradients.hpp"

#include <array>
#include <cmath>

namespace ossatura::test {

inline DesignOptions options_of_frequencies(int count, double tolerance = 1e-8) {
  DesignOptions options = options_with(tolerance);
  options.method = DesignMethod::mma;
  options.filter = DesignFilter::none;
  options.frequencies = count;
  return options;
}

inline std::vector<double> rough_densities(std::size_t count, double low, double range,
                                           unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> x(count);
  for (double& one : x)
    one = low + range * double(random()) / double(random.max());
  return x;
}

/// Sets a design of variables in the order of the problem, which is not that of voxels.
template<class Exec>
void set_design(const Exec& exec, DesignOptimizer<Exec>& optimizer, const std::vector<double>& x) {
  DesignState state = optimizer.state(exec);
  state.x = x;
  optimizer.set_state(exec, state);
}

/// What a limit has as its mean, and its gradient by variables along a direction, to `tolerance` of
/// differences over h.
template<class Exec>
void check_mean_gradient(const Exec& exec, DesignProblem problem, DesignOptions options,
                         const std::vector<double>& x, bool is_multiple, double h = 2e-3,
                         double tolerance = 1e-6) {
  problem.limits = {{DesignLimitKind::frequency, 1.0, -1, true}};
  options.objective = DesignObjective::frequency;
  options.frequencies = 4;
  DesignOptimizer<Exec> optimizer(exec, problem, options);
  const auto analyse = [&](const std::vector<double>& at) {
    set_design(exec, optimizer, at);
    return optimizer.analyse(exec);
  };
  const DesignStep here = analyse(x);
  CHECK(here.objective == here.frequencies[0]);
  CHECK(here.limits[0].value == here.frequencies[0]);
  CHECK(here.limits[0].mean < here.frequencies[0]);
  CHECK(here.limits[0].mean > std::pow(4., -1. / 16) * here.frequencies[0]);
  if (is_multiple)
    REQUIRE(here.frequencies[1] == Approx(here.frequencies[0]).epsilon(1e-9));
  else
    REQUIRE(here.frequencies[1] > 1.02 * here.frequencies[0]);
  const std::vector<double> by_objective = optimizer.objective_gradient(exec);
  analyse(x);
  const std::vector<double> by_limit = optimizer.limit_gradient(exec, 0);
  for (std::size_t e = 0; e < x.size(); ++e)
    CHECK(by_limit[e] == Approx(by_objective[e]).epsilon(1e-6).margin(1e-9));
  const std::vector<double> way = rough_densities(x.size(), -0.5, 1, 31);
  double expected = 0, change = 0;
  for (std::size_t e = 0; e < x.size(); ++e)
    expected += by_objective[e] * way[e];
  for (const auto& [times, weight] : {std::pair{1, 8.0}, {-1, -8.0}, {2, -1.0}, {-2, 1.0}}) {
    std::vector<double> moved = x; // fourth order
    for (std::size_t e = 0; e < x.size(); ++e)
      moved[e] += times * h * way[e];
    change += weight * analyse(moved).limits[0].mean / (12 * h);
  }
  CHECK(change == Approx(expected).epsilon(tolerance));
}

/// A beam between two walls, with a solid mass of ten times the density in the middle: without one
/// that has to be carried the highest frequency is that of no beam at all.
inline DesignProblem clamped_beam(const std::array<int, 3>& cells) {
  DesignProblem problem;
  problem.mesh = make_hexa_box({cells[0], cells[1], cells[2]},
                               {double(cells[0]), double(cells[1]), double(cells[2])});
  problem.young = 200;
  problem.materials = {{"beam", 200, 0.3, 3}, {"mass", 200, 0.3, 30}};
  problem.material.assign(problem.num_elem(), 0);
  problem.role.assign(problem.num_elem(), DesignRole::free);
  for (int e = 0; e < cells[0] * cells[1] * cells[2]; ++e)
    if (2 * (e % cells[0]) == cells[0] || 2 * (e % cells[0]) == cells[0] - 2) {
      problem.material[std::size_t(e)] = 1;
      problem.role[std::size_t(e)] = DesignRole::solid;
    }
  hold(problem, 7, [&](double x, double, double) { return x == 0 || x == cells[0]; });
  const int middle = cells[0] / 2;
  problem.cases.resize(1);
  problem.cases[0].loads.forces = {{node_at(problem, middle, 0, 0), {0, 0, -1}}};
  return problem;
}

} // namespace ossatura::test
