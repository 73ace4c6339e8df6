// SPDX-License-Identifier: Apache-2.0
// The balance of a design, against the loads that the test itself applied.
#include "tests/backend_test.hpp"
#include "tests/solvers/topopt/design_problems.hpp"
#include <ossatura/solvers/topopt/balance.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>

namespace {

using namespace ossatura;
using namespace ossatura::test;

OSSATURA_BACKEND_TEST("Loads and reactions of a design are in balance", "[design_balance]") {
  const TestType exec;
  DesignProblem problem = half_of_top3d(4);
  DesignOptimizer<TestType> optimizer(exec, problem, options_with(1e-10));
  const DesignStep step = optimizer.step(exec);

  const ForceBalance sound = balance_design(exec, problem, optimizer, 0);
  CHECK(sound.force_error() < 1e-8);
  CHECK(sound.moment_error() < 1e-8);
  CHECK(sound.energy_error() < 1e-8);
  CHECK(2 * sound.energy == Approx(step.objective).epsilon(1e-8));
  CHECK(sound.work == Approx(step.objective).epsilon(1e-8));

  // One force more than the displacements are of: that force is what is missing, its arm from the
  // first node gives the moment, and its way the work.
  const int node = node_at(problem, 8, 2, 2);
  problem.cases[0].loads.forces.push_back({node, {0, 0, 0.25}});
  const ForceBalance other = balance_design(exec, problem, optimizer, 0);
  const double u = optimizer.displacements(exec, 0)[3 * std::size_t(node) + 2];
  CHECK(other.force[2] - sound.force[2] == Approx(0.25).epsilon(1e-10));
  CHECK(other.moment[0] - sound.moment[0] == Approx(2 * 0.25).epsilon(1e-10));
  CHECK(other.moment[1] - sound.moment[1] == Approx(-8 * 0.25).epsilon(1e-10));
  CHECK(other.work - sound.work == Approx(0.25 * u).epsilon(1e-6));
  CHECK(other.energy == sound.energy);
  CHECK(other.force_error() > 1e-2);
}

} // namespace
