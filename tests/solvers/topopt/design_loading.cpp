// SPDX-License-Identifier: Apache-2.0
// What designs are made of and loaded by: several materials and imposed displacements, against
// dense matrices, closed forms and differences.
#include "tests/backend_test.hpp"
#include "tests/reference/dense_cholesky.hpp"
#include "tests/reference/hexa_elasticity.hpp"
#include "tests/solvers/topopt/design_gradients.hpp"
#include <ossatura/core/mesh/iso_surface.hpp>
#include <ossatura/core/mesh/mechanics/traction.hpp>
#include <ossatura/solvers/topopt/balance.hpp>
#include <ossatura/solvers/topopt/materials.hpp>
#include <ossatura/solvers/topopt/part/reanalysis.hpp>

#include <algorithm>
#include <cmath>

namespace {

using namespace ossatura;
using namespace ossatura::test;
using Values = std::vector<double>;

/// Steel-like, soft and stiff elements side by side; the first is what `young` says.
void add_materials(DesignProblem& problem) {
  problem.materials = {{"a", 200, 0.3, 0}, {"b", 30, 0.3, 0}, {"c", 900, 0.3, 0}};
  for (std::size_t e = 0; e < problem.num_elem(); ++e)
    problem.material.push_back(std::uint8_t((7 * e + e / 5) % 3));
}

/// Moves two nodes in the first load case, beside its forces, and one in place of the forces of the
/// second; what a case does not move it holds.
void add_displacements(DesignProblem& problem) {
  const std::int32_t last = std::int32_t(problem.mesh.num_points()) - 1;
  problem.held.push_back({last - 3, 4});
  problem.held.push_back({last - 8, 1});
  problem.held.push_back({last - 9, 6});
  problem.cases[0].loads.displacements = {{last - 3, 2, 0.02}, {last - 8, 0, -0.013}};
  problem.cases[1].loads = {"moved", {}, {{last - 9, 1, 0.01}, {last - 9, 2, -0.03}}};
}

struct DenseCase {
  Values u;
  Values force; ///< K u
  double value; ///< f . u - r . v
};

/// Load case k of the densities by a dense matrix, with E = E_m (e + (1 - e) rho^3).
DenseCase solve_dense_case(const DesignProblem& problem, const Values& density, double least,
                           std::size_t k) {
  Values modulus;
  for (std::size_t e = 0; e < density.size(); ++e) {
    const double solid =
        problem.material.empty() ? problem.young : problem.materials[problem.material[e]].young;
    modulus.push_back(solid * (least + (1 - least) * std::pow(density[e], 3)));
  }
  const reference::Dense matrix =
      reference::hexa_matrix(problem.mesh.point, problem.mesh.node, problem.poisson, modulus);
  const std::size_t n = problem.mesh.point.size();
  Values v(n), load(n);
  std::vector<bool> held(n);
  for (const HeldComponents& one : problem.held)
    for (std::size_t c = 0; c < 3; ++c)
      if (one.components >> c & 1)
        held[3 * std::size_t(one.node) + c] = true;
  for (const NodeDisplacement& one : problem.cases[k].loads.displacements)
    v[3 * std::size_t(one.node) + std::size_t(one.component)] = one.value;
  for (const NodeForce& one : problem.cases[k].loads.forces)
    for (std::size_t c = 0; c < 3; ++c)
      load[3 * std::size_t(one.node) + c] += one.force[c];
  Values a = matrix.value, b = load;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (!held[i])
        b[i] -= matrix.value[i * n + j] * v[j];
  for (std::size_t i = 0; i < n; ++i)
    if (held[i]) {
      for (std::size_t j = 0; j < n; ++j)
        a[i * n + j] = a[j * n + i] = 0;
      a[i * n + i] = 1;
      b[i] = v[i];
    }
  DenseCase result{reference::solve_dense(a, b), Values(n), 0};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      result.force[i] += matrix.value[i * n + j] * result.u[j];
    result.value += held[i] ? -result.force[i] * v[i] : load[i] * result.u[i];
  }
  return result;
}

