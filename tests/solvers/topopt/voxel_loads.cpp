// SPDX-License-Identifier: Apache-2.0
// Designs on voxels that are warm, heavy or turn: against the same cubes as hexahedra, closed
// forms, and gradients against differences.
#include "tests/backend_test.hpp"
#include "tests/solvers/topopt/frequency_checks.hpp"
#include <ossatura/solvers/topopt/balance.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace {

using namespace ossatura;
using namespace ossatura::test;

constexpr double warm_alpha = 0.01;

DesignOptions loaded_on(DesignGrid grid, double tolerance = 1e-10) {
  DesignOptions options = options_with(tolerance);
  options.grid = grid;
  options.min_modulus = 1e-3;
  options.filter = DesignFilter::none;
  options.method = DesignMethod::mma;
  options.voxels.precision = Precision::fp64;
  options.voxels.multigrid.direct_nodes = 60;
  return options;
}

/// A box of cubes of 0.5 of two materials, warm here and cold there, beside a force; two load
/// cases.
DesignProblem warm_box() {
  DesignProblem problem;
  problem.mesh = make_hexa_box({6, 3, 4}, {3, 1.5, 2});
  problem.young = 200;
  problem.materials = {{"one", 200, 0.3, 0, warm_alpha}, {"other", 500, 0.3, 0, -0.5 * warm_alpha}};
  for (std::size_t e = 0; e < problem.num_elem(); ++e)
    problem.material.push_back(std::uint8_t(e % 3 == 0));
  hold(problem, 7, [](double x, double, double) { return x < 1e-9; });
  problem.cases.resize(2);
  problem.cases[0].loads.warming = rough_densities(problem.num_nodes(), -5, 30, 3);
  problem.cases[0].weight = 0.7;
  problem.cases[1].loads.warming.assign(problem.num_nodes(), 4);
  problem.cases[1].loads.forces = {{node_at(problem, 3, 0, 2), {1, 3, -2}}};
  return problem;
}

/// The same box without a mesh.
void take_lattice(DesignProblem& problem) {
  problem.mesh = {};
  problem.lattice = std::make_shared<const LatticeBody>(make_lattice_box({6, 3, 4}, {3, 1.5, 2}));
}

void check_near(const std::vector<double>& found, const std::vector<double>& expected,
                double tolerance) {
  REQUIRE(found.size() == expected.size());
  double largest = 0, apart = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::fabs(expected[i]));
    apart = std::max(apart, std::fabs(found[i] - expected[i]));
  }
  CHECK(apart <= tolerance * largest);
}

} // namespace

OSSATURA_BACKEND_TEST("Warm cubes are those of the same hexahedra", "[voxel_temperatures]") {
  const TestType exec;
  DesignProblem problem = warm_box();
  problem.limits = {
      {DesignLimitKind::stress, 30, -1},
      {DesignLimitKind::displacement, 1, 0, false, {{node_at(problem, 3, 1.5, 2), {0.2, 1, 0.5}}}}};
  const std::vector<double> x = rough_densities(problem.num_elem(), 0.1, 0.9, 5);
  DesignOptimizer<TestType> mesh(exec, problem, loaded_on(DesignGrid::mesh));
  set_design(exec, mesh, x);
  const DesignStep expected = mesh.analyse(exec);
  const std::vector<double> gradient = mesh.objective_gradient(exec);
  std::vector<std::vector<double>> of_limits;
  for (int j = 0; j < 2; ++j)
    of_limits.push_back(mesh.limit_gradient(exec, j));
  for (const bool as_lattice : {false, true}) {
    if (as_lattice)
      take_lattice(problem);
    DesignOptimizer<TestType> voxels(exec, problem, loaded_on(DesignGrid::voxels));
    set_design(exec, voxels, x);
    const DesignStep found = voxels.analyse(exec);
    for (int k = 0; k < 2; ++k) { // moduli are in single precision
      CHECK(found.cases[std::size_t(k)] == Approx(expected.cases[std::size_t(k)]).epsilon(1e-6));
      check_near(voxels.thermal_forces(exec, k), mesh.thermal_forces(exec, k), 2e-7);
      check_near(voxels.displacements(exec, k), mesh.displacements(exec, k), 1e-6);
      const DesignBalance balance = balance_design(exec, problem, voxels, std::size_t(k));
      CHECK(balance.force_error() < 1e-6);
      CHECK(balance.energy_error() < 1e-6);
    }
    check_near(voxels.energies(exec), mesh.energies(exec), 1e-6);
    check_near(voxels.stresses(exec), mesh.stresses(exec), 1e-6);
    check_near(voxels.objective_gradient(exec), gradient, 1e-6);
    for (int j = 0; j < 2; ++j)
      check_near(voxels.limit_gradient(exec, j), of_limits[std::size_t(j)], 1e-5);
  }
}

