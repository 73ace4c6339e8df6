// SPDX-License-Identifier: Apache-2.0
// Void slabs, islands, thin struts and hinges: solved, or said not to be.
#include "tests/backend_test.hpp"
#include "tests/solvers/bone/boundary_problem.hpp"
#include <ossatura/solvers/bone/solver.hpp>

namespace {

using namespace ossatura;
using ossatura::test::BoundaryProblem;
using ossatura::test::porous;
using ossatura::test::Solution;
using reference::Model;
using reference::relative_difference;

OSSATURA_BACKEND_TEST("Empty slabs around a body change nothing", "[voxel_solver]") {
  const BoundaryProblem body = porous({5, 6, 4}, 31);
  const Solution expected = ossatura::test::solve(TestType(), body, 1e-12);
  const std::array<int, 3> gap{3, 1, 6};
  Model model = reference::homogeneous({12, 8, 15}, 0, 0.3, body.model.edge);
  model.poisson.assign(model.poisson.size(), body.model.poisson[0]);
  for (int z = 0; z < 4; ++z)
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 5; ++x)
        model.modulus[model.voxel(x + gap[0], y + gap[1], z + gap[2])] =
            body.model.modulus[body.model.voxel(x, y, z)];
  BoundaryProblem moved(model);
  const auto move = [&](int node) {
    const auto s = body.model.site(node);
    return model.node(s[0] + gap[0], s[1] + gap[1], s[2] + gap[2]);
  };
  for (int i = 0; i < body.model.num_dofs(); ++i) {
    moved.held[3 * move(i / 3) + i % 3] = body.held[i];
    moved.f[3 * move(i / 3) + i % 3] = body.f[i];
  }
  const Solution solution = ossatura::test::solve(TestType(), moved, 1e-12);
  CHECK(solution.result.converged);
  std::vector<double> back;
  for (int i = 0; i < body.model.num_dofs(); ++i)
    back.push_back(solution.u[3 * move(i / 3) + i % 3]);
  CHECK(relative_difference(back, expected.u) < 1e-9);
}

OSSATURA_BACKEND_TEST("Isolated voxels that are held entirely do not disturb the rest",
                      "[voxel_solver]") {
  Model model = reference::homogeneous({9, 5, 6}, 5, 0.3);
  for (int z = 0; z < 6; ++z)
    for (int y = 0; y < 5; ++y)
      for (int x = 4; x < 9; ++x)
        model.modulus[model.voxel(x, y, z)] = 0;
  model.modulus[model.voxel(7, 2, 3)] = 1e4;
  BoundaryProblem problem(model);
  problem.clamp_plane(2, 0);
  problem.hold_plane(2, 6, 2, -0.1);
  for (int v = 0; v < 8; ++v)
    for (int c = 0; c < 3; ++c)
      problem.hold(model.node(7 + (v & 1), 2 + (v >> 1 & 1), 3 + (v >> 2)), c, 0.25);
  const auto expected =
      reference::solve(reference::assemble(model), problem.held, problem.f, problem.u);
  const Solution solution = ossatura::test::solve(TestType(), problem, 1e-11);
  CHECK(solution.result.converged);
  CHECK(relative_difference(solution.u, expected) < 1e-8);
}

OSSATURA_BACKEND_TEST("An unloaded island that nothing holds is harmless", "[voxel_solver]") {
  Model model = reference::homogeneous({9, 5, 6}, 5, 0.3);
  for (int z = 0; z < 6; ++z)
    for (int y = 0; y < 5; ++y)
      for (int x = 4; x < 6; ++x)
        model.modulus[model.voxel(x, y, z)] = 0;
  BoundaryProblem problem(model); // the right part floats
  for (int node = 0; node < model.num_lattice_nodes(); ++node) {
    const auto s = model.site(node);
    if (s[0] > 4)
      continue;
    for (int c = 0; c < 3 && s[2] == 0; ++c)
      problem.hold(node, c, 0);
    if (s[2] == 6)
      problem.hold(node, 2, -0.1);
  }
  const Solution solution = ossatura::test::solve(TestType(), problem, 1e-9);
  CHECK(solution.result.converged);
  const reference::SparseMatrix k = reference::assemble(model);
  const auto force = k * solution.u;
  double wrong = 0, largest = 0;
  for (int i = 0; i < model.num_dofs(); ++i) {
    wrong = std::max(wrong, problem.held[i] ? 0 : std::abs(force[i]));
    largest = std::max(largest, std::abs(force[i]));
  }
  CHECK(largest > 0.01);
  CHECK(wrong < 1e-7 * largest);
}

