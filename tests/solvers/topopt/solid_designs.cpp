// SPDX-License-Identifier: Apache-2.0
// Designs of tetrahedra, prisms and second-order elements: gradients against differences, resumed
// runs, surfaces, and options that their solver has not.
#include "tests/backend_test.hpp"
#include "tests/solid_meshes.hpp"
#include "tests/solvers/topopt/design_problems.hpp"
#include <ossatura/core/mesh/mechanics/traction.hpp>
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
