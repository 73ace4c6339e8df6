// SPDX-License-Identifier: Apache-2.0
// What designs are made of and loaded by: several materials, imposed displacements, gravity and
// rotation, against dense matrices, closed forms and differences.
#include "tests/backend_test.hpp"
#include "tests/reference/dense_cholesky.hpp"
#include "tests/reference/hexa_elasticity.hpp"
#include "tests/solvers/topopt/design_gradients.hpp"
#include <ossatura/core/mesh/iso_surface.hpp>
#include <ossatura/core/mesh/mechanics/traction.hpp>
#include <ossatura/solvers/topopt/balance.hpp>
#include <ossatura/solvers/topopt/loads.hpp>
#include <ossatura/solvers/topopt/materials.hpp>
#include <ossatura/solvers/topopt/part/reanalysis.hpp>

#include <algorithm>
#include <cmath>

namespace {

using namespace ossatura;
using namespace ossatura::test;
using Values = std::vector<double>;

/// Steel-like, soft and stiff elements side by side; the first is what `young` says. `poisson` is
/// of the soft ones.
void add_materials(DesignProblem& problem, double poisson = 0.3) {
  problem.materials = {{"a", 200, 0.3, 0}, {"b", 30, poisson, 0}, {"c", 900, 0.3, 0}};
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

/// The solution of a u = b where nodes of rigid bodies have six unknowns, those of the body about
/// its first node, in the place of their own.
Values solve_with_rigid(const DesignProblem& problem, const Values& a, const Values& b) {
  const std::size_t n = b.size();
  std::vector<Values> column; // u = sum of q_k times these
  std::vector<bool> is_rigid(n);
  for (const std::vector<std::int32_t>& body : problem.rigid) {
    const double* origin = &problem.mesh.point[3 * std::size_t(body.front())];
    for (std::size_t k = 0; k < 6; ++k) {
      Values own(n);
      for (const std::int32_t node : body)
        for (std::size_t c = 0; c < 3; ++c) {
          const std::size_t i = 3 * std::size_t(node) + c, axis = k - 3;
          is_rigid[i] = true;
          if (k < 3)
            own[i] = c == k ? 1 : 0;
          else if (c == (axis + 1) % 3) // the axis times the arm
            own[i] = -(problem.mesh.point[3 * std::size_t(node) + (axis + 2) % 3] -
                       origin[(axis + 2) % 3]);
          else if (c == (axis + 2) % 3)
            own[i] =
                problem.mesh.point[3 * std::size_t(node) + (axis + 1) % 3] - origin[(axis + 1) % 3];
        }
      column.push_back(own);
    }
  }
  for (std::size_t i = 0; i < n; ++i)
    if (!is_rigid[i]) {
      column.emplace_back(n);
      column.back()[i] = 1;
    }
  const std::size_t m = column.size();
  Values small(m * m), load(m), u(n);
  for (std::size_t k = 0; k < m; ++k) {
    Values product(n);
    for (std::size_t j = 0; j < n; ++j)
      if (column[k][j] != 0)
        for (std::size_t i = 0; i < n; ++i)
          product[i] += a[i * n + j] * column[k][j];
    for (std::size_t l = 0; l < m; ++l)
      for (std::size_t i = 0; i < n; ++i)
        small[l * m + k] += column[l][i] * product[i];
    for (std::size_t i = 0; i < n; ++i)
      load[k] += column[k][i] * b[i];
  }
  const Values q = reference::solve_dense(small, load);
  for (std::size_t k = 0; k < m; ++k)
    for (std::size_t i = 0; i < n; ++i)
      u[i] += q[k] * column[k][i];
  return u;
}

/// Load case k of the densities by a dense matrix, with E = E_m (e + (1 - e) rho^3), below the
/// density `linear` with rho linear^2 in the place of rho^3.
DenseCase solve_dense_case(const DesignProblem& problem, const Values& density, double least,
                           std::size_t k, double linear = 0) {
  Values modulus;
  for (std::size_t e = 0; e < density.size(); ++e) {
    const double solid =
        problem.material.empty() ? problem.young : problem.materials[problem.material[e]].young;
    const double power =
        density[e] < linear ? density[e] * linear * linear : std::pow(density[e], 3);
    modulus.push_back(solid * (least + (1 - least) * power));
  }
  reference::Dense matrix =
      reference::hexa_matrix(problem.mesh.point, problem.mesh.node, problem.poisson, modulus);
  for (std::size_t m = 0; m < problem.materials.size(); ++m) { // of other ratios in their place
    Values own;
    for (std::size_t e = 0; e < density.size(); ++e)
      own.push_back(problem.material.empty() || problem.material[e] != m ? 0 : modulus[e]);
    const double poisson = problem.materials[m].poisson;
    if (poisson == problem.poisson)
      continue;
    const reference::Dense with = reference::hexa_matrix(problem.mesh.point, problem.mesh.node,
                                                         poisson, own),
                           without = reference::hexa_matrix(problem.mesh.point, problem.mesh.node,
                                                            problem.poisson, own);
    for (std::size_t i = 0; i < matrix.value.size(); ++i)
      matrix.value[i] += with.value[i] - without.value[i];
  }
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
  DenseCase result{solve_with_rigid(problem, a, b), Values(n), 0};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j)
      result.force[i] += matrix.value[i * n + j] * result.u[j];
    // f . u - r . v, r what is needed beside the loads; supports do not move.
    result.value += load[i] * result.u[i] - (held[i] ? (result.force[i] - load[i]) * v[i] : 0);
  }
  return result;
}

