// SPDX-License-Identifier: Apache-2.0
// The surface of a design, solved again: closed forms, what stays of supports and loads, and what
// is refused.
#include "tests/backend_test.hpp"
#include "tests/solvers/topopt/design_problems.hpp"
#include <ossatura/core/mesh/iso_surface.hpp>
#include <ossatura/core/mesh/mechanics/traction.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>
#include <ossatura/solvers/topopt/part/reanalysis.hpp>

#include <functional>
#include <numeric>

namespace {

using namespace ossatura;
using namespace ossatura::test;
using Values = std::vector<double>;
using Chosen = std::function<bool(double, double, double)>;

DesignOptions voxels_in_double() {
  DesignOptions options = options_with(1e-11);
  options.grid = DesignGrid::voxels;
  options.voxels.precision = Precision::fp64;
  options.filter = DesignFilter::none;
  return options;
}

/// 2 x 3 x 6 m in cubes of 0.5 m, pressed from above by 1 N/m2; rollers below and on two sides.
DesignProblem column() {
  DesignProblem problem;
  problem.mesh = make_hexa_box({4, 6, 12}, {2, 3, 6});
  problem.young = 5;
  problem.poisson = 0.3;
  hold(problem, 4, [](double, double, double z) { return z < 1e-9; });
  hold(problem, 1, [](double x, double, double) { return x < 1e-9; });
  hold(problem, 2, [](double, double y, double) { return y < 1e-9; });
  std::vector<std::int32_t> top;
  for (std::size_t i = 0; i < problem.mesh.num_points(); ++i)
    if (problem.mesh.point[3 * i + 2] > 6 - 1e-9)
      top.push_back(std::int32_t(i));
  problem.cases.resize(1);
  problem.cases[0] = {{"press", traction_forces(problem.mesh, top, {0, 0, -1})}, 1};
  return problem;
}

/// The same as cells of a lattice, whose numbers are those of the mesh.
DesignProblem on_lattice(DesignProblem problem) {
  problem.lattice = std::make_shared<const LatticeBody>(make_lattice_box({4, 6, 12}, {2, 3, 6}));
  problem.mesh = {};
  return problem;
}

/// The surface of the elements whose centres are chosen, as designs have it.
TriangleSurface surface_of(const ElementMesh& mesh, const Chosen& chosen) {
  Values density;
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    double centre[3] = {};
    for (std::size_t a = 8 * e; a < 8 * e + 8; ++a)
      for (std::size_t c = 0; c < 3; ++c)
        centre[c] += mesh.point[3 * std::size_t(mesh.node[a]) + c] / 8;
    density.push_back(chosen(centre[0], centre[1], centre[2]) ? 1 : 0);
  }
  return iso_surface(mesh, node_means(mesh, density), 0.5);
}

bool everywhere(double, double, double) {
  return true;
}

OSSATURA_BACKEND_TEST("A column is as stiff again as its length, area and modulus say",
                      "[reanalysis]") {
  const TestType exec;
  const DesignProblem mesh = column(), lattice = on_lattice(mesh);
  const TriangleSurface surface = surface_of(mesh.mesh, everywhere);
  for (const DesignProblem* problem : {&mesh, &lattice}) {
    const SurfaceBody body = make_surface_body(*problem, {}, surface);
    CHECK(body.edge == Approx(0.5));
    CHECK(body.volume == Approx(36));
    CHECK(body.left_out == 0);
    CHECK(body.moved[0].share == 0);
    CHECK(body.num_supported == body.num_supports);
    const Reanalysis found = reanalyse(exec, body, voxels_in_double());
    const double force = 6, expected = force * force * 6 / (5 * 6); // F^2 L / (E A)
    CHECK(found.objective == Approx(expected).epsilon(1e-8));
    CHECK(found.cases[0].compliance == Approx(expected).epsilon(1e-8));
    CHECK(found.cases[0].von_mises.value == Approx(1).epsilon(1e-6));
    CHECK(found.cases[0].von_mises_quantile == Approx(1).epsilon(1e-6));
    // Down by L / E, and aside by nu / E at the corner.
    CHECK(found.cases[0].displacement.value ==
          Approx(std::hypot(6 / 5.0, 0.3 * 2 / 5, 0.3 * 3 / 5)).epsilon(1e-8));
    CHECK(found.cases[0].displacement.place == std::array<double, 3>{2, 3, 6});
  }
}

OSSATURA_BACKEND_TEST("A design that is all solid is solved again as it was", "[reanalysis]") {
  const TestType exec;
  DesignProblem problem = column();
  problem.held.clear();
  hold(problem, 7, [](double, double, double z) { return z < 1e-9; });
  problem.cases[0].loads.forces = {{node_at(problem, 2, 3, 6), {1, 0.5, 0.2}}};
  const DesignOptions options = voxels_in_double();
  DesignOptimizer<TestType> optimizer(exec, problem, options);
  const auto ones = make_zeros<double>(exec, optimizer.body().num_elem(), "test::variables");
  Kokkos::deep_copy(exec, ones, 1.0);
  optimizer.set_variables(exec, ones);
  const double design = optimizer.analyse(exec).objective;
  const SurfaceBody body = make_surface_body(problem, {}, surface_of(problem.mesh, everywhere));
  CHECK(reanalyse(exec, body, options).objective == Approx(design).epsilon(1e-9));
}

