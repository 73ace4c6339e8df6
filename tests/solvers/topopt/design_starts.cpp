// SPDX-License-Identifier: Apache-2.0
// Designs that start from those of another mesh: places, volumes, and what goes on from there.
#include "tests/backend_test.hpp"
#include "tests/solvers/topopt/design_problems.hpp"
#include <ossatura/solvers/topopt/optimizer.hpp>
#include <ossatura/solvers/topopt/start.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace {

using namespace ossatura;
using namespace ossatura::test;
using Values = std::vector<double>;

/// A cantilever of 4 x 2 x 2 with `parts` cells along a unit, pressed at a corner, whose first cell
/// is solid.
DesignProblem cantilever(int parts) {
  DesignProblem problem;
  problem.mesh = make_hexa_box({4 * parts, 2 * parts, 2 * parts}, {4, 2, 2});
  hold(problem, 7, [](double x, double, double) { return x < 1e-6; });
  problem.cases.resize(1);
  problem.cases[0].loads.forces = {{node_at(problem, 4, 0, 0), {0, 0, -1}}};
  problem.role.assign(problem.mesh.num_elem(), DesignRole::free);
  problem.role[0] = DesignRole::solid;
  return problem;
}

DesignOptions start_options(DesignMethod method = DesignMethod::oc) {
  DesignOptions options = options_with(1e-8);
  options.method = method;
  options.radius = 1.2;
  options.penalty = {1, 3, 2, 1, 0.5};
  return options;
}

/// A field that tetrahedra and cells of any size have alike.
double wave(const std::array<double, 3>& x) {
  return 0.5 + 0.3 * std::sin(x[0]) * std::cos(x[1]) + 0.1 * std::sin(2 * x[2]);
}

Values waves_of(const DesignProblem& problem) {
  Values values;
  for (std::size_t e = 0; e < problem.num_elem(); ++e)
    values.push_back(wave(problem.centre_of(e)));
  return values;
}

OSSATURA_BACKEND_TEST("Densities go from one mesh to another by their places", "[design_starts]") {
  const TestType exec;
  const DesignProblem coarse = cantilever(4), fine = cantilever(7);
  CHECK(densities_at(exec, place_densities(coarse, waves_of(coarse)), coarse) == waves_of(coarse));
  DesignProblem lattice = fine;
  lattice.mesh = {};
  lattice.lattice = std::make_shared<const LatticeBody>(make_lattice_box({28, 14, 14}, {4, 2, 2}));
  const Values expected = waves_of(fine);
  for (const DesignProblem* to : {&fine, const_cast<const DesignProblem*>(&lattice)}) {
    const Values found = densities_at(exec, place_densities(coarse, waves_of(coarse)), *to);
    REQUIRE(found.size() == expected.size());
    double largest = 0, mean = 0;
    for (std::size_t e = 0; e < found.size(); ++e) {
      largest = std::max(largest, std::fabs(found[e] - expected[e]));
      mean += std::fabs(found[e] - expected[e]) / double(found.size());
    }
    CHECK(largest < 0.06); // half a cell at the boundary, where the field has a slope of 0.3
    CHECK(mean < 0.012);
  }
  CHECK(densities_at(exec, place_densities(lattice, waves_of(fine)), fine) == waves_of(fine));
}

OSSATURA_BACKEND_TEST("A body elsewhere, and no design, are refused", "[design_starts]") {
  const TestType exec;
  const DesignProblem problem = cantilever(1);
  DesignProblem moved = problem;
  for (double& x : moved.mesh.point)
    x = 1000 * x + 5000;
  CHECK_THROWS_WITH(densities_at(exec, place_densities(problem, waves_of(problem)), moved),
                    ContainsSubstring("is of another body"));
  for (std::size_t i = 0; i < moved.mesh.point.size(); ++i)
    moved.mesh.point[i] = 0.1 * problem.mesh.point[i];
  CHECK_THROWS_WITH(densities_at(exec, place_densities(problem, waves_of(problem)), moved),
                    ContainsSubstring("is of another body"));
  for (std::size_t i = 0; i < moved.mesh.point.size(); ++i) // from the same corner
    moved.mesh.point[i] = 2 * problem.mesh.point[i];
  CHECK_THROWS_WITH(densities_at(exec, place_densities(problem, waves_of(problem)), moved),
                    ContainsSubstring("is of another body, "));
  CHECK_THROWS_WITH(densities_at(exec, {}, problem), ContainsSubstring("0 densities"));
  CHECK_THROWS_WITH(place_densities(problem, Values(3)),
                    ContainsSubstring("3 densities of 16 elements"));
  CHECK_THROWS_WITH(place_densities({0, 0, 0}, {0, 2}, {0, 1}, {0.5}),
                    ContainsSubstring("element 0 has node 1 of 1"));
}