OSSATURA_BACKEND_TEST("Designs of several materials with displacements solve the dense system",
                      "[design_loading]") {
  const TestType exec;
  DesignOptions options = options_with(1e-12);
  options.radius = 0.6;
  options.min_modulus = 1e-3;
  for (const auto& [kind, poisson] : {std::pair{HexaOperatorKind::recompute, 0.3},
                                      {HexaOperatorKind::recompute, 0.45},
                                      {HexaOperatorKind::congruent, 0.1},
                                      {HexaOperatorKind::bsr, -0.2}}) {
    DesignProblem problem = small_problem();
    add_materials(problem, poisson);
    add_displacements(problem);
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
  problem.materials[1].poisson = 0.05;
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

/// The end is a rigid body that is pulled and turned, and three nodes inside are another.
void add_rigid_bodies(DesignProblem& problem) {
  std::vector<std::int32_t> end;
  for (std::size_t n = 0; n < problem.mesh.num_points(); ++n)
    if (problem.mesh.point[3 * n] > 1.9)
      end.push_back(std::int32_t(n));
  problem.rigid = {end, {7, 32, 51}};
  problem.cases[0].loads.forces = {{end[0], {1, -2, 0}}, {end[5], {0, 1, 3}}, {32, {0, 0, 0.5}}};
  problem.cases[1].loads.forces = {{end[1], {0, 5, 0}}, {end.back(), {0, -5, 1}}};
}

OSSATURA_BACKEND_TEST("Free rigid bodies have six unknowns", "[design_loading]") {
  const TestType exec;
  DesignProblem problem = small_problem();
  add_materials(problem);
  add_rigid_bodies(problem);
  DesignOptions options = options_with(1e-12);
  options.radius = 0.6;
  options.min_modulus = 1e-3;
  for (const HexaPreconditioner kind : {HexaPreconditioner::amg, HexaPreconditioner::jacobi}) {
    options.solver.preconditioner = kind;
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
    }
  }
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

/// The nodes of a bar at x = 4 m.
std::vector<std::int32_t> end_of(const DesignProblem& problem) {
  std::vector<std::int32_t> end;
  for (std::size_t i = 0; i < problem.mesh.num_points(); ++i)
    if (problem.mesh.point[3 * i] > 4 - 1e-9)
      end.push_back(std::int32_t(i));
  return end;
}

OSSATURA_BACKEND_TEST("Rigid bodies that make no sense are refused", "[design_loading]") {
  const TestType exec;
  const auto refusal = [&](const std::vector<std::vector<std::int32_t>>& bodies,
                           DesignGrid grid = DesignGrid::mesh) -> std::string {
    DesignProblem problem = grid == DesignGrid::mesh ? small_problem() : bar();
    problem.rigid = bodies;
    DesignOptions options = options_with(1e-6);
    options.grid = grid;
    try {
      make_design_body(exec, problem, options);
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  CHECK_THAT(refusal({{0, 8, 9}}), ContainsSubstring("node 0 of rigid body 0 is held"));
  CHECK_THAT(refusal({{7, 32, 51}, {32, 50, 14}}), ContainsSubstring("node 32 is of two rigid"));
  CHECK_THAT(refusal({{7, 32}}), ContainsSubstring("on a line"));
  CHECK_THAT(refusal({{7, 32, 5100}}), ContainsSubstring("node 5100 of"));
  CHECK_THAT(refusal({{7, 32, 51}}, DesignGrid::voxels), ContainsSubstring("take the grid mesh"));
}

OSSATURA_BACKEND_TEST("A bar of two materials is as stiff as both in a row", "[design_loading]") {
  const TestType exec;
  constexpr double flexibility = 1 / 6.0 + 3 / 2.0; // sum of L / (E A)
  DesignOptions options = options_with(1e-11);
  options.filter = DesignFilter::none;
  options.start = 1;
  options.volume_fraction = 0.999;
  DesignProblem pulled = bar();
  const std::vector<std::int32_t> end = end_of(pulled);
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
    const double within = grid == DesignGrid::mesh ? 1e-8 : 1e-6; // moduli in single precision
    DesignOptimizer<TestType> mover(exec, moved, options);
    CHECK(mover.analyse(exec).objective == Approx(-0.01 / flexibility).epsilon(within));
    const DesignBalance balance = balance_design(exec, moved, mover, 0);
    CHECK(balance.imposed_force[0] == Approx(0.1 / flexibility).epsilon(within));
    CHECK(balance.support_force[0] == Approx(-0.1 / flexibility).epsilon(within));
    CHECK(balance.imposed_work == Approx(0.01 / flexibility).epsilon(within));
  }
}

OSSATURA_BACKEND_TEST("A surface is solved again with the materials that it is of",
                      "[design_loading]") {
  const TestType exec;
  DesignOptions options = options_with(1e-10);
  options.voxels.precision = Precision::fp64;
  DesignProblem problem = bar();
  const std::vector<std::int32_t> end = end_of(problem);
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
  // It hangs by its own weight: less what linear elements lack.
  problem.materials = {{"only", 6, 0, 3}};
  problem.material.clear();
  BodyLoad gravity;
  gravity.acceleration = {10, 0, 0};
  problem.cases[0].loads = {"hang", {}};
  problem.cases[0].loads.body = {gravity};
  for (const int n : {1, 2}) {
    const Reanalysis again = reanalyse(exec, make_surface_body(problem, {}, all, n), options);
    CHECK(again.objective == Approx(9 * 100 * 64 / 18.0 * (1 - 1 / (256.0 * n * n))).epsilon(1e-6));
  }
  problem.cases[0].loads.displacements = {{end[0], 0, 0.1}};
  CHECK_THROWS_WITH(make_surface_body(problem, {}, all), ContainsSubstring("imposed"));
}

/// Gravity aslant in the first load case, beside its forces, and rotation alone in the second.
void add_body_loads(DesignProblem& problem) {
  for (HexaMaterial& one : problem.materials)
    one.density = one.young / 50;
  BodyLoad gravity, rotation;
  gravity.acceleration = {1, -2, -9};
  rotation.square_speed = 7;
  rotation.origin = {0.3, 0.2, -0.4};
  rotation.axis = {0.6, 0, 0.8};
  problem.cases[0].loads.body = {gravity};
  problem.cases[1].loads = {"turning", {}};
  problem.cases[1].loads.body = {rotation, gravity};
}

/// Forces on mass [num_nodes, 3] by plain loops.
Values dense_body_forces(const DesignProblem& problem, const Values& density, std::size_t k) {
  Values force(problem.mesh.point.size());
  constexpr int corner[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
  for (std::size_t e = 0; e < problem.num_elem(); ++e)
    for (const auto& point : corner) {
      double n[8], slope[8][3], x[3] = {}, jacobian[3][3] = {};
      for (int a = 0; a < 8; ++a) {
        double along[3];
        for (int d = 0; d < 3; ++d)
          along[d] = 0.5 * (1 + corner[a][d] * point[d] / std::sqrt(3.0));
        n[a] = along[0] * along[1] * along[2];
        for (int d = 0; d < 3; ++d)
          slope[a][d] = 0.5 * corner[a][d] * along[(d + 1) % 3] * along[(d + 2) % 3];
      }
      for (int a = 0; a < 8; ++a)
        for (int c = 0; c < 3; ++c) {
          const double own =
              problem.mesh.point[3 * std::size_t(problem.mesh.node[8 * e + std::size_t(a)]) +
                                 std::size_t(c)];
          x[c] += n[a] * own;
          for (int d = 0; d < 3; ++d)
            jacobian[c][d] += slope[a][d] * own;
        }
      double volume = 0;
      for (int c = 0; c < 3; ++c)
        volume += jacobian[0][c] * (jacobian[1][(c + 1) % 3] * jacobian[2][(c + 2) % 3] -
                                    jacobian[1][(c + 2) % 3] * jacobian[2][(c + 1) % 3]);
      const double mass = volume * density[e] * problem.materials[problem.material[e]].density;
      for (const BodyLoad& load : problem.cases[k].loads.body) {
        double along = 0;
        for (std::size_t c = 0; c < 3; ++c)
          along += (x[c] - load.origin[c]) * load.axis[c];
        for (std::size_t c = 0; c < 3; ++c) {
          const double arm = x[c] - load.origin[c] - along * load.axis[c];
          for (std::size_t a = 0; a < 8; ++a)
            force[3 * std::size_t(problem.mesh.node[8 * e + a]) + c] +=
                n[a] * mass * (load.acceleration[c] + load.square_speed * arm);
        }
      }
    }
  return force;
}

OSSATURA_BACKEND_TEST("Gravity and rotation act on the mass of a design", "[design_loading]") {
  const TestType exec;
  DesignProblem problem = small_problem();
  add_materials(problem);
  add_body_loads(problem);
  DesignOptions options = options_with(1e-12);
  options.radius = 0.6;
  options.min_modulus = 1e-3;
  options.method = DesignMethod::mma;
  DesignOptimizer<TestType> optimizer(exec, problem, options);
  optimizer.set_state(exec, rough_state(exec, optimizer, problem, 0.05, 0.9));
  const DesignStep step = optimizer.analyse(exec);
  DesignProblem loaded = problem; // by forces of the nodes
  for (std::size_t k = 0; k < 2; ++k) {
    const Values expected = dense_body_forces(problem, optimizer.densities(exec), k),
                 found = optimizer.body_forces(exec, int(k));
    REQUIRE(found.size() == expected.size());
    double apart = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
      apart = std::max(apart, std::fabs(found[i] - expected[i]));
    CHECK(apart < 1e-12);
    for (std::size_t i = 0; i < found.size(); i += 3)
      loaded.cases[k].loads.forces.push_back(
          {std::int32_t(i / 3), {expected[i], expected[i + 1], expected[i + 2]}});
    loaded.cases[k].loads.body.clear();
    const DesignBalance balance = balance_design(exec, problem, optimizer, k);
    CHECK(balance.force_error() < 1e-7);
    CHECK(balance.moment_error() < 1e-7);
    CHECK(balance.energy_error() < 1e-7);
  }
  for (std::size_t k = 0; k < 2; ++k)
    CHECK(
        step.cases[k] ==
        Approx(
            solve_dense_case(loaded, optimizer.densities(exec), options.min_modulus, k, 0.25).value)
            .epsilon(1e-8));
}

OSSATURA_BACKEND_TEST("Gradients with gravity and rotation are those of differences",
                      "[design_loading]") {
  const TestType exec;
  DesignOptions options = options_with(1e-11);
  options.min_modulus = 1e-3;
  options.method = DesignMethod::mma;
  DesignProblem problem = small_problem();
  add_materials(problem);
  add_body_loads(problem);
  problem.role.assign(problem.num_elem(), DesignRole::free);
  problem.role[7] = DesignRole::solid;
  // On either side of where the law bends, which differences must not cross.
  for (const double low : {0.05, 0.35}) {
    options.filter = DesignFilter::none;
    check_gradients(exec, problem, options, low, low == 0.35 ? 0.4 : 0.15);
  }
  options.filter = DesignFilter::density;
  options.radius = 0.6;
  check_gradients(exec, problem, options, 0.35, 0.4);
  add_displacements(problem);
  problem.cases[1].loads.body = problem.cases[0].loads.body;
  check_gradients(exec, problem, options, 0.35, 0.4);
}

OSSATURA_BACKEND_TEST("A bar is as long as its weight and its rotation make it",
                      "[design_loading]") {
  const TestType exec;
  DesignOptions options = options_with(1e-12);
  options.filter = DesignFilter::none;
  options.start = 1;
  options.volume_fraction = 0.999;
  options.method = DesignMethod::mma;
  DesignProblem problem = bar();
  problem.materials = {{"only", 6, 0, 3}};
  problem.material.clear();
  problem.cases.resize(2);
  BodyLoad gravity, rotation;
  gravity.acceleration = {10, 0, 0};
  rotation.square_speed = 5;
  rotation.axis = {0, 0, 1};
  problem.cases[0].loads = {"hang", {}};
  problem.cases[0].loads.body = {gravity};
  problem.cases[1].loads = {"turn", {}};
  problem.cases[1].loads.body = {rotation};
  for (const DesignGrid grid : {DesignGrid::mesh, DesignGrid::voxels}) {
    options.grid = grid;
    options.voxels.precision = Precision::fp64;
    const double within = grid == DesignGrid::mesh ? 1e-9 : 1e-6; // moduli in single precision
    DesignOptimizer<TestType> optimizer(exec, problem, options);
    const DesignStep step = optimizer.analyse(exec);
    const std::size_t end = 3 * std::size_t(node_at(problem, 4, 1, 1));
    // rho g L^2 / (2 E), and energies of linear elements are low by 1 / (4 n^2).
    CHECK(optimizer.displacements(exec, 0)[end] == Approx(3 * 10 * 16 / 12.0).epsilon(within));
    CHECK(step.cases[0] == Approx(9 * 100 * 64 / 18.0 * (1 - 1 / 256.0)).epsilon(within));
    // rho w^2 L^3 / (3 E) along x, and along y as far as that is.
    CHECK(optimizer.displacements(exec, 1)[end] == Approx(3 * 5 * 64 / 18.0).epsilon(within));
    CHECK(optimizer.displacements(exec, 1)[end + 1] == Approx(3 * 5 / 18.0).epsilon(within));
    const DesignBalance balance = balance_design(exec, problem, optimizer, 0);
    CHECK(balance.support_force[0] == Approx(-3 * 10 * 4).epsilon(within));
  }
  problem.materials[0].density = 0;
  CHECK_THROWS_WITH(DesignOptimizer<TestType>(exec, problem, options),
                    ContainsSubstring("only has a mass density of 0"));
  problem.materials[0].density = 3;
  DesignOptions other = options;
  other.method = DesignMethod::oc;
  CHECK_THROWS_WITH(DesignOptimizer<TestType>(exec, problem, other), ContainsSubstring("mma"));
}

OSSATURA_BACKEND_TEST("Designs carry their own weight", "[design_loading]") {
  const TestType exec;
  DesignProblem problem;
  problem.mesh = make_hexa_box({12, 1, 6}, {12, 1, 6});
  problem.young = 1000;
  problem.poisson = 0.2;
  problem.materials = {{"stone", 1000, 0.2, 1}};
  hold(problem, 7, [](double x, double, double z) { return z < 0.1 && (x < 0.1 || x > 11.9); });
  hold(problem, 2, [](double, double, double) { return true; });
  BodyLoad gravity;
  gravity.acceleration = {0, 0, -10};
  problem.cases.resize(1);
  problem.cases[0].loads.body = {gravity};
  DesignOptions options = options_with(1e-8);
  options.method = DesignMethod::mma;
  options.volume_fraction = 0.4;
  options.start = 0.4;
  options.max_steps = 30;
  DesignOptimizer<TestType> optimizer(exec, problem, options);
  const double first = optimizer.step(exec).objective;
  while (!optimizer.is_done())
    optimizer.step(exec);
  const DesignStep last = optimizer.analyse(exec);
  CHECK(last.objective < 0.5 * first);
  CHECK(last.volume < 0.4 * 1.01);
  CHECK(balance_design(exec, problem, optimizer, 0).support_force[2] ==
        Approx(10 * 72 * last.volume).epsilon(1e-6)); // what is there is carried
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
  bad.materials[1].poisson = 0.5;
  CHECK_THAT(refusal(bad, options), ContainsSubstring("Poisson's ratio 0.5"));
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
  DesignProblem half = small_problem();
  half.mirrors = {{1, half.bounds()[1]}};
  BodyLoad gravity, rotation;
  gravity.acceleration = {1, 0, 2};
  rotation.square_speed = 1;
  rotation.axis = {0, 1, 0};
  rotation.origin = {0, 7, 0};
  CHECK_FALSE(find_asymmetry(half, gravity));
  CHECK_FALSE(find_asymmetry(half, rotation));
  rotation.axis = {0, 0, 1};
  CHECK(find_asymmetry(half, rotation) == std::size_t(0));
  rotation.origin[1] = half.bounds()[1];
  CHECK_FALSE(find_asymmetry(half, rotation));
  gravity.acceleration[1] = 0.01;
  half.cases[0].loads.body = {gravity};
  CHECK_THAT(refusal(half, options), ContainsSubstring("mirror 0 changes a load on mass"));
  DesignProblem cubes = bar();
  cubes.cases.resize(1);
  DesignOptions voxels = options;
  voxels.grid = DesignGrid::voxels;
  cubes.cases[0].loads = {"move", {}, {{1, 0, 0.1}}};
  CHECK_THAT(refusal(cubes, voxels),
             ContainsSubstring("component 0 of node 1 is to move by 0.1, but is not held"));
  cubes.cases[0].loads = {"move", {}, {{0, 0, 0.1}}};
  CHECK(refusal(cubes, voxels).empty());
  cubes.cases[0].loads = {"pull", {{8, {1, 0, 0}}}};
  CHECK(refusal(cubes, voxels).empty());
  cubes.materials[1].poisson = 0.25;
  CHECK_THAT(refusal(cubes, voxels), ContainsSubstring("soft has 0.25, stiff has 0"));
}

} // namespace
