// SPDX-License-Identifier: Apache-2.0
// Designs on voxels: the same courses as on the mesh and as other programs print, gradients against
// differences, resumed runs, and refusals.
#include "tests/backend_test.hpp"
#include "tests/solvers/topopt/design_gradients.hpp"
#include <ossatura/core/mesh/hexa/changes.hpp>
#include <ossatura/kernels/topopt/lattice_order.hpp>
#include <ossatura/solvers/bone/problem.hpp>
#include <ossatura/solvers/topopt/balance.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <algorithm>
#include <numeric>

namespace {

using namespace ossatura;
using namespace ossatura::test;
using Values = std::vector<double>;

DesignOptions on_voxels(DesignOptions options, Precision precision = Precision::lean) {
  options.grid = DesignGrid::voxels;
  options.voxels.precision = precision;
  options.voxels.multigrid.direct_nodes = 60; // several levels for few elements
  return options;
}

/// Not convex, with elements that are solid and void and two loads; nodes in random order.
DesignProblem bracket() {
  DesignProblem problem;
  HexaModel model;
  model.mesh = make_hexa_box({9, 4, 7}, {4.5, 2, 3.5});
  const ElementMesh box = model.mesh;
  model.mesh.node.clear();
  for (std::size_t e = 0; e < box.num_elem(); ++e) {
    const std::int32_t* node = &box.node[8 * e];
    const double* low = &box.point[3 * std::size_t(node[0])];
    if (low[0] < 1.9 || low[2] < 1.4)
      model.mesh.node.insert(model.mesh.node.end(), node, node + 8);
  }
  // Without the nodes that are left over.
  std::vector<std::int32_t> number(box.num_points(), -1);
  model.mesh.point.clear();
  for (std::int32_t& node : model.mesh.node) {
    std::int32_t& known = number[std::size_t(node)];
    if (known < 0) {
      known = std::int32_t(model.mesh.num_points());
      for (std::size_t c = 0; c < 3; ++c)
        model.mesh.point.push_back(box.point[3 * std::size_t(node) + c]);
    }
    node = known;
  }
  renumber(model, 3);
  problem.mesh = model.mesh;
  problem.young = 210;
  hold(problem, 7, [](double, double, double z) { return z > 3.49; });
  problem.cases.resize(2);
  problem.cases[0] = {{"down", {{node_at(problem, 4.5, 0, 0), {0, 0, -1}}}}, 0.7};
  problem.cases[1] = {{"aside", {{node_at(problem, 4.5, 2, 1.5), {0.2, 1, 0}}}}, 1.3};
  problem.role.assign(problem.mesh.num_elem(), DesignRole::free);
  problem.role[7] = DesignRole::solid;
  problem.role[29] = DesignRole::void_;
  return problem;
}

template<class Exec>
std::vector<DesignStep> take_steps(const Exec& exec, DesignOptimizer<Exec>& optimizer, int count) {
  std::vector<DesignStep> steps;
  for (int k = 0; k < count; ++k)
    steps.push_back(optimizer.step(exec));
  return steps;
}

/// Courses of objective, cases, volume and grey, and the designs at their ends.
template<class Exec>
void compare_ways(const Exec& exec, const DesignProblem& problem, const DesignOptions& options,
                  int count) {
  INFO("filter " << name_of(options.filter) << ", " << name_of(options.method) << ", projection "
                 << options.projection);
  DesignOptimizer<Exec> mesh(exec, problem, options), voxels(exec, problem, on_voxels(options));
  CHECK(voxels.radius() == Approx(mesh.radius()).epsilon(1e-12));
  const std::vector<DesignStep> by_mesh = take_steps(exec, mesh, count),
                                by_voxels = take_steps(exec, voxels, count);
  for (std::size_t k = 0; k < by_mesh.size(); ++k) {
    INFO("step " << k + 1);
    CHECK(by_voxels[k].objective == Approx(by_mesh[k].objective).epsilon(1e-5));
    CHECK(by_voxels[k].volume == Approx(by_mesh[k].volume).epsilon(1e-5));
    CHECK(by_voxels[k].grey == Approx(by_mesh[k].grey).epsilon(1e-4));
    for (std::size_t i = 0; i < by_mesh[k].cases.size(); ++i)
      CHECK(by_voxels[k].cases[i] == Approx(by_mesh[k].cases[i]).epsilon(1e-5));
  }
  const Values rho = mesh.densities(exec), other = voxels.densities(exec);
  REQUIRE(other.size() == rho.size());
  double largest = 0;
  for (std::size_t e = 0; e < rho.size(); ++e)
    largest = std::max(largest, std::fabs(rho[e] - other[e]));
  CHECK(largest < 1e-3);
  const Values u = mesh.displacements(exec, 0), v = voxels.displacements(exec, 0);
  REQUIRE(u.size() == v.size());
  double apart = 0, size = 0;
  for (std::size_t i = 0; i < u.size(); ++i) {
    apart = std::max(apart, std::fabs(u[i] - v[i]));
    size = std::max(size, std::fabs(u[i]));
  }
  CHECK(apart < 1e-3 * size);
  const Values e = mesh.energies(exec), f = voxels.energies(exec);
  REQUIRE(e.size() == f.size());
  const double most = *std::max_element(e.begin(), e.end());
  for (std::size_t i = 0; i < e.size(); ++i)
    if (std::fabs(e[i] - f[i]) > 1e-3 * most) {
      CHECK(f[i] == Approx(e[i]));
      break;
    }
}

OSSATURA_BACKEND_TEST("Designs on voxels take the course of those on the mesh", "[voxel_designs]") {
  const TestType exec;
  const DesignProblem problem = bracket();
  DesignOptions options = options_with(1e-8);
  options.radius = 0.8;
  for (const DesignFilter filter :
       {DesignFilter::none, DesignFilter::sensitivity, DesignFilter::density}) {
    options.filter = filter;
    compare_ways(exec, problem, options, 3);
  }
  options.projection = true;
  options.sharpness = {1, 8, 2, 2};
  compare_ways(exec, problem, options, 3);
  options.method = DesignMethod::mma;
  compare_ways(exec, problem, options, 3);
  options.robust = 0.2;
  compare_ways(exec, problem, options, 3);
}

OSSATURA_BACKEND_TEST("Mirrors of designs on voxels are those of the mesh", "[voxel_designs]") {
  DesignOptions options = options_with(1e-8);
  options.volume_fraction = 0.2;
  options.radius = 2.3;
  compare_ways(TestType(), half_of_top3d(8), options, 4);
}

/// Checks objectives (of both halves) after steps of given numbers.
template<class Exec>
void check_voxel_course(const Exec& exec, const DesignProblem& half, const DesignOptions& options,
                        const std::vector<std::pair<int, Approx>>& course) {
  DesignOptimizer<Exec> optimizer(exec, half, on_voxels(options));
  std::size_t next = 0;
  while (next < course.size()) {
    const DesignStep step = optimizer.step(exec);
    if (step.number != course[next].first)
      continue;
    INFO("step " << step.number << ", " << step.solves[0].iterations << " iterations");
    CHECK(2 * step.objective == course[next].second);
    ++next;
  }
}

OSSATURA_BACKEND_TEST("Published courses on voxels", "[voxel_designs][slow]") {
  // Problems and numbers of design_courses.cpp, to their ends. That of top3D125 solves by a factor,
  // and step 50, which comes before the design is at rest, is 5e-4 off with solves to 1e-6.
  const TestType exec;
  DesignOptions options = options_with(1e-10);
  options.multiplier_tolerance = 1e-4;
  options.volume_fraction = 0.12;
  options.radius = std::sqrt(3.0);
  check_voxel_course(exec, half_of_top3d(12), options,
                     {{1, Approx(1.19668542e5).epsilon(1e-6)},
                      {2, Approx(6.96409997e4).epsilon(1e-6)},
                      {5, Approx(3.52973593e4).epsilon(1e-6)},
                      {10, Approx(1.16092790e4).epsilon(1e-6)},
                      {20, Approx(3.53609843e3).epsilon(1e-5)},
                      {50, Approx(2.8240681e3).epsilon(1e-5)},
                      {100, Approx(2.76155720e3).epsilon(1e-5)}});
  options = options_with(1e-5);
  options.volume_fraction = 0.12;
  options.radius = 0.08;
  options.method = DesignMethod::mma;
  check_voxel_course(exec, half_of_petsc(16), options,
                     {{1, Approx(6.301474).epsilon(2e-5)},
                      {2, Approx(4.439795).epsilon(5e-5)},
                      {4, Approx(2.207099).epsilon(1e-4)},
                      {10, Approx(1.010896).epsilon(1e-4)},
                      {50, Approx(0.120546).epsilon(1e-4)},
                      {100, Approx(0.118930).epsilon(1e-4)},
                      {131, Approx(0.118887).epsilon(1e-4)}});
  options = options_with(1e-6);
  options.volume_fraction = 0.2;
  options.radius = 1.5;
  options.move = 0.1;
  options.min_modulus = 1e-6;
  check_voxel_course(exec, half_of_strips(16), options,
                     {{1, Approx(335.4).epsilon(2e-4)}, {20, Approx(14.5316248).epsilon(1e-4)}});
}

OSSATURA_BACKEND_TEST("Gradients on voxels are those of differences", "[voxel_designs]") {
  DesignOptions options = on_voxels(options_with(1e-12), Precision::fp64);
  options.radius = 0.8;
  options.min_modulus = 1e-3;
  for (const bool projected : {false, true}) {
    options.projection = projected;
    options.sharpness.start = 3;
    // Moduli are rounded to single precision, which moves differences by about 6e-8 / h over the
    // root of their number.
    check_gradients(TestType(), bracket(), options, 0.2, 0.6, {1e-2, 1e-5, 1e-8});
  }
}

OSSATURA_BACKEND_TEST("A run on voxels that is resumed has the same bits", "[voxel_designs]") {
  const TestType exec;
  const DesignProblem problem = bracket();
  for (const DesignMethod method : {DesignMethod::oc, DesignMethod::mma}) {
    DesignOptions options = on_voxels(options_with(1e-6));
    options.method = method;
    options.radius = 0.8;
    options.projection = true;
    options.sharpness = {1, 8, 2, 2};
    DesignOptimizer<TestType> whole(exec, problem, options);
    take_steps(exec, whole, 3);
    const DesignState state = whole.state(exec);
    take_steps(exec, whole, 3);
    DesignOptimizer<TestType> resumed(exec, problem, options);
    resumed.step(exec); // what it has seen does not matter
    resumed.set_state(exec, state);
    take_steps(exec, resumed, 3);
    CHECK(resumed.variables(exec) == whole.variables(exec));
    CHECK(resumed.displacements(exec, 1) == whole.displacements(exec, 1));
  }
}

/// An L whose rows are longer than a word of the lattice, and the same by its mesh.
DesignProblem long_lattice() {
  DesignProblem problem;
  problem.lattice = std::make_shared<const LatticeBody>(
      make_lattice_box({70, 3, 4}, {7, 0.3, 0.4}, {20, 0, 2}, {70, 3, 4}));
  problem.young = 210;
  const LatticeRows& node = problem.lattice->node();
  for (std::int32_t n = 0; n < std::int32_t(node.size()); ++n)
    if (node.place(n)[0] == 0)
      problem.held.push_back({n, 7});
  problem.held.push_back({node.number({30, 0, 0}), 2});
  problem.held.push_back({node.number({30, 0, 0}), 4}); // again
  problem.cases.resize(2);
  problem.cases[0] = {{"down", {{node.number({70, 1, 2}), {0, 0, -1}}}}, 0.7};
  problem.cases[1] = {
      {"aside", {{node.number({40, 3, 2}), {0.2, 1, 0}}, {node.number({40, 3, 2}), {0.1, 0, 0}}}},
      1.3};
  problem.role.assign(problem.num_elem(), DesignRole::free);
  problem.role[7] = DesignRole::solid;
  problem.role[29] = DesignRole::void_;
  problem.mirrors = {{1, 0}};
  return problem;
}

DesignProblem by_mesh(DesignProblem problem) {
  problem.mesh = problem.lattice->mesh();
  problem.lattice.reset();
  return problem;
}

OSSATURA_BACKEND_TEST("Designs on a lattice have the bits of those on its mesh",
                      "[voxel_designs]") {
  const TestType exec;
  const DesignProblem problem = long_lattice();
  for (const DesignMethod method : {DesignMethod::oc, DesignMethod::mma}) {
    DesignOptions options = on_voxels(options_with(1e-6));
    options.method = method;
    options.min_modulus = 1e-3;
    DesignOptimizer<TestType> lattice(exec, problem, options),
        mesh(exec, by_mesh(problem), options);
    for (int k = 0; k < 2; ++k) {
      const DesignStep step = lattice.step(exec), other = mesh.step(exec);
      CHECK(step.objective == other.objective);
      CHECK(step.change == other.change);
    }
    CHECK(lattice.variables(exec) == mesh.variables(exec));
    CHECK(lattice.densities(exec) == mesh.densities(exec));
    CHECK(lattice.displacements(exec, 1) == mesh.displacements(exec, 1));
    std::vector<std::int32_t> nodes(problem.num_nodes());
    std::iota(nodes.rbegin(), nodes.rend(), 0);
    const DesignForces forces = lattice.forces(exec, 0, nodes),
                       others = mesh.forces(exec, 0, nodes);
    CHECK(forces.force == others.force);
    CHECK(forces.displacement == others.displacement);
    CHECK(forces.work == others.work);
    const std::vector<double> density = mesh.densities(exec);
    const auto [least, greatest] = std::minmax_element(density.begin(), density.end());
    CHECK(lattice.density_range(exec) == std::array<double, 2>{*least, *greatest});
    CHECK(lattice.energies(exec) == mesh.energies(exec));
    const ForceBalance own = balance_design(exec, problem, lattice, 1),
                       other = balance_design(exec, by_mesh(problem), mesh, 1);
    CHECK(own.moment == other.moment);
    CHECK(own.energy == other.energy);
    CHECK(lattice.body().engine().cost.flops == mesh.body().engine().cost.flops);
    // The state of one is that of the other.
    const DesignState state = mesh.state(exec);
    DesignOptimizer<TestType> resumed(exec, problem, options);
    resumed.set_state(exec, state);
    CHECK(resumed.state(exec).displacement == state.displacement);
    resumed.step(exec);
    mesh.step(exec);
    CHECK(resumed.variables(exec) == mesh.variables(exec));
  }
}

OSSATURA_BACKEND_TEST("Vectors go to the grid and back in parts", "[voxel_designs]") {
  const TestType exec;
  const DesignProblem problem = long_lattice();
  const auto rows = {problem.lattice->elem(), problem.lattice->node()};
  const LatticeOrder<TestType> cells = make_lattice_order(exec, problem.lattice->elem());
  const VoxelGrid<TestType> grid = make_voxel_grid(exec, make_cell_image(exec, cells));
  CHECK(grid.num_elem == problem.lattice->num_elem());
  CHECK(grid.num_nodes == problem.lattice->num_nodes());
  for (const LatticeRows& one : rows)
    for (const int components : {1, 3}) {
      const LatticeOrder<TestType> order = make_lattice_order(exec, one);
      Values values(std::size_t(one.size() * components));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = double(i) + 1;
      const auto placed = make_zeros<double>(exec, components * std::int64_t(grid.num_nodes), "x");
      put_in_grid(exec, grid, order, components, values, placed, 101);
      CHECK(dot(exec, placed, placed) > 0);
      CHECK(take_from_grid(exec, grid, order, components, one.size(), placed, 77) == values);
    }
}

OSSATURA_BACKEND_TEST("Point forces are solved for with the bits of a vector", "[voxel_designs]") {
  const TestType exec;
  const LatticeOrder<TestType> cells =
      make_lattice_order(exec, make_lattice_box({9, 5, 6}, {9, 5, 6}).elem());
  VoxelProblem<TestType> problem =
      make_voxel_problem(exec, make_material(make_cell_image(exec, cells), 0.3), 1);
  std::vector<std::uint8_t> mask(std::size_t(problem.grid.num_nodes));
  std::fill_n(mask.begin(), 20, std::uint8_t(7));
  problem.held = make_constraints(exec, upload(exec, "test::held", mask));
  Values dense(std::size_t(problem.grid.num_dofs()));
  const std::vector<std::int32_t> nodes{problem.grid.num_nodes - 1, 100};
  const Values values{0.5, -1, 2, 0.25, 0, -0.125};
  for (std::size_t i = 0; i < values.size(); ++i)
    dense[3 * std::size_t(nodes[i / 3]) + i % 3] = values[i];
  const auto f = upload(exec, "test::f", dense);
  const PointForces<TestType> points{upload(exec, "test::nodes", nodes),
                                     upload(exec, "test::values", values)};
  CHECK(square(exec, points) == Approx(dot(exec, f, f)).epsilon(1e-14));
  for (const Precision precision : {Precision::lean, Precision::mixed, Precision::fp64}) {
    VoxelSolverOptions options = fastest_voxel_options<TestType>();
    options.precision = precision;
    VoxelSolver<TestType> solver(exec, problem, options);
    const auto u = make_zeros<double>(exec, problem.grid.num_dofs(), "u"),
               v = make_zeros<double>(exec, problem.grid.num_dofs(), "v");
    CHECK(solver.solve(exec, f, u).converged);
    Kokkos::deep_copy(exec, solver.spare(), 3.0); // of no consequence
    CHECK(solver.solve_points(exec, points, v).converged);
    CHECK(download(exec, u) == download(exec, v));
    CHECK(dot(exec, points, v) == Approx(dot(exec, f, u)).epsilon(1e-12));
  }
}

OSSATURA_BACKEND_TEST("A breakdown on voxels leaves the design, and displacements of zero",
                      "[voxel_designs]") {
  const TestType exec;
  const DesignProblem problem = long_lattice();
  DesignOptions options = on_voxels(options_with(1e-6));
  options.solver.cg.max_iterations = 1;
  DesignOptimizer<TestType> optimizer(exec, problem, options);
  const Values before = optimizer.variables(exec);
  CHECK_THROWS_AS(optimizer.step(exec), DesignBreakdown);
  CHECK(optimizer.num_steps() == 0);
  CHECK(optimizer.variables(exec) == before);
  CHECK(optimizer.displacements(exec, 0) == Values(3 * problem.num_nodes()));
}

OSSATURA_BACKEND_TEST("Contrasts of 1e9 are solved on voxels, and forces balance",
                      "[voxel_designs]") {
  // Thin members of solid between voids of 1e-9, not grey at all.
  const TestType exec;
  DesignProblem problem = half_of_top3d(16);
  problem.role.assign(problem.mesh.num_elem(), DesignRole::void_);
  for (std::size_t e = 0; e < problem.role.size(); ++e) {
    const double* low = &problem.mesh.point[3 * std::size_t(problem.mesh.node[8 * e])];
    const int x = int(low[0]), y = int(low[1]), z = int(low[2]);
    if ((x % 4 == 0) + (y % 4 == 0) + (z % 4 == 0) >= 2 || z == 0)
      problem.role[e] = DesignRole::solid;
  }
  problem.role[5] = DesignRole::free;
  DesignOptions options = options_with(1e-6);
  options.volume_fraction = 0.6;
  options.filter = DesignFilter::none;
  DesignOptimizer<TestType> mesh(exec, problem, options), voxels(exec, problem, on_voxels(options));
  const DesignStep by_mesh = mesh.analyse(exec), by_voxels = voxels.analyse(exec);
  INFO(by_voxels.solves[0].iterations << " iterations, on the mesh "
                                      << by_mesh.solves[0].iterations);
  CHECK(by_voxels.objective == Approx(by_mesh.objective).epsilon(1e-4));
  CHECK(by_voxels.solves[0].iterations <= 150);
  const ForceBalance balance = balance_design(exec, problem, voxels, 0);
  CHECK(balance.force_error() < 1e-5);
  CHECK(balance.moment_error() < 1e-5);
  CHECK(balance.energy_error() < 1e-5);
}

OSSATURA_BACKEND_TEST("What is no lattice of cubes is refused on voxels", "[voxel_designs]") {
  const TestType exec;
  const DesignOptions options = on_voxels(DesignOptions());
  const auto message = [&](const DesignProblem& problem, const DesignOptions& some) {
    try {
      DesignOptimizer<TestType> optimizer(exec, problem, some);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  DesignProblem problem = bracket();
  CHECK(message(problem, options).empty());
  problem.mesh.point[3] += 0.1;
  CHECK(message(problem, options).find("element") != std::string::npos);
  problem = bracket();
  for (std::size_t i = 0; i < problem.mesh.point.size(); i += 3)
    problem.mesh.point[i] *= 1.5;
  CHECK(message(problem, options).find("no cube") != std::string::npos);
  problem = DesignProblem();
  problem.lattice = std::make_shared<const LatticeBody>(make_lattice_box({3, 2, 2}, {3, 2, 2.1}));
  CHECK(message(problem, options).find("no cubes") != std::string::npos);
  CHECK(message(long_lattice(), DesignOptions()).find("grid voxels") != std::string::npos);
  problem = bracket();
  problem.springs = {{0, 0, 1}};
  CHECK(message(problem, options).find("springs") != std::string::npos);
  problem = bracket();
  problem.held.push_back({100000, 1});
  CHECK(message(problem, options).find("100000") != std::string::npos);
  DesignOptions helmholtz = options;
  helmholtz.filter = DesignFilter::helmholtz;
  CHECK(message(bracket(), helmholtz).find("Helmholtz") != std::string::npos);
  DesignOptions narrow = options;
  narrow.radius = 0.4;
  CHECK(message(bracket(), narrow).find("reaches no element's neighbour") != std::string::npos);
}

} // namespace
