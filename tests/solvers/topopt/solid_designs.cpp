// SPDX-License-Identifier: Apache-2.0
// Designs of tetrahedra, prisms and second-order elements: gradients against differences, resumed
// runs, surfaces, and options that their solver has not.
#include "tests/backend_test.hpp"
#include "tests/solid_meshes.hpp"
#include "tests/solvers/topopt/design_gradients.hpp"
#include "tests/solvers/topopt/design_problems.hpp"
#include <ossatura/core/mesh/mechanics/traction.hpp>
#include <ossatura/solvers/topopt/balance.hpp>
#include <ossatura/solvers/topopt/bodies/solids.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>
#include <ossatura/solvers/topopt/part/surface_body.hpp>

#include <random>

namespace {

using namespace ossatura;
using namespace ossatura::test;

/// A bent box held at x = 0 and pulled down at the other end, E = 200.
DesignProblem problem_of_solids(SolidKind kind, SolidKind other, const std::array<int, 3>& cells) {
  const std::array<double, 3> size{2, 1, 1};
  DesignProblem problem;
  problem.solids = std::make_shared<const SolidMesh>(ossatura_test::make_solid_box(
      [&](int i) { return 2 * i < cells[0] ? kind : other; }, cells, size,
      [&](std::array<double, 3>& x) { ossatura_test::bend_inside(size, x); }));
  const SolidMesh& mesh = *problem.solids;
  problem.young = 200;
  std::vector<std::int32_t> end;
  for (std::size_t n = 0; n < mesh.num_points(); ++n) {
    if (mesh.point[3 * n] == 0)
      problem.held.push_back({std::int32_t(n), 7});
    if (mesh.point[3 * n] == 2)
      end.push_back(std::int32_t(n));
  }
  problem.cases.resize(1);
  problem.cases[0].loads.forces = traction_forces(mesh, end, {0, 0.2, -1});
  return problem;
}

DesignOptions options_of_solids(double tolerance) {
  DesignOptions options = options_with(tolerance);
  options.radius = 0.6;
  options.min_modulus = 1e-3;
  return options;
}

std::vector<double> rough_variables(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> x(count);
  for (double& one : x)
    one = 0.2 + 0.6 * double(random()) / double(random.max());
  return x;
}

} // namespace

namespace {

/// Roots and weights on [0, 1] of the rule of Gauss with six points, by Newton's method.
std::vector<std::array<double, 2>> six_points() {
  std::vector<std::array<double, 2>> points;
  for (int k = 0; k < 6; ++k) {
    double x = std::cos(Kokkos::numbers::pi * (k + 0.75) / 6.5), slope = 0;
    for (int round = 0; round < 60; ++round) {
      double value = 1, before = 0;
      for (int n = 0; n < 6; ++n) {
        const double next = ((2 * n + 1) * x * value - n * before) / (n + 1);
        before = value;
        value = next;
      }
      slope = 6 * (x * value - before) / (x * x - 1);
      x -= value / slope;
    }
    points.push_back({(1 + x) / 2, 1 / ((1 - x * x) * slope * slope)});
  }
  return points;
}

/// Many points in the reference element: those of a cube, whose sides are drawn together for
/// triangles.
std::vector<SolidQuadraturePoint> many_points(SolidKind kind) {
  const int corners = shape_of(kind).num_corners;
  std::vector<SolidQuadraturePoint> points;
  for (const auto& [u, a] : six_points())
    for (const auto& [v, b] : six_points())
      for (const auto& [w, c] : six_points()) {
        const double weight = a * b * c;
        if (corners == 8)
          points.push_back({{2 * u - 1, 2 * v - 1, 2 * w - 1}, 8 * weight});
        else if (corners == 6)
          points.push_back({{u, (1 - u) * v, 2 * w - 1}, 2 * (1 - u) * weight});
        else
          points.push_back(
              {{u, (1 - u) * v, (1 - u) * (1 - v) * w}, (1 - u) * (1 - u) * (1 - v) * weight});
      }
  return points;
}

/// Adds the forces of a load on an element of 1 kg / m^3 times `mass`, by plain loops.
void add_oracle_forces(const SolidMesh& mesh, std::size_t e, const BodyLoad& load, double mass,
                       std::vector<double>& force) {
  const NodeRange nodes = mesh.nodes_of(e);
  for (const SolidQuadraturePoint& at : many_points(mesh.kind[e])) {
    const SolidShapeValues shape = evaluate_shape(mesh.kind[e], at.at);
    double x[3] = {}, j[3][3] = {}, along = 0;
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t c = 0; c < 3; ++c) {
        const double own = mesh.point[3 * std::size_t(nodes[a]) + c];
        x[c] += shape.value[a] * own;
        for (std::size_t d = 0; d < 3; ++d)
          j[c][d] += shape.slope[a][d] * own;
      }
    double volume = 0;
    for (int c = 0; c < 3; ++c)
      volume +=
          j[0][c] * (j[1][(c + 1) % 3] * j[2][(c + 2) % 3] - j[1][(c + 2) % 3] * j[2][(c + 1) % 3]);
    for (std::size_t c = 0; c < 3; ++c)
      along += (x[c] - load.origin[c]) * load.axis[c];
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t c = 0; c < 3; ++c)
        force[3 * std::size_t(nodes[a]) + c] +=
            mass * volume * at.weight * shape.value[a] *
            (load.acceleration[c] +
             load.square_speed * (x[c] - load.origin[c] - along * load.axis[c]));
  }
}