OSSATURA_BACKEND_TEST("Voxels that expand freely have no stress", "[voxel_temperatures]") {
  const TestType exec;
  constexpr double by = 30;
  DesignProblem problem;
  problem.mesh = make_hexa_box({4, 2, 2}, {2, 1, 1});
  problem.young = 200;
  problem.materials = {{"warm", 200, 0.3, 0, warm_alpha}};
  problem.held = {{node_at(problem, 0, 0, 0), 7},
                  {node_at(problem, 2, 0, 0), 6},
                  {node_at(problem, 0, 1, 0), 4}};
  problem.cases.resize(1);
  problem.cases[0].loads.warming.assign(problem.num_nodes(), by);
  DesignOptimizer<TestType> optimizer(exec, problem, loaded_on(DesignGrid::voxels, 1e-12));
  set_design(exec, optimizer, rough_densities(problem.num_elem(), 0, 1, 5));
  optimizer.analyse(exec);
  std::vector<double> expected;
  for (const double x : problem.mesh.point)
    expected.push_back(warm_alpha * by * x);
  check_near(optimizer.displacements(exec, 0), expected, 1e-8);
  const double of_clamped = 200 * warm_alpha * by; // Pa
  for (const double stress : optimizer.stresses(exec))
    CHECK(stress < 1e-6 * of_clamped);
  for (const double energy : optimizer.energies(exec))
    CHECK(std::fabs(energy) < 1e-6 * of_clamped * warm_alpha * by);
  for (const double force : balance_design(exec, problem, optimizer, 0).support_force)
    CHECK(std::fabs(force) < 1e-6 * of_clamped);
}

OSSATURA_BACKEND_TEST("A bar of voxels between walls is pressed by E A alpha T",
                      "[voxel_temperatures]") {
  const TestType exec;
  constexpr double by = 7, density = 0.5;
  DesignProblem problem;
  problem.mesh = make_hexa_box({6, 2, 4}, {3, 1, 2});
  problem.young = 200;
  problem.materials = {{"warm", 200, 0.3, 0, warm_alpha}};
  hold(problem, 1, [](double x, double, double) { return x < 1e-9 || x > 3 - 1e-9; });
  hold(problem, 2, [](double, double y, double) { return y < 1e-9; });
  hold(problem, 4, [](double, double, double z) { return z < 1e-9; });
  problem.cases.resize(1);
  problem.cases[0].loads.warming.assign(problem.num_nodes(), by);
  DesignOptimizer<TestType> optimizer(exec, problem, loaded_on(DesignGrid::voxels));
  set_design(exec, optimizer, std::vector<double>(problem.num_elem(), density));
  optimizer.analyse(exec);
  const double modulus = 200 * (1e-3 + (1 - 1e-3) * density * density * density);
  const double strain = warm_alpha * by;
  // It is free aside: 1/2 E (alpha T)^2 in all of it, and as much force on one wall as on the
  // other.
  for (const double energy : optimizer.energies(exec))
    CHECK(energy == Approx(0.5 * modulus * strain * strain).epsilon(1e-6));
  const DesignForces all = optimizer.forces(exec, 0, [&] {
    std::vector<std::int32_t> wall;
    for (std::size_t n = 0; n < problem.num_nodes(); ++n)
      if (problem.mesh.point[3 * n] == 0)
        wall.push_back(std::int32_t(n));
    return wall;
  }());
  const std::vector<double> thermal = optimizer.thermal_forces(exec, 0);
  double on_wall = 0;
  for (std::size_t i = 0; i < all.force.size(); i += 3)
    on_wall += all.force[i];
  for (std::size_t n = 0; n < problem.num_nodes(); ++n)
    if (problem.mesh.point[3 * n] == 0)
      on_wall -= thermal[3 * n];
  CHECK(on_wall == Approx(modulus * 2 * strain).epsilon(1e-6)); // of 2 m^2
}

