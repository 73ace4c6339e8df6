// SPDX-License-Identifier: Apache-2.0
// Bounds of the compliance: closed forms of bars, any number of other designs against a dense
// solve, a published course, other bodies, and what has no bound.
#include "tests/backend_test.hpp"
#include "tests/reference/dense_cholesky.hpp"
#include "tests/reference/hexa_elasticity.hpp"
#include "tests/solid_meshes.hpp"
#include "tests/solvers/topopt/design_gradients.hpp"
#include <ossatura/core/mesh/mechanics/traction.hpp>

#include <algorithm>
#include <numeric>
#include <random>

namespace {

using namespace ossatura;
using namespace ossatura::test;

constexpr double bar_length = 4, bar_area = 2; // 2 x 1

/// A bar of 4 x 2 x 1 elements, 4 m long, between rollers, of no lateral strain.
DesignProblem bound_bar() {
  DesignProblem problem;
  problem.mesh = make_hexa_box({4, 2, 1}, {bar_length, 2, 1});
  problem.poisson = 0;
  hold(problem, 1, [](double x, double, double) { return x < 1e-6; });
  hold(problem, 2, [](double, double y, double) { return y < 1e-6; });
  hold(problem, 4, [](double, double, double z) { return z < 1e-6; });
  problem.cases.resize(1);
  return problem;
}

/// Two materials, of 2 and of 1: the second where `is_soft(x, y)` of the centre.
template<class IsSoft>
void make_soft(DesignProblem& problem, const IsSoft& is_soft) {
  problem.materials = {{"stiff", 2, 0, 0}, {"soft", 1, 0, 0}};
  problem.young = 2;
  for (std::size_t e = 0; e < problem.mesh.num_elem(); ++e) {
    const std::array<double, 3> centre = problem.centre_of(e);
    problem.material.push_back(is_soft(centre[0], centre[1]) ? 1 : 0);
  }
}

/// Pulls the end evenly by a force of 1 in all.
void pull_bar(DesignProblem& problem) {
  for (const double y : {0., 1., 2.})
    for (const double z : {0., 1.})
      problem.cases[0].loads.forces.push_back(
          {node_at(problem, bar_length, y, z), {y == 1 ? 0.25 : 0.125, 0, 0}});
}

DesignOptions bound_options(double volume) {
  DesignOptions options = options_with(1e-11);
  options.filter = DesignFilter::none;
  options.volume_fraction = volume;
  options.min_modulus = 1e-6;
  return options;
}

double linear_modulus(const DesignOptions& options, double density) {
  return options.min_modulus + (1 - options.min_modulus) * density;
}

OSSATURA_BACKEND_TEST("The bound of a uniform bar is its compliance", "[compliance_bound]") {
  const TestType exec;
  DesignProblem problem = bound_bar();
  pull_bar(problem);
  DesignOptions options = bound_options(0.4);
  for (const DesignGrid grid : {DesignGrid::mesh, DesignGrid::voxels}) {
    options.grid = grid;
    options.penalty = {1, 1};
    DesignOptimizer<TestType> optimizer(exec, problem, options);
    const double compliance = optimizer.analyse(exec).objective;
    const DesignBound bound = optimizer.bound_compliance(exec);
    CHECK(bound.value ==
          Approx(bar_length / (bar_area * linear_modulus(options, 0.4))).epsilon(3e-7));
    CHECK(bound.value <= compliance);
    CHECK(bound.relaxed == Approx(compliance).epsilon(1e-7));
    CHECK(bound.steps == 1);
    options.penalty = {3, 3}; // the same bound, of a design that is softer
    DesignOptimizer<TestType> grey(exec, problem, options);
    CHECK(grey.analyse(exec).objective > 6 * compliance);
    CHECK(grey.bound_compliance(exec).value == Approx(bound.value).epsilon(1e-7));
  }
}

OSSATURA_BACKEND_TEST("The bound of a bar of tetrahedra and prisms", "[compliance_bound]") {
  const TestType exec;
  const DesignOptions options = bound_options(0.4);
  for (const SolidKind kind : {SolidKind::tetra10, SolidKind::prism15}) {
    DesignProblem problem;
    problem.poisson = 0;
    problem.solids = std::make_shared<const SolidMesh>(ossatura_test::make_solid_box(
        [&](int) { return kind; }, {2, 1, 1}, {bar_length, 2, 1}, [](std::array<double, 3>&) {}));
    const SolidMesh& mesh = *problem.solids;
    std::vector<std::int32_t> end;
    for (std::size_t n = 0; n < mesh.num_points(); ++n) {
      for (std::size_t c = 0; c < 3; ++c)
        if (mesh.point[3 * n + c] == 0)
          problem.held.push_back({std::int32_t(n), std::uint8_t(1 << c)});
      if (mesh.point[3 * n] == bar_length)
        end.push_back(std::int32_t(n));
    }
    problem.cases.resize(1);
    problem.cases[0].loads.forces = traction_forces(mesh, end, {1 / bar_area, 0, 0});
    DesignOptimizer<TestType> optimizer(exec, problem, options);
    CHECK(optimizer.bound_compliance(exec).value ==
          Approx(bar_length / (bar_area * linear_modulus(options, 0.4))).epsilon(1e-7));
  }
}

OSSATURA_BACKEND_TEST("The bound of bars in a row is their optimum", "[compliance_bound]") {
  // sum L_i / (E_i rho_i) / A is least where rho_i is as 1 / sqrt(E_i).
  const TestType exec;
  DesignProblem problem = bound_bar();
  pull_bar(problem);
  make_soft(problem, [](double x, double) { return x > 2; });
  const DesignOptions options = bound_options(0.4);
  DesignOptimizer<TestType> optimizer(exec, problem, options);
  DesignBoundOptions finely;
  finely.tolerance = 1e-6;
  const DesignBound bound = optimizer.bound_compliance(exec, finely);
  const double roots = 1 + 1 / std::sqrt(2.0), half = bar_length / 2;
  CHECK(bound.value == Approx(half * roots * roots / (bar_area * 2 * 0.4)).epsilon(2e-5));
  CHECK(bound.value <= bound.relaxed);
  CHECK(bound.relaxed <= bound.value * (1 + 1e-6));
  CHECK(bound.breakdown.empty());
}

OSSATURA_BACKEND_TEST("The bound of bars side by side fills the stiffer one",
                      "[compliance_bound]") {
  const TestType exec;
  DesignProblem problem = bound_bar();
  make_soft(problem, [](double, double y) { return y > 1; });
  const double move = 0.1, volume = 0.7; // the stiff bar is solid, and 0.4 of the soft one
  for (const double y : {0., 1., 2.})
    for (const double z : {0., 1.}) {
      const int node = node_at(problem, bar_length, y, z);
      problem.held.push_back({node, 1});
      problem.cases[0].loads.displacements.push_back({node, 0, move});
    }
  const DesignOptions options = bound_options(volume);
  DesignOptimizer<TestType> optimizer(exec, problem, options);
  const DesignBound bound = optimizer.bound_compliance(exec);
  const double stiffness = (2 + linear_modulus(options, 0.4)) / bar_length;
  CHECK(bound.value == Approx(-stiffness * move * move).epsilon(1e-7));
  CHECK(bound.value <= bound.relaxed);
}

/// Compliances of designs of `problem`, by a dense solve.
class DenseDesigns {
public:
  explicit DenseDesigns(const DesignProblem& problem)
      : problem_(problem)
      , number_(3 * problem.num_nodes(), -1) {
    std::vector<bool> held(number_.size());
    for (const HeldComponents& one : problem.held)
      for (int c = 0; c < 3; ++c)
        if (one.components >> c & 1)
          held[3 * std::size_t(one.node) + std::size_t(c)] = true;
    for (std::size_t i = 0; i < held.size(); ++i)
      if (!held[i])
        number_[i] = count_++;
  }