OSSATURA_BACKEND_TEST("Two blocks joined by a strut one voxel thin are the oracle's",
                      "[voxel_solver]") {
  Model model = reference::homogeneous({4, 4, 14}, 100, 0.3);
  for (int z = 4; z < 10; ++z)
    for (int y = 0; y < 4; ++y)
      for (int x = 0; x < 4; ++x)
        if (x != 1 || y != 2)
          model.modulus[model.voxel(x, y, z)] = 0;
  BoundaryProblem problem(model);
  problem.clamp_plane(2, 0);
  problem.hold_plane(2, 14, 2, -0.1);
  problem.hold_plane(2, 14, 0, 0.05);
  const auto expected =
      reference::solve(reference::assemble(model), problem.held, problem.f, problem.u);
  VoxelSolverOptions options;
  options.cg.tolerance = 1e-11;
  options.multigrid.direct_nodes = 20;
  const Solution solution = ossatura::test::solve(TestType(), problem, options);
  CHECK(solution.result.converged);
  CHECK(relative_difference(solution.u, expected) < 1e-8);
}

OSSATURA_BACKEND_TEST("Voxels joined by edges or corners alone never yield a false convergence",
                      "[voxel_solver]") {
  for (bool corners : {false, true}) {
    Model model = reference::homogeneous({8, 8, 8}, 10, 0.3);
    for (int z = 0; z < 8; ++z)
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 8; ++x) {
          // edges: the cells of one colour of a checkerboard; corners: one cell of every eight and
          // its opposite
          const int odd = (x & 1) + (y & 1) + (z & 1);
          if (corners ? odd != 0 && odd != 3 : odd % 2 != 0)
            model.modulus[model.voxel(x, y, z)] = 0;
        }
    BoundaryProblem problem(model);
    problem.clamp_plane(2, 0);
    problem.hold_plane(2, 8, 2, -0.1);
    const Solution solution = ossatura::test::solve(TestType(), problem, 1e-8);
    INFO("corners " << corners << ", " << solution.result.iterations << " iterations, residual "
                    << solution.result.residual);
    const reference::SparseMatrix k = reference::assemble(model);
    const auto start = k * problem.u, end = k * solution.u;
    double before = 0, after = 0;
    for (int i = 0; i < model.num_dofs(); ++i)
      if (!problem.held[i]) {
        before += start[i] * start[i];
        after += end[i] * end[i];
      }
    CHECK(before > 0);
    CHECK(solution.result.residual ==
          Approx(std::sqrt(after / before)).epsilon(1e-4).margin(1e-12));
    CHECK(solution.result.converged == (solution.result.residual <= 1e-8));
  }
}

OSSATURA_BACKEND_TEST("A body that is held nowhere or everywhere comes back", "[voxel_solver]") {
  // Self-balanced forces on a free body: singular, consistent.
  BoundaryProblem free(reference::homogeneous({6, 6, 6}, 1, 0.3));
  for (int node = 0; node < free.model.num_lattice_nodes(); ++node) {
    const int z = free.model.site(node)[2];
    free.f[3 * node + 2] = z == 0 ? -1 : z == 6 ? 1 : 0;
  }
  const Solution floating = ossatura::test::solve(TestType(), free, 1e-8);
  const auto force = reference::assemble(free.model) * floating.u;
  CHECK(floating.result.converged == (relative_difference(force, free.f) <= 1.001e-8));

  BoundaryProblem held(reference::homogeneous({3, 4, 5}, 1, 0.3));
  for (int i = 0; i < held.model.num_dofs(); ++i)
    held.hold(i / 3, i % 3, 0.1 * i);
  const Solution fixed = ossatura::test::solve(TestType(), held, 1e-8);
  CHECK(fixed.result.converged);
  CHECK(fixed.result.iterations == 0);
  CHECK(fixed.u == held.u);
}

} // namespace