OSSATURA_BACKEND_TEST("Gradients of warm voxels are those of differences", "[voxel_temperatures]") {
  const TestType exec;
  DesignProblem problem = warm_box();
  problem.role.assign(problem.num_elem(), DesignRole::free);
  DesignOptions options = loaded_on(DesignGrid::voxels, 1e-12);
  check_gradients(exec, problem, options, 0.3, 0.4, {1e-2, 1e-5, 1e-8});
  options.filter = DesignFilter::density;
  options.radius = 0.8;
  check_gradients(exec, problem, options, 0.3, 0.4, {1e-2, 1e-5, 1e-8});
}

namespace {

/// The box with gravity beside a force, and turning about an axis aslant; a solid and void
/// elements.
DesignProblem heavy_box() {
  DesignProblem problem = warm_box();
  problem.materials[0].density = 3;
  problem.materials[1].density = 7;
  BodyLoad gravity, rotation;
  gravity.acceleration = {1, -2, -9};
  rotation.square_speed = 7;
  rotation.origin = {0.3, 0.2, -0.4};
  rotation.axis = {0.6, 0, 0.8};
  problem.cases[0].loads = {"weight", {{node_at(problem, 3, 0, 2), {1, 3, -2}}}};
  problem.cases[0].loads.body = {gravity};
  problem.cases[1].loads = {"turning", {}};
  problem.cases[1].loads.body = {rotation, gravity};
  problem.role.assign(problem.num_elem(), DesignRole::free);
  problem.role[4] = DesignRole::solid;
  problem.role[17] = problem.role[18] = DesignRole::void_;
  return problem;
}

/// Objectives of six steps, and the densities after them.
template<class Exec>
std::vector<double> course_of(const Exec& exec, const DesignProblem& problem,
                              const DesignOptions& options, std::vector<double>& density) {
  DesignOptimizer<Exec> optimizer(exec, problem, options);
  std::vector<double> course;
  for (int k = 0; k < 6; ++k)
    course.push_back(optimizer.step(exec).objective);
  density = optimizer.densities(exec);
  return course;
}

} // namespace

OSSATURA_BACKEND_TEST("Heavy cubes are those of the same hexahedra", "[voxel_loads]") {
  const TestType exec;
  for (const bool as_lattice : {false, true}) {
    DesignProblem problem = heavy_box();
    problem.limits = {{DesignLimitKind::stress, 30, -1},
                      {DesignLimitKind::displacement,
                       1,
                       0,
                       false,
                       {{node_at(problem, 3, 1.5, 2), {0.2, 1, 0.5}}}}};
    for (std::size_t i = 0; i < problem.mesh.point.size() && !as_lattice; ++i)
      problem.mesh.point[i] += i % 3 == 1 ? -0.7 : 0.3; // the grid is not at the origin
    // Densities on either side of where the law is linear, and none at all.
    std::vector<double> x = rough_densities(problem.num_elem(), 0.05, 0.9, 5);
    x[4] = 1;
    x[9] = x[17] = x[18] = 0;
    DesignOptimizer<TestType> mesh(exec, problem, loaded_on(DesignGrid::mesh));
    set_design(exec, mesh, x);
    const DesignStep expected = mesh.analyse(exec);
    if (as_lattice)
      take_lattice(problem);
    DesignOptimizer<TestType> voxels(exec, problem, loaded_on(DesignGrid::voxels));
    set_design(exec, voxels, x);
    const DesignStep found = voxels.analyse(exec);
    for (int k = 0; k < 2; ++k) {
      CHECK(found.cases[std::size_t(k)] == Approx(expected.cases[std::size_t(k)]).epsilon(1e-6));
      check_near(voxels.body_forces(exec, k), mesh.body_forces(exec, k), 1e-14);
      check_near(voxels.displacements(exec, k), mesh.displacements(exec, k), 1e-6);
      const DesignBalance balance = balance_design(exec, problem, voxels, std::size_t(k)),
                          of_mesh = balance_design(exec, problem, mesh, std::size_t(k));
      CHECK(balance.force_error() < 1e-6);
      CHECK(balance.moment_error() < 1e-6);
      CHECK(balance.energy_error() < 1e-6);
      for (std::size_t c = 0; c < 3; ++c)
        CHECK(balance.support_force[c] == Approx(of_mesh.support_force[c]).epsilon(1e-6));
    }
    check_near(voxels.energies(exec), mesh.energies(exec), 1e-6);
    check_near(voxels.stresses(exec), mesh.stresses(exec), 1e-6);
    check_near(voxels.objective_gradient(exec), mesh.objective_gradient(exec), 1e-6);
    for (int j = 0; j < 2; ++j)
      check_near(voxels.limit_gradient(exec, j), mesh.limit_gradient(exec, j), 1e-5);
  }
}