OSSATURA_BACKEND_TEST("A start has the volume that is allowed, in proportion", "[design_starts]") {
  const TestType exec;
  const DesignProblem problem = cantilever(2);
  for (const bool projected : {false, true})
    for (const double size : {0.05, 0.4, 1.0}) {
      INFO(size << ", projection " << projected);
      DesignOptions options = start_options();
      options.projection = projected;
      options.volume_fraction = 0.35;
      DesignOptimizer<TestType> optimizer(exec, problem, options);
      Values x = waves_of(problem);
      for (double& one : x)
        one *= size;
      CHECK(optimizer.start_from(exec, x));
      const DesignStep step = optimizer.analyse(exec);
      CHECK(step.volume == Approx(0.35).epsilon(2e-9));
      const Values found = optimizer.variables(exec);
      CHECK(found[0] == 1);
      const double factor = found[5] / x[5];
      for (std::size_t e = 1; e < x.size(); ++e)
        CHECK(found[e] == Approx(std::min(1.0, factor * x[e])).epsilon(1e-12));
    }
}

OSSATURA_BACKEND_TEST("A void design becomes even, and the least volume stays", "[design_starts]") {
  const TestType exec;
  const DesignProblem problem = cantilever(1);
  DesignOptimizer<TestType> optimizer(exec, problem, start_options());
  CHECK(optimizer.start_from(exec, Values(16, 0.0)));
  const Values even = optimizer.variables(exec);
  CHECK(*std::max_element(even.begin() + 1, even.end()) ==
        *std::min_element(even.begin() + 1, even.end()));
  optimizer.step(exec);
  CHECK_THROWS_WITH(optimizer.start_from(exec, Values(16, 0.5)),
                    ContainsSubstring("a start after step 1"));
  DesignProblem light = problem;
  light.limits = {{DesignLimitKind::compliance, 500}};
  DesignOptions options = start_options(DesignMethod::mma);
  options.objective = DesignObjective::volume;
  DesignOptimizer<TestType> least(exec, light, options);
  CHECK(least.start_from(exec, Values(16, 0.25)));
  const Values kept = least.variables(exec);
  CHECK(std::count(kept.begin(), kept.end(), 0.25) == 15);
}

/// The bits of steps from the start, of ones that are resumed after the first of them, and of ones
/// after the state of another mesh.
template<class Exec>
void check_refined(const Exec& exec, DesignMethod method) {
  const DesignProblem coarse = cantilever(2), fine = cantilever(3);
  const DesignOptions options = start_options(method);
  DesignOptimizer<Exec> before(exec, coarse, options);
  for (int k = 0; k < 3; ++k)
    before.step(exec);
  const DesignState last = before.state(exec);
  DesignOptimizer<Exec> whole(exec, fine, options), resumed(exec, fine, options);
  CHECK(whole.start_from(exec, densities_at(exec, place_densities(coarse, last.x), fine), &last));
  CHECK(whole.num_steps() == 3);
  CHECK_FALSE(whole.has_converged());
  const DesignStep next = whole.step(exec);
  CHECK(next.number == 4);
  CHECK(next.penalty == last.penalty);
  whole.step(exec);
  const DesignState state = whole.state(exec);
  CHECK(state.first_step == 3);
  resumed.set_state(exec, state);
  for (int k = 0; k < 2; ++k) { // the asymptotes of MMA are those of steps on this mesh alone
    whole.step(exec);
    resumed.step(exec);
  }
  CHECK(resumed.variables(exec) == whole.variables(exec));
  DesignState wrong = state;
  wrong.first_step = 6;
  CHECK_THROWS_WITH(resumed.set_state(exec, wrong), ContainsSubstring("step 5 after 6"));
}

OSSATURA_BACKEND_TEST("Steps go on where those on a coarser mesh ended", "[design_starts]") {
  check_refined(TestType(), DesignMethod::oc);
  check_refined(TestType(), DesignMethod::mma);
}

} // namespace