OSSATURA_BACKEND_TEST("Designs of several materials with displacements solve the dense system",
                      "[design_loading]") {
  const TestType exec;
  DesignProblem problem = small_problem();
  add_materials(problem);
  add_displacements(problem);
  DesignOptions options = options_with(1e-12);
  options.radius = 0.6;
  options.min_modulus = 1e-3;
  for (const HexaOperatorKind kind : {HexaOperatorKind::recompute, HexaOperatorKind::bsr}) {
    options.solver.kind = kind;
    DesignOptimizer<TestType> optimizer(exec, problem, options);
    optimizer.set_state(exec, rough_state(exec, optimizer, problem));
    const DesignStep step = optimizer.analyse(exec);
    for (std::size_t k = 0; k < 2; ++k) {
      const DenseCase dense =
          solve_dense_case(problem, optimizer.densities(exec), options.min_modulus, k);
      CHECK(step.cases[k] == Approx(dense.value).epsilon(1e-8));
      const Values u = optimizer.displacements(exec, int(k));
      double apart = 0;
      for (std::size_t i = 0; i < u.size(); ++i)
        apart = std::max(apart, std::fabs(u[i] - dense.u[i]));
      CHECK(apart < 1e-8);
      const DesignBalance balance = balance_design(exec, problem, optimizer, k);
      CHECK(balance.force_error() < 1e-7);
      CHECK(balance.moment_error() < 1e-7);
      CHECK(balance.energy_error() < 1e-7);
      std::array<double, 3> moving{};
      double work = 0;
      for (const NodeDisplacement& one : problem.cases[k].loads.displacements) {
        const double force = dense.force[3 * std::size_t(one.node) + std::size_t(one.component)];
        moving[std::size_t(one.component)] += force;
        work += force * one.value;
      }
      for (std::size_t c = 0; c < 3; ++c)
        CHECK(balance.imposed_force[c] == Approx(moving[c]).margin(1e-7));
      CHECK(balance.imposed_work == Approx(work).epsilon(1e-7));
    }
    CHECK(step.objective == Approx(0.7 * step.cases[0] + 1.3 * step.cases[1]));
    CHECK(step.cases[1] < 0); // no force: minus twice the energy
  }
}

OSSATURA_BACKEND_TEST("Gradients of several materials and displacements are those of differences",
                      "[design_loading]") {
  const TestType exec;
  DesignOptions options = options_with(1e-12);
  options.radius = 0.6;
  options.min_modulus = 1e-3;
  DesignProblem problem = small_problem();
  add_materials(problem);
  check_gradients(exec, problem, options);
  add_displacements(problem);
  options.projection = true;
  options.sharpness.start = 3;
  check_gradients(exec, problem, options);
  options.objective = DesignObjective::mechanism; // pushed by a displacement
  const std::int32_t last = std::int32_t(problem.mesh.num_points()) - 1;
  problem.output = {{last - 6, {0, 0.5, 1}}};
  problem.springs = {{last - 6, 2, 10}};
  check_gradients(exec, problem, options);
}

/// A bar of 4 x 1 x 1 m, soft for x > 1, on rollers and free to contract.
DesignProblem bar() {
  DesignProblem problem;
  problem.mesh = make_hexa_box({8, 2, 2}, {4, 1, 1});
  problem.young = 6;
  problem.poisson = 0;
  problem.materials = {{"stiff", 6, 0, 0}, {"soft", 2, 0, 0}};
  for (std::size_t e = 0; e < problem.num_elem(); ++e)
    problem.material.push_back(e % 8 < 2 ? 0 : 1);
  hold(problem, 1, [](double x, double, double) { return x < 1e-9; });
  hold(problem, 2, [](double, double y, double) { return y < 1e-9; });
  hold(problem, 4, [](double, double, double z) { return z < 1e-9; });
  return problem;
}

OSSATURA_BACKEND_TEST("A bar of two materials is as stiff as both in a row", "[design_loading]") {
  const TestType exec;
  constexpr double flexibility = 1 / 6.0 + 3 / 2.0; // sum of L / (E A)
  DesignOptions options = options_with(1e-11);
  options.filter = DesignFilter::none;
  options.start = 1;
  options.volume_fraction = 0.999;
  DesignProblem pulled = bar();
  std::vector<std::int32_t> end;
  for (std::size_t i = 0; i < pulled.mesh.num_points(); ++i)
    if (pulled.mesh.point[3 * i] > 4 - 1e-9)
      end.push_back(std::int32_t(i));
  pulled.cases.resize(1);
  pulled.cases[0] = {{"pull", traction_forces(pulled.mesh, end, {0.5, 0, 0})}, 1};
  DesignProblem moved = bar();
  hold(moved, 1, [](double x, double, double) { return x > 4 - 1e-9; });
  moved.cases.resize(1);
  moved.cases[0].loads.name = "move";
  for (const std::int32_t node : end)
    moved.cases[0].loads.displacements.push_back({node, 0, 0.1});
  for (const DesignGrid grid : {DesignGrid::mesh, DesignGrid::voxels}) {
    options.grid = grid;
    options.voxels.precision = Precision::fp64;
    DesignOptimizer<TestType> optimizer(exec, pulled, options);
    CHECK(optimizer.analyse(exec).objective == Approx(0.25 * flexibility).epsilon(1e-6));
    // Energy by volume, force^2 / (2 E), in either.
    const Values energy = optimizer.energies(exec);
    CHECK(energy[0] == Approx(0.125 / 6).epsilon(1e-6));
    CHECK(energy[5] == Approx(0.125 / 2).epsilon(1e-6));
  }
  options.grid = DesignGrid::mesh;
  DesignOptimizer<TestType> optimizer(exec, moved, options);
  CHECK(optimizer.analyse(exec).objective == Approx(-0.01 / flexibility).epsilon(1e-8));
  const DesignBalance balance = balance_design(exec, moved, optimizer, 0);
  CHECK(balance.imposed_force[0] == Approx(0.1 / flexibility).epsilon(1e-8));
  CHECK(balance.support_force[0] == Approx(-0.1 / flexibility).epsilon(1e-8));
  CHECK(balance.imposed_work == Approx(0.01 / flexibility).epsilon(1e-8));
}