OSSATURA_BACKEND_TEST("Courses of heavy designs are those of hexahedra", "[voxel_loads]") {
  const TestType exec;
  const DesignProblem problem = heavy_box();
  DesignOptions options = loaded_on(DesignGrid::mesh, 1e-9);
  options.filter = DesignFilter::density;
  options.radius = 0.8;
  std::vector<double> expected, found;
  const std::vector<double> course = course_of(exec, problem, options, expected);
  options.grid = DesignGrid::voxels;
  for (const Precision precision : {Precision::fp64, Precision::lean}) {
    options.voxels.precision = precision;
    check_near(course_of(exec, problem, options, found), course, 1e-6);
    check_near(found, expected, 1e-5);
  }
}

OSSATURA_BACKEND_TEST("Gradients of heavy voxels are those of differences", "[voxel_loads]") {
  const TestType exec;
  DesignProblem problem = heavy_box();
  problem.cases[0].loads.warming = rough_densities(problem.num_nodes(), -5, 30, 3);
  DesignOptions options = loaded_on(DesignGrid::voxels, 1e-12);
  // On either side of where the law bends, which differences must not cross.
  for (const double low : {0.06, 0.35})
    check_gradients(exec, problem, options, low, low == 0.35 ? 0.4 : 0.14, {1e-2, 1e-5, 1e-8});
  options.filter = DesignFilter::density;
  options.radius = 0.8;
  check_gradients(exec, problem, options, 0.35, 0.4, {1e-2, 1e-5, 1e-8});
}

namespace {

/// The box with nodes of its end that move aslant in one load case, beside forces, weight and
/// warmth, and aside in the other.
DesignProblem moved_box() {
  DesignProblem problem = heavy_box();
  problem.cases[0].loads.warming = rough_densities(problem.num_nodes(), -5, 30, 3);
  problem.cases[1].loads = {"moved", {}};
  for (const double z : {0.5, 1., 1.5}) {
    const int node = node_at(problem, 3, 1, z);
    problem.held.push_back({node, 5});
    problem.cases[0].loads.forces.push_back({node, {2, 1, 0}}); // does work at what moves, too
    problem.cases[0].loads.displacements.push_back({node, 0, 0.02 * z});
    problem.cases[0].loads.displacements.push_back({node, 2, -0.01});
    problem.cases[1].loads.displacements.push_back({node, 2, 0.03});
  }
  return problem;
}

} // namespace