/// Gravity aslant, and gravity with rotation; a box of parallelepipeds, prisms and tetrahedra of
/// these, of density 3.
DesignProblem heavy_problem(SolidKind kind, SolidKind other, const std::array<int, 3>& cells) {
  DesignProblem problem;
  problem.solids = std::make_shared<const SolidMesh>(ossatura_test::make_solid_box(
      [&](int i) { return 2 * i < cells[0] ? kind : other; }, cells, {2, 1, 1},
      [](std::array<double, 3>& x) { x[2] += 0.3 * x[0] - 0.2 * x[1]; }));
  problem.young = 200;
  problem.materials = {{"heavy", 200, 0.3, 3}};
  const std::vector<double>& point = problem.solids->point;
  for (std::size_t n = 0; 3 * n < point.size(); ++n)
    if (point[3 * n] == 0)
      problem.held.push_back({std::int32_t(n), 7});
  BodyLoad gravity, rotation;
  gravity.acceleration = {1, -2, -9};
  rotation.square_speed = 7;
  rotation.origin = {0.3, 0.2, -0.4};
  rotation.axis = {0.6, 0, 0.8};
  problem.cases.resize(2);
  problem.cases[0] = {{"weight", {{std::int32_t(point.size() / 3) - 1, {1, 0, -2}}}}, 0.7};
  problem.cases[0].loads.body = {gravity};
  problem.cases[1].loads = {"turning", {}};
  problem.cases[1].loads.body = {rotation, gravity};
  return problem;
}

} // namespace

OSSATURA_BACKEND_TEST("Gravity and rotation act on solids as their shape functions say",
                      "[solid_designs]") {
  const TestType exec;
  for (const SolidKind kind : ossatura_test::all_solid_kinds) {
    INFO(name_of(kind));
    DesignProblem problem = heavy_problem(kind, kind, {2, 1, 1});
    if (kind == SolidKind::hexa8) // alone it is no mesh of solids
      problem = heavy_problem(kind, SolidKind::prism6, {2, 1, 1});
    DesignOptions options = options_of_solids(1e-10);
    options.filter = DesignFilter::none;
    options.method = DesignMethod::mma;
    DesignOptimizer<TestType> optimizer(exec, problem, options);
    const std::vector<double> x = rough_variables(problem.num_elem(), 5);
    optimizer.set_variables(exec, upload(exec, "x", x));
    optimizer.analyse(exec);
    double mass = 0;
    for (std::size_t e = 0; e < x.size(); ++e)
      mass += 3 * x[e] * volume_of(*problem.solids, e);
    for (std::size_t k = 0; k < 2; ++k) {
      const std::vector<double> found = optimizer.body_forces(exec, int(k));
      std::vector<double> expected(found.size());
      for (std::size_t e = 0; e < x.size(); ++e)
        for (const BodyLoad& load : problem.cases[k].loads.body)
          add_oracle_forces(*problem.solids, e, load, 3 * x[e], expected);
      double apart = 0, total[3] = {};
      for (std::size_t i = 0; i < found.size(); ++i) {
        apart = std::max(apart, std::fabs(found[i] - expected[i]));
        total[i % 3] += found[i];
      }
      CHECK(apart < 1e-12);
      for (std::size_t c = 0; k == 0 && c < 3; ++c) // m g
        CHECK(total[c] ==
              Approx(mass * problem.cases[0].loads.body[0].acceleration[c]).epsilon(1e-12));
      const DesignBalance balance = balance_design(exec, problem, optimizer, k);
      CHECK(balance.force_error() < 1e-7);
      CHECK(balance.moment_error() < 1e-7);
      CHECK(balance.energy_error() < 1e-7);
    }
  }
}

