// SPDX-License-Identifier: Apache-2.0
// Natural frequencies on voxels: against dense matrices, against the same box as hexahedra and
// beams, gradients against differences, and runs that go on.
#include "tests/backend_test.hpp"
#include "tests/solvers/topopt/dense_frequencies.hpp"
#include "tests/solvers/topopt/frequency_checks.hpp"
#include <ossatura/core/mesh/hexa/changes.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <cmath>
#include <memory>

namespace {

using namespace ossatura;
using namespace ossatura::test;

DesignOptions vibrating_on_voxels(DesignOptions options, Precision precision = Precision::lean) {
  options.grid = DesignGrid::voxels;
  options.voxels.precision = precision;
  options.voxels.multigrid.direct_nodes = 60; // several levels for few elements
  return options;
}

/// A box without a cell at its edge, held at its wall, of two materials; nodes in random order.
DesignProblem notched_box() {
  DesignProblem problem;
  HexaModel model;
  model.mesh = make_hexa_box({4, 2, 2}, {2, 1, 1});
  model.mesh.node.erase(model.mesh.node.begin() + 8 * 5, model.mesh.node.begin() + 8 * 6);
  renumber(model, 5);
  problem.mesh = model.mesh;
  problem.young = 200;
  problem.materials = {{"heavy", 200, 0.3, 3}, {"light", 90, 0.3, 1.3}};
  problem.material.assign(problem.num_elem(), 0);
  problem.material[3] = 1;
  hold(problem, 7, [](double x, double, double) { return x < 1e-9; });
  problem.cases.resize(1);
  problem.cases[0].loads.forces = {{node_at(problem, 2, 0, 0), {0, 0.2, -1}}};
  return problem;
}

} // namespace

OSSATURA_BACKEND_TEST("Frequencies on voxels are those of dense matrices", "[voxel_frequencies]") {
  const TestType exec;
  const DesignProblem problem = notched_box();
  // Of void, of what is below and above the bend of the law, and solid.
  std::vector<double> x = rough_densities(problem.num_elem(), 0.05, 0.95, 5);
  x[6] = 0;
  x[9] = 1;
  const std::vector<double> expected = expected_frequencies(problem, x, 4, true);
  for (const Precision precision : {Precision::lean, Precision::mixed, Precision::fp64}) {
    INFO(name_of(precision));
    DesignOptimizer<TestType> optimizer(exec, problem,
                                        vibrating_on_voxels(options_of_frequencies(4), precision));
    set_design(exec, optimizer, x);
    const DesignStep step = optimizer.analyse(exec);
    REQUIRE(step.frequencies.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(step.frequencies[i] == Approx(expected[i]).epsilon(1e-8));
      CHECK(step.frequency_residuals[i] <= 1e-8);
      for (const HeldComponents& one : problem.held) {
        const std::vector<double> mode = optimizer.mode(exec, int(i));
        CHECK(mode[3 * std::size_t(one.node)] == 0);
      }
    }
  }
}

OSSATURA_BACKEND_TEST("Frequencies of cubes are those of the same hexahedra",
                      "[voxel_frequencies]") {
  const TestType exec;
  DesignProblem problem = clamped_beam({16, 3, 4});
  const DesignOptions options = options_of_frequencies(5, 1e-8);
  const std::vector<double> x = rough_densities(problem.num_elem(), 0, 1, 11);
  const auto found = [&](const DesignProblem& of, const DesignOptions& by) {
    DesignOptimizer<TestType> optimizer(exec, of, by);
    set_design(exec, optimizer, x);
    return optimizer.analyse(exec).frequencies;
  };
  const std::vector<double> by_mesh = found(problem, options);
  const std::vector<double> by_voxels = found(problem, vibrating_on_voxels(options));
  problem.lattice = std::make_shared<const LatticeBody>(make_lattice_box({16, 3, 4}, {16, 3, 4}));
  problem.mesh = {};
  const std::vector<double> by_lattice = found(problem, vibrating_on_voxels(options));
  REQUIRE(by_voxels.size() == by_mesh.size());
  for (std::size_t i = 0; i < by_mesh.size(); ++i) {
    INFO(i);
    CHECK(by_voxels[i] == Approx(by_mesh[i]).epsilon(1e-7)); // of moduli in single precision
    CHECK(by_lattice[i] == Approx(by_voxels[i]).epsilon(1e-12));
  }
}