  double compliance(const std::vector<double>& density, double least, double penalty) const {
    std::vector<double> modulus;
    for (const double rho : density)
      modulus.push_back(problem_.young * (least + (1 - least) * std::pow(rho, penalty)));
    const auto full =
        reference::hexa_matrix(problem_.mesh.point, problem_.mesh.node, problem_.poisson, modulus);
    const std::size_t n = std::size_t(count_);
    std::vector<double> matrix(n * n);
    for (std::size_t i = 0; i < number_.size(); ++i)
      for (std::size_t j = 0; j < number_.size(); ++j)
        if (number_[i] >= 0 && number_[j] >= 0)
          matrix[std::size_t(number_[i]) * n + std::size_t(number_[j])] = full(int(i), int(j));
    double sum = 0;
    for (const DesignLoadCase& one : problem_.cases) {
      std::vector<double> force(n);
      for (const NodeForce& at : one.loads.forces)
        for (int c = 0; c < 3; ++c)
          if (const int i = number_[3 * std::size_t(at.node) + std::size_t(c)]; i >= 0)
            force[std::size_t(i)] += at.force[c];
      const std::vector<double> u = reference::solve_dense(matrix, force);
      sum += one.weight * std::inner_product(u.begin(), u.end(), force.begin(), 0.0);
    }
    return sum;
  }

private:
  const DesignProblem& problem_;
  std::vector<int> number_;
  int count_ = 0;
};

/// Distorted, held on one side, with two load cases, a solid element and a void one.
DesignProblem small_bound_problem() {
  DesignProblem problem = small_problem();
  problem.mesh = make_hexa_box({3, 2, 2}, {2, 1, 1});
  std::mt19937 random(5);
  for (double& x : problem.mesh.point)
    x += 0.06 * (double(random()) / double(random.max()) - 0.5);
  problem.held.clear();
  hold(problem, 7, [](double x, double, double) { return x < 0.1; });
  const std::int32_t last = std::int32_t(problem.mesh.num_points()) - 1;
  problem.cases[0].loads.forces = {{last, {0, 0, -1}}, {last - 4, {0, 0.3, -1}}};
  problem.cases[1].loads.forces = {{last, {1, 0.2, 0}}};
  problem.role.assign(problem.mesh.num_elem(), DesignRole::free);
  problem.role[4] = DesignRole::solid;
  problem.role[8] = DesignRole::void_;
  return problem;
}

OSSATURA_BACKEND_TEST("No design is below the bound", "[compliance_bound]") {
  const TestType exec;
  const DesignProblem problem = small_bound_problem();
  DesignOptions options = bound_options(0.45);
  options.min_modulus = 1e-3;
  options.penalty = {1, 1};
  DesignOptimizer<TestType> optimizer(exec, problem, options);
  for (int k = 0; k < 30; ++k) // the best design of the linear law
    optimizer.step(exec);
  const double best = optimizer.analyse(exec).objective;
  DesignBoundOptions finely;
  finely.tolerance = 1e-4;
  const DesignBound bound = optimizer.bound_compliance(exec, finely);
  CHECK(bound.value <= best);
  CHECK(best <= 1.001 * bound.value);

  const DenseDesigns dense(problem);
  const std::vector<double> volume = download(exec, optimizer.body().volume().value);
  const double total = std::accumulate(volume.begin(), volume.end(), 0.0);
  std::mt19937 random(7);
  const auto draw = [&] { return double(random()) / double(random.max()); };
  double least = 1e300;
  for (int k = 0; k < 150; ++k) {
    std::vector<double> density(volume.size());
    const double power = k % 3 == 0 ? 0.2 : 2; // nearly solid and void, or more grey
    double fixed = 0, free = 0;
    for (std::size_t e = 0; e < density.size(); ++e) {
      density[e] = problem.role[e] == DesignRole::solid   ? 1
                   : problem.role[e] == DesignRole::void_ ? 0
                                                          : std::pow(draw(), power);
      (problem.role[e] == DesignRole::free ? free : fixed) += volume[e] * density[e];
    }
    const double factor = std::min(1.0, (0.45 * total - fixed) / free);
    for (std::size_t e = 0; e < density.size(); ++e)
      if (problem.role[e] == DesignRole::free)
        density[e] *= factor;
    const double compliance = dense.compliance(density, options.min_modulus, 1 + 2 * draw());
    least = std::min(least, compliance);
    REQUIRE(compliance >= bound.value);
  }
  CHECK(least < 10 * bound.value); // not all of them are poor
}

OSSATURA_BACKEND_TEST("The bound of a published cantilever", "[compliance_bound]") {
  // Its load, support and volume are those of TopOpt in PETSc.
  const TestType exec;
  DesignProblem problem = half_of_petsc(8);
  DesignOptions options = options_with(1e-6);
  options.volume_fraction = 0.12;
  options.radius = 0.25;
  std::vector<double> values;
  for (const DesignGrid grid : {DesignGrid::mesh, DesignGrid::voxels}) {
    options.grid = grid;
    DesignOptimizer<TestType> optimizer(exec, problem, options);
    for (int k = 0; k < 15; ++k)
      optimizer.step(exec);
    const double compliance = optimizer.analyse(exec).objective;
    const DesignBound bound = optimizer.bound_compliance(exec);
    CHECK(bound.value < compliance);
    CHECK(bound.relaxed <= bound.value * 1.01);
    CHECK(bound.relaxed >= bound.value);
    values.push_back(bound.value);
    // Again, from other displacements: not to the last digit.
    CHECK(optimizer.bound_compliance(exec).value == Approx(bound.value).epsilon(1e-4));
  }
  CHECK(values[1] == Approx(values[0]).epsilon(1e-4));
}

OSSATURA_BACKEND_TEST("Of whatever a bound is not known there is none", "[compliance_bound]") {
  const TestType exec;
  const auto check = [&](const DesignProblem& problem, const DesignOptions& options,
                         const std::string& reason) {
    CHECK_THROWS_WITH(DesignOptimizer<TestType>(exec, problem, options).bound_compliance(exec),
                      ContainsSubstring("no bound of the compliance") && ContainsSubstring(reason));
  };
  DesignProblem problem = bound_bar();
  pull_bar(problem);
  DesignOptions options = bound_options(0.4);
  options.method = DesignMethod::mma;
  DesignProblem limited = problem;
  limited.limits = {{DesignLimitKind::compliance, 100}};
  check(limited, options, "constraints beside the volume");
  DesignProblem sprung = problem;
  sprung.springs = {{0, 0, 1.0}};
  check(sprung, options, "springs");
  options.objective = DesignObjective::volume;
  check(limited, options, "the objective is volume");
  options.objective = DesignObjective::mechanism;
  DesignProblem moving = problem;
  moving.output = {{node_at(problem, bar_length, 2, 1), {1, 0, 0}}};
  check(moving, options, "the objective is mechanism");
  options.objective = DesignObjective::compliance;
  DesignProblem heavy = problem;
  heavy.materials = {{"steel", 1, 0, 7850}};
  heavy.material.assign(problem.mesh.num_elem(), 0);
  heavy.cases[0].loads.body = {{{0, 0, -9.81}}};
  check(heavy, options, "gravity and rotation");

  options = bound_options(0.4);
  options.solver.cg.max_iterations = 1;
  options.solver.cg.tolerance = 1e-15;
  DesignOptimizer<TestType> stuck(exec, small_bound_problem(), options);
  const DesignBound none = stuck.bound_compliance(exec);
  CHECK(none.steps == 0);
  CHECK(std::isinf(none.value));
  CHECK_THAT(none.breakdown, ContainsSubstring("no solution"));
}

OSSATURA_BACKEND_TEST("A bound ends where it is told to", "[compliance_bound]") {
  const TestType exec;
  DesignOptimizer<TestType> optimizer(exec, small_bound_problem(), bound_options(0.45));
  int asked = 0;
  DesignBoundOptions finely;
  finely.tolerance = 0;
  CHECK(optimizer.bound_compliance(exec, finely, [&] { return ++asked < 4; }).steps == 3);
  finely.max_steps = 2;
  CHECK(optimizer.bound_compliance(exec, finely).steps == 2);
}

} // namespace