OSSATURA_BACKEND_TEST("Bars of second-order solids hang as rods do", "[solid_designs]") {
  const TestType exec;
  for (const SolidKind kind :
       {SolidKind::tetra10, SolidKind::prism15, SolidKind::hexa20, SolidKind::hexa20r}) {
    INFO(name_of(kind));
    DesignProblem problem;
    problem.solids = std::make_shared<const SolidMesh>(ossatura_test::make_solid_box(
        [&](int) { return kind; }, {3, 1, 1}, {4, 1, 1}, [](std::array<double, 3>&) {}));
    problem.young = 6;
    problem.poisson = 0;
    problem.materials = {{"only", 6, 0, 3}};
    std::size_t end = 0;
    for (std::size_t n = 0; n < problem.num_nodes(); ++n) {
      const double* at = &problem.solids->point[3 * n];
      const int held = (at[0] == 0 ? 1 : 0) + (at[1] == 0 ? 2 : 0) + (at[2] == 0 ? 4 : 0);
      if (held != 0)
        problem.held.push_back({std::int32_t(n), std::uint8_t(held)});
      if (at[0] == 4)
        end = 3 * n;
    }
    BodyLoad gravity;
    gravity.acceleration = {10, 0, 0};
    problem.cases.resize(1);
    problem.cases[0].loads.body = {gravity};
    DesignOptions options = options_with(1e-12);
    options.filter = DesignFilter::none;
    options.start = 1;
    options.volume_fraction = 0.999;
    options.method = DesignMethod::mma;
    DesignOptimizer<TestType> optimizer(exec, problem, options);
    // rho^2 g^2 A L^3 / (3 E) and rho g L^2 / (2 E): a parabola, which these elements have.
    CHECK(optimizer.analyse(exec).cases[0] == Approx(9 * 100 * 64 / 18.0).epsilon(1e-9));
    CHECK(optimizer.displacements(exec, 0)[end] == Approx(3 * 10 * 16 / 12.0).epsilon(1e-9));
    CHECK(balance_design(exec, problem, optimizer, 0).support_force[0] ==
          Approx(-120).epsilon(1e-9));
  }
}

OSSATURA_BACKEND_TEST("Gradients of solids with gravity and rotation are those of differences",
                      "[solid_designs]") {
  const TestType exec;
  for (const auto& [kind, other] : {std::pair(SolidKind::tetra10, SolidKind::tetra10),
                                    {SolidKind::tetra4, SolidKind::tetra4},
                                    {SolidKind::prism6, SolidKind::hexa8},
                                    {SolidKind::hexa20, SolidKind::prism15}}) {
    INFO(name_of(kind) << ", " << name_of(other));
    DesignProblem problem = heavy_problem(kind, other, {2, 1, 1});
    problem.role.assign(problem.num_elem(), DesignRole::free);
    DesignOptions options = options_of_solids(1e-12);
    options.method = DesignMethod::mma;
    // On either side of where the law bends, which differences must not cross.
    options.filter = DesignFilter::none;
    check_gradients(exec, problem, options, 0.05, 0.15);
    check_gradients(exec, problem, options, 0.35, 0.4);
    options.filter = DesignFilter::density;
    options.radius = 1.6;
    check_gradients(exec, problem, options, 0.35, 0.4);
  }
}