/// Resultant, and moment about the origin.
std::array<double, 6> sums_of(const DesignProblem& problem) {
  std::array<double, 6> sum{};
  for (const NodeForce& one : problem.cases[0].loads.forces) {
    const auto x = problem.point(one.node);
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t d = (c + 1) % 3, e = (c + 2) % 3;
      sum[c] += one.force[c];
      sum[c + 3] += x[d] * one.force[e] - x[e] * one.force[d];
    }
  }
  return sum;
}

OSSATURA_BACKEND_TEST("Finer cubes keep supports and loads", "[reanalysis]") {
  const TestType exec;
  const DesignProblem problem = column();
  const TriangleSurface surface = surface_of(problem.mesh, everywhere);
  const SurfaceBody body = make_surface_body(problem, {}, surface, 2);
  CHECK(body.edge == Approx(0.25));
  CHECK(body.problem.lattice->num_elem() == 8 * 288);
  std::int64_t held = 0;
  for (const HeldComponents& one : body.problem.held)
    held += (one.components & 1) + (one.components >> 1 & 1) + (one.components >> 2);
  CHECK(held == 9 * 13 + 13 * 25 + 9 * 25);
  // A uniform traction is one again.
  CHECK(reanalyse(exec, body, voxels_in_double()).objective == Approx(7.2).epsilon(1e-8));
  const auto wanted = sums_of(problem), found = sums_of(body.problem);
  for (std::size_t c = 0; c < 6; ++c)
    CHECK(found[c] == Approx(wanted[c]).epsilon(1e-12).margin(1e-12));
  // Forces of no pattern on the face, a line of them below and one amid the body.
  DesignProblem aside = problem;
  for (NodeForce& one : aside.cases[0].loads.forces) {
    const auto x = aside.point(one.node);
    one.force[0] = x[0] * x[1];
    one.force[1] = 1 + x[1];
  }
  for (int i = 0; i < 4; ++i)
    aside.cases[0].loads.forces.push_back({node_at(aside, 0.5 * i, 3, 1), {0.1 * i, 1, 0}});
  aside.cases[0].loads.forces.push_back({node_at(aside, 1, 1, 3), {0, 0, 2}});
  const SurfaceBody other = make_surface_body(aside, {}, surface, 3);
  const auto all = sums_of(aside), shared = sums_of(other.problem);
  for (std::size_t c = 0; c < 3; ++c)
    CHECK(shared[c] == Approx(all[c]).epsilon(1e-12));
  CHECK(other.problem.cases[0].loads.forces.size() == 13 * 19 + 10 + 1);
}

OSSATURA_BACKEND_TEST("What the surface lacks is said, and never solved as if it were there",
                      "[reanalysis]") {
  DesignProblem problem = column();
  problem.held.clear();
  hold(problem, 7, [](double, double, double z) { return z < 1e-9; });
  const ElementMesh& mesh = problem.mesh;
  // The upper end is there for x < 1 alone: of five columns of nodes two are lost.
  const SurfaceBody half = make_surface_body(
      problem, {}, surface_of(mesh, [](double x, double, double z) { return z < 3 || x < 1; }));
  CHECK(half.moved[0].share == Approx(0.375));
  CHECK(half.moved[0].distance == Approx(1));
  double sum = 0;
  for (const NodeForce& one : half.problem.cases[0].loads.forces)
    sum += one.force[2];
  CHECK(sum == Approx(-6));
  CHECK(half.volume == Approx(18 + 9));
  // A layer without material cuts the loads off.
  const auto cut = [](double, double, double z) { return z < 2.9 || z > 4.1; };
  CHECK_THROWS_AS(make_surface_body(problem, {}, surface_of(mesh, cut)), NotReanalysed);
  const auto no_support = [](double, double, double z) { return z > 1; };
  CHECK_THROWS_AS(make_surface_body(problem, {}, surface_of(mesh, no_support)), NotReanalysed);
  CHECK_THROWS_AS(make_surface_body(problem, {}, TriangleSurface{}), NotReanalysed);
  // Held in one direction only.
  DesignProblem free = problem;
  for (HeldComponents& one : free.held)
    one.components = 4;
  CHECK_THROWS_AS(make_surface_body(free, {}, surface_of(mesh, everywhere)), NotReanalysed);
  // A part that hangs on nothing is left out, its volume is not forgotten.
  const SurfaceBody parts =
      make_surface_body(problem, {}, surface_of(mesh, [](double x, double y, double z) {
                          return z < 1 || x < 1 || (x > 1.4 && y > 1.5 && z > 2 && z < 4);
                        }));
  CHECK(parts.left_out == Approx(0.5 * 1.5 * 2 - 2 * 0.125)); // the surface rounds two corners off
  CHECK_THROWS_AS(make_surface_body(problem, {}, surface_of(mesh, everywhere), 9),
                  std::invalid_argument);
  problem.mesh.point[0] -= 0.2;
  CHECK_THROWS_AS(make_surface_body(problem, {}, surface_of(mesh, everywhere)),
                  std::invalid_argument);
}

} // namespace
