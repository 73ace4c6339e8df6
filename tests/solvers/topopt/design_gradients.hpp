// SPDX-License-Identifier: Apache-2.0
// Gradients of designs against differences, and a small problem without symmetry.
#pragma once

#include "tests/catch.hpp"
#include "tests/solvers/topopt/design_problems.hpp"
#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <random>
#include <utility>
#include <vector>

namespace ossatura::test {

/// A distorted box that is held on one side, under two load cases; a solid, a void element.
inline DesignProblem small_problem() {
  DesignProblem problem;
  problem.mesh = make_hexa_box({5, 3, 3}, {2, 1, 1});
  std::mt19937 random(5);
  for (std::size_t i = 0; i < problem.mesh.point.size(); ++i)
    problem.mesh.point[i] += 0.06 * (double(random()) / double(random.max()) - 0.5);
  problem.young = 200;
  hold(problem, 7, [](double x, double, double) { return x < 0.1; });
  const std::int32_t last = std::int32_t(problem.mesh.num_points()) - 1;
  problem.cases.resize(2);
  problem.cases[0] = {{"down", {{last, {0, 0, -1}}, {last - 1, {0, 0.3, -1}}}}, 0.7};
  problem.cases[1] = {{"along", {{last, {1, 0.2, 0}}}}, 1.3};
  problem.role.assign(problem.mesh.num_elem(), DesignRole::free);
  problem.role[7] = DesignRole::solid;
  problem.role[29] = DesignRole::void_;
  return problem;
}

/// A state with variables that differ from element to element, of low .. low + range.
template<class Exec>
DesignState rough_state(const Exec& exec, const DesignOptimizer<Exec>& optimizer,
                        const DesignProblem& problem, double low = 0.2, double range = 0.6) {
  DesignState state = optimizer.state(exec);
  std::mt19937 random(17);
  for (std::size_t e = 0; e < state.x.size(); ++e)
    if (problem.role.empty() || problem.role[e] == DesignRole::free)
      state.x[e] = low + range * double(random()) / double(random.max());
  return state;
}

/// What get(array) sets.
template<class Exec, class Get>
std::vector<double> set_by(const Exec& exec, std::size_t n, const Get& get) {
  const auto array = make_uninitialized<double>(exec, std::int64_t(n), "result");
  Kokkos::deep_copy(exec, array, -7.0);
  get(array);
  return download(exec, array);
}

/// Arrays of the backend have what vectors of the host have, in the same order. After an analysis.
template<class Exec>
void check_arrays(const Exec& exec, const DesignProblem& problem,
                  DesignOptimizer<Exec>& optimizer) {
  const std::size_t n = problem.num_elem();
  CHECK(set_by(exec, n, [&](const auto& a) { optimizer.densities(exec, a); }) ==
        optimizer.densities(exec));
  CHECK(set_by(exec, n, [&](const auto& a) { optimizer.variables(exec, a); }) ==
        optimizer.variables(exec));
  CHECK(set_by(exec, n, [&](const auto& a) { optimizer.energies(exec, a); }) ==
        optimizer.energies(exec));
  CHECK(set_by(exec, n, [&](const auto& a) { optimizer.volume_gradient(exec, a); }) ==
        optimizer.volume_gradient(exec));
  CHECK(set_by(exec, 3 * problem.num_nodes(), [&](const auto& a) {
          optimizer.displacements(exec, 0, a);
        }) == optimizer.displacements(exec, 0));
}

/// How differences are taken, and how near gradients are to them, relative.
struct DifferenceBounds {
  double step = 2e-3, objective = 1e-6, volume = 1e-6;
};

template<class Exec>
void check_gradients(const Exec& exec, const DesignProblem& problem, const DesignOptions& options,
                     double low = 0.2, double range = 0.6, const DifferenceBounds& bounds = {}) {
  INFO(name_of(options.objective) << ", filter " << name_of(options.filter) << ", projection "
                                  << options.projection);
  DesignOptimizer<Exec> optimizer(exec, problem, options);
  const DesignState state = rough_state(exec, optimizer, problem, low, range);
  optimizer.set_state(exec, state);
  optimizer.analyse(exec);
  check_arrays(exec, problem, optimizer);
  const std::vector<double> by_objective = set_by(
                                exec, problem.num_elem(),
                                [&](const auto&a) { optimizer.objective_gradient(exec, a); }),
                            by_volume = optimizer.volume_gradient(exec);
  std::mt19937 random(23); // a direction in which every element moves
  std::vector<double> direction(state.x.size());
  double objective = 0, volume = 0;
  for (std::size_t e = 0; e < direction.size(); ++e)
    if (problem.role[e] == DesignRole::free) {
      direction[e] = double(random()) / double(random.max()) - 0.5;
      objective += by_objective[e] * direction[e];
      volume += by_volume[e] * direction[e];
    } else {
      CHECK(by_objective[e] == 0);
      CHECK(by_volume[e] == 0);
    }
  // Fourth order: (8 (f(h) - f(-h)) - (f(2 h) - f(-2 h))) / 12 h.
  const double h = bounds.step;
  double objective_change = 0, volume_change = 0;
  for (const auto& [at, weight] : {std::pair{1, 8.0}, {-1, -8.0}, {2, -1.0}, {-2, 1.0}}) {
    DesignState moved = state;
    for (std::size_t e = 0; e < direction.size(); ++e)
      moved.x[e] += at * h * direction[e];
    optimizer.set_state(exec, moved);
    const DesignStep there = optimizer.analyse(exec);
    objective_change += weight * there.objective / (12 * h);
    volume_change += weight * there.volume / (12 * h);
  }
  CHECK(objective_change == Approx(objective).epsilon(bounds.objective));
  CHECK(volume_change == Approx(volume).epsilon(bounds.volume));
}

} // namespace ossatura::test