OSSATURA_BACKEND_TEST("Moved cubes are those of the same hexahedra", "[voxel_loads]") {
  const TestType exec;
  DesignProblem problem = moved_box();
  problem.limits = {
      {DesignLimitKind::stress, 30, -1},
      {DesignLimitKind::displacement, 1, 1, false, {{node_at(problem, 3, 1.5, 2), {0.2, 1, 0.5}}}}};
  const std::vector<double> x = rough_densities(problem.num_elem(), 0.05, 0.9, 5);
  DesignOptimizer<TestType> mesh(exec, problem, loaded_on(DesignGrid::mesh));
  set_design(exec, mesh, x);
  const DesignStep expected = mesh.analyse(exec);
  for (const bool as_lattice : {false, true}) {
    if (as_lattice)
      take_lattice(problem);
    DesignOptimizer<TestType> voxels(exec, problem, loaded_on(DesignGrid::voxels));
    set_design(exec, voxels, x);
    const DesignStep found = voxels.analyse(exec);
    CHECK(found.cases[1] < 0); // no force: minus twice the energy
    for (int k = 0; k < 2; ++k) {
      CHECK(found.cases[std::size_t(k)] == Approx(expected.cases[std::size_t(k)]).epsilon(1e-6));
      check_near(voxels.displacements(exec, k), mesh.displacements(exec, k), 1e-6);
      const DesignBalance own = balance_design(exec, problem, voxels, std::size_t(k)),
                          of_mesh = balance_design(exec, problem, mesh, std::size_t(k));
      CHECK(own.force_error() < 1e-6);
      CHECK(own.moment_error() < 1e-6);
      CHECK(own.energy_error() < 1e-6);
      CHECK(own.imposed_work == Approx(of_mesh.imposed_work).epsilon(1e-6));
      for (std::size_t c = 0; c < 3; ++c) {
        CHECK(own.imposed_force[c] == Approx(of_mesh.imposed_force[c]).epsilon(1e-6).margin(1e-7));
        CHECK(own.support_force[c] == Approx(of_mesh.support_force[c]).epsilon(1e-6).margin(1e-7));
      }
    }
    check_near(voxels.energies(exec), mesh.energies(exec), 1e-6);
    check_near(voxels.stresses(exec), mesh.stresses(exec), 1e-6);
    check_near(voxels.objective_gradient(exec), mesh.objective_gradient(exec), 1e-6);
    for (int j = 0; j < 2; ++j)
      check_near(voxels.limit_gradient(exec, j), mesh.limit_gradient(exec, j), 1e-5);
  }
}

OSSATURA_BACKEND_TEST("Courses and bounds of moved designs are those of hexahedra",
                      "[voxel_loads]") {
  const TestType exec;
  DesignProblem problem = moved_box();
  for (DesignLoadCase& one : problem.cases) {
    one.loads.body.clear();
    one.loads.warming.clear();
  }
  DesignOptions options = loaded_on(DesignGrid::mesh, 1e-9);
  options.filter = DesignFilter::density;
  options.radius = 0.8;
  options.method = DesignMethod::oc;
  const auto bound = [&] {
    DesignOptimizer<TestType> optimizer(exec, problem, options);
    optimizer.analyse(exec);
    DesignBoundOptions of_bound;
    of_bound.max_steps = 3;
    return optimizer.bound_compliance(exec, of_bound).value;
  };
  std::vector<double> expected, found;
  const std::vector<double> course = course_of(exec, problem, options, expected);
  CHECK(course.back() < course.front());
  const double of_mesh = bound();
  CHECK(of_mesh < course.back());
  options.grid = DesignGrid::voxels;
  for (const Precision precision : {Precision::fp64, Precision::lean}) {
    options.voxels.precision = precision;
    check_near(course_of(exec, problem, options, found), course, 1e-6);
    check_near(found, expected, 1e-5);
    CHECK(bound() == Approx(of_mesh).epsilon(1e-5));
  }
}

OSSATURA_BACKEND_TEST("Gradients of moved voxels are those of differences", "[voxel_loads]") {
  const TestType exec;
  DesignOptions options = loaded_on(DesignGrid::voxels, 1e-12);
  options.filter = DesignFilter::density;
  options.radius = 0.8;
  check_gradients(exec, moved_box(), options, 0.35, 0.4, {1e-2, 1e-5, 1e-8});
}