OSSATURA_BACKEND_TEST("A surface is solved again with the materials that it is of",
                      "[design_loading]") {
  const TestType exec;
  DesignOptions options = options_with(1e-10);
  options.voxels.precision = Precision::fp64;
  DesignProblem problem = bar();
  std::vector<std::int32_t> end;
  for (std::size_t i = 0; i < problem.mesh.num_points(); ++i)
    if (problem.mesh.point[3 * i] > 4 - 1e-9)
      end.push_back(std::int32_t(i));
  problem.cases.resize(1);
  problem.cases[0] = {{"pull", traction_forces(problem.mesh, end, {0.5, 0, 0})}, 1};
  const TriangleSurface all =
      iso_surface(problem.mesh, node_means(problem.mesh, Values(problem.num_elem(), 1.0)), 0.5);
  for (const int refine : {1, 2}) {
    const SurfaceBody body = make_surface_body(problem, {}, all, refine);
    CHECK(std::count(body.problem.material.begin(), body.problem.material.end(), 0) ==
          8 * refine * refine * refine);
    const Reanalysis again = reanalyse(exec, body, options);
    CHECK(again.objective == Approx(0.25 * (1 / 6.0 + 3 / 2.0)).epsilon(1e-6));
    CHECK(again.cases[0].von_mises.value == Approx(0.5).epsilon(1e-6));
  }
  problem.cases[0].loads.displacements = {{end[0], 0, 0.1}};
  CHECK_THROWS_WITH(make_surface_body(problem, {}, all), ContainsSubstring("imposed"));
}

OSSATURA_BACKEND_TEST("Designs stiffen against displacements as against forces",
                      "[design_loading]") {
  const TestType exec;
  DesignProblem problem = small_problem();
  add_materials(problem);
  add_displacements(problem);
  for (const DesignMethod method : {DesignMethod::oc, DesignMethod::mma}) {
    DesignOptions options = options_with(1e-8);
    options.method = method;
    options.volume_fraction = 0.4;
    options.max_steps = 12;
    DesignOptimizer<TestType> optimizer(exec, problem, options);
    const DesignStep first = optimizer.step(exec);
    const double weak = balance_design(exec, problem, optimizer, 1).imposed_work;
    while (!optimizer.is_done())
      optimizer.step(exec);
    const DesignStep last = optimizer.analyse(exec);
    CHECK(last.objective < first.objective);
    CHECK(balance_design(exec, problem, optimizer, 1).imposed_work > 1.2 * weak);
    CHECK(last.volume < 0.4 * 1.001);
  }
}

OSSATURA_BACKEND_TEST("Materials and displacements that make no sense are refused",
                      "[design_loading]") {
  const TestType exec;
  const DesignOptions options = options_with(1e-6);
  const auto refusal = [&](const DesignProblem& problem, const DesignOptions& with) {
    try {
      DesignOptimizer<TestType>(exec, problem, with);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  DesignProblem good = small_problem();
  add_materials(good);
  add_displacements(good);
  CHECK(refusal(good, options).empty());
  DesignProblem bad = good;
  bad.material.pop_back();
  CHECK_THAT(refusal(bad, options), ContainsSubstring("44 materials of 45 elements"));
  bad = good;
  bad.material[3] = 3;
  CHECK_THAT(refusal(bad, options), ContainsSubstring("material 3 of 3"));
  bad = good;
  bad.materials[1].young = 0;
  CHECK_THAT(refusal(bad, options), ContainsSubstring("material b: a modulus of 0"));
  bad = good;
  bad.materials[1].poisson = 0.25;
  CHECK_THAT(refusal(bad, options), ContainsSubstring("b has 0.25"));
  bad = good;
  bad.cases[0].loads.displacements.push_back({1, 2, 0.1});
  bad.held.erase(std::remove_if(bad.held.begin(), bad.held.end(),
                                [](const HeldComponents& one) { return one.node == 1; }),
                 bad.held.end());
  CHECK_THAT(refusal(bad, options),
             ContainsSubstring("component 2 of node 1 is to move by 0.1, but is not held"));
  bad = good;
  bad.cases[0].loads.displacements.push_back(bad.cases[0].loads.displacements[0]);
  bad.cases[0].loads.displacements.back().value = 1;
  CHECK_THAT(refusal(bad, options), ContainsSubstring("by 0.02 and by 1"));
  bad = good;
  bad.cases[1].loads.displacements[0].value = std::nan("");
  CHECK_THAT(refusal(bad, options), ContainsSubstring("load case 2 (moved)"));
  DesignProblem cubes = bar();
  cubes.cases.resize(1);
  cubes.cases[0].loads = {"move", {}, {{0, 0, 0.1}}};
  DesignOptions voxels = options;
  voxels.grid = DesignGrid::voxels;
  CHECK_THAT(refusal(cubes, voxels), ContainsSubstring("not known on voxels"));
}

} // namespace