OSSATURA_BACKEND_TEST("Gradients of designs of solids are those of differences",
                      "[solid_designs]") {
  const TestType exec;
  for (const auto& [kind, other] : {std::pair(SolidKind::tetra10, SolidKind::tetra10),
                                    {SolidKind::tetra4, SolidKind::tetra4},
                                    {SolidKind::prism6, SolidKind::hexa8},
                                    {SolidKind::hexa20, SolidKind::prism15},
                                    {SolidKind::hexa20r, SolidKind::hexa20r}}) {
    INFO(name_of(kind) << ", " << name_of(other));
    const DesignProblem problem = problem_of_solids(kind, other, {2, 1, 1});
    DesignOptions options = options_of_solids(1e-12);
    options.radius = 1.6;
    options.projection = true;
    options.sharpness.start = 3;
    DesignOptimizer<TestType> optimizer(exec, problem, options);
    const std::vector<double> x = rough_variables(problem.num_elem(), 17),
                              way = rough_variables(problem.num_elem(), 18);
    const auto at = [&](double h) {
      std::vector<double> moved = x;
      for (std::size_t e = 0; e < x.size(); ++e)
        moved[e] += h * (way[e] - 0.5);
      optimizer.set_variables(exec, upload(exec, "x", moved));
      return optimizer.analyse(exec);
    };
    at(0);
    const std::vector<double> by_objective = optimizer.objective_gradient(exec),
                              by_volume = optimizer.volume_gradient(exec);
    double objective = 0, volume = 0;
    for (std::size_t e = 0; e < x.size(); ++e) {
      objective += by_objective[e] * (way[e] - 0.5);
      volume += by_volume[e] * (way[e] - 0.5);
    }
    const double h = 4e-3; // fourth order
    double objective_change = 0, volume_change = 0;
    for (const auto& [times, weight] : {std::pair{1, 8.0}, {-1, -8.0}, {2, -1.0}, {-2, 1.0}}) {
      const DesignStep there = at(times * h);
      objective_change += weight * there.objective / (12 * h);
      volume_change += weight * there.volume / (12 * h);
    }
    CHECK(objective_change == Approx(objective).epsilon(1e-6));
    CHECK(volume_change == Approx(volume).epsilon(1e-6));
  }
}

OSSATURA_BACKEND_TEST("Designs of tetrahedra get stiffer, and go on with the same bits",
                      "[solid_designs]") {
  const TestType exec;
  const DesignProblem problem =
      problem_of_solids(SolidKind::tetra10, SolidKind::tetra10, {4, 2, 2});
  for (const DesignMethod method : {DesignMethod::oc, DesignMethod::mma}) {
    DesignOptions options = options_of_solids(1e-8);
    options.method = method;
    DesignOptimizer<TestType> whole(exec, problem, options), rest(exec, problem, options);
    const double first = whole.step(exec).objective;
    whole.step(exec);
    rest.set_state(exec, whole.state(exec));
    DesignStep last;
    for (int step = 0; step < 2; ++step) {
      last = whole.step(exec);
      CHECK(rest.step(exec).objective == last.objective);
    }
    CHECK(rest.variables(exec) == whole.variables(exec));
    CHECK(last.objective < 0.8 * first);
    CHECK(last.volume == Approx(0.3).epsilon(1e-2));
    CHECK(whole.body().engine().is_deterministic);
  }
}

OSSATURA_BACKEND_TEST("What the solver of solids does not know is refused by name",
                      "[solid_designs]") {
  const TestType exec;
  const DesignProblem problem = problem_of_solids(SolidKind::tetra4, SolidKind::tetra4, {2, 1, 1});
  const auto refusal = [&](const auto& change) -> std::string {
    DesignOptions options = options_of_solids(1e-6);
    change(options);
    try {
      make_design_body(exec, problem, options);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  CHECK_THAT(refusal([](DesignOptions& o) { o.grid = DesignGrid::voxels; }),
             ContainsSubstring("take the grid mesh"));
  CHECK_THAT(refusal([](DesignOptions& o) { o.solver.kind = HexaOperatorKind::ebe; }),
             ContainsSubstring("the operator ebe is not known"));
  CHECK_THAT(
      refusal([](DesignOptions& o) { o.solver.preconditioner = HexaPreconditioner::block_jacobi; }),
      ContainsSubstring("take amg"));
  CHECK_THAT(refusal([](DesignOptions& o) { o.solver.chebyshev_degree = 5; }),
             ContainsSubstring("degree of the polynomial"));
  CHECK_THAT(refusal([](DesignOptions& o) { o.solver.forming_cost = 5; }),
             ContainsSubstring("cost of forming"));
  CHECK_THAT(refusal([](DesignOptions& o) { o.filter = DesignFilter::helmholtz; }),
             ContainsSubstring("take the filter density"));
  CHECK(refusal([](DesignOptions& o) { o.solver.kind = HexaOperatorKind::bsr; }).empty());
  CHECK_THROWS_WITH(make_surface_body(problem, {}, TriangleSurface{}, 1),
                    ContainsSubstring("other elements than cubes"));
}