OSSATURA_BACKEND_TEST("A slender beam of voxels bends as Euler says", "[voxel_frequencies]") {
  // Trilinear cubes are too stiff in bending, by about (1 - nu) / 2 n^2 of n over the height
  // without contraction aside: frequencies come from above, and four times nearer with twice as
  // many.
  const TestType exec;
  const double length = 16, speed = std::sqrt(200. / 3);
  const double expected = std::pow(1.875104068711961, 2) /
                          (2 * Kokkos::numbers::pi * length * length) * speed / std::sqrt(12.);
  double excess[2];
  for (const int n : {2, 4}) {
    DesignProblem problem;
    problem.mesh = make_hexa_box({16 * n, n, n}, {length, 1, 1});
    problem.young = 200;
    problem.poisson = 0;
    problem.materials = {{"only", 200, 0, 3}};
    hold(problem, 7, [](double x, double, double) { return x < 1e-9; });
    problem.cases.resize(1);
    problem.cases[0].loads.forces = {{node_at(problem, length, 0, 0), {0, 0, -1}}};
    DesignOptimizer<TestType> optimizer(exec, problem,
                                        vibrating_on_voxels(options_of_frequencies(2, 1e-6)));
    set_design(exec, optimizer, std::vector<double>(problem.num_elem(), 1.0));
    const std::vector<double> found = optimizer.analyse(exec).frequencies;
    CHECK(found[1] == Approx(found[0]).epsilon(1e-6)); // bending both ways
    excess[n == 4] = found[0] / expected - 1;
  }
  INFO(excess[0] << ", " << excess[1]);
  CHECK(excess[0] < 0.15);
  CHECK(excess[1] < excess[0] / 3);
  CHECK(excess[1] > 0);
}

OSSATURA_BACKEND_TEST("Gradients of frequencies on voxels are those of differences",
                      "[voxel_frequencies]") {
  const TestType exec;
  DesignOptions options = vibrating_on_voxels(options_of_frequencies(4, 1e-10), Precision::fp64);
  const DesignProblem problem = notched_box();
  const std::vector<double> x = rough_densities(problem.num_elem(), 0.3, 0.6, 7);
  // Moduli are rounded to single precision, which moves differences by about 6e-8 / h.
  check_mean_gradient(exec, problem, options, x, false, 1e-2, 1e-5);
  options.filter = DesignFilter::density;
  options.radius = 0.8;
  check_mean_gradient(exec, problem, options, x, false, 1e-2, 1e-5);
}

OSSATURA_BACKEND_TEST(
    "Designs of voxels for frequencies are those of the mesh, and go on with the same bits",
    "[voxel_frequencies]") {
  const TestType exec;
  const DesignProblem problem = clamped_beam({12, 2, 3});
  DesignOptions options = options_of_frequencies(3, 1e-7);
  options.objective = DesignObjective::frequency;
  options.volume_fraction = 0.5;
  options.move = move_with_frequency;
  options.filter = DesignFilter::density;
  options.radius = 1.5;
  DesignOptimizer<TestType> mesh(exec, problem, options);
  DesignOptimizer<TestType> whole(exec, problem, vibrating_on_voxels(options));
  DesignOptimizer<TestType> rest(exec, problem, vibrating_on_voxels(options));
  for (int step = 0; step < 8; ++step) {
    if (step == 6)
      rest.set_state(exec, whole.state(exec));
    const DesignStep by_mesh = mesh.step(exec), by_voxels = whole.step(exec);
    for (std::size_t i = 0; i < by_mesh.frequencies.size(); ++i)
      CHECK(by_voxels.frequencies[i] == Approx(by_mesh.frequencies[i]).epsilon(1e-4));
    if (step >= 6) {
      const DesignStep again = rest.step(exec);
      CHECK(again.objective == by_voxels.objective);
      CHECK(again.frequencies == by_voxels.frequencies);
    }
  }
  CHECK(rest.variables(exec) == whole.variables(exec));
  const std::vector<double> one = mesh.densities(exec), other = whole.densities(exec);
  for (std::size_t e = 0; e < one.size(); ++e)
    CHECK(other[e] == Approx(one[e]).margin(1e-3));
}
