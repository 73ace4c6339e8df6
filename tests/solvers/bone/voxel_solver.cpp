// SPDX-License-Identifier: Apache-2.0
// Boundary value problems with closed forms, the oracle's solutions, balance and superposition.
#include "tests/backend_test.hpp"
#include "tests/solvers/bone/boundary_problem.hpp"
#include <ossatura/solvers/bone/solver.hpp>

#include <array>
#include <cmath>

namespace {

using namespace ossatura;
using ossatura::test::BoundaryProblem;
using ossatura::test::lame;
using ossatura::test::Lame;
using ossatura::test::porous;
using ossatura::test::Solution;
using ossatura::test::sum_plane;
using reference::Model;
using reference::relative_difference;

/// Largest |u - expected| over the components of nodes, relative to the largest |expected|.
template<class Field>
double field_error(const Model& model, const std::vector<double>& u, const Field& expected) {
  double error = 0, scale = 0;
  for (int node = 0; node < model.num_lattice_nodes(); ++node) {
    if (!model.has_node(node))
      continue;
    const auto s = model.site(node);
    const std::array<double, 3> value =
        expected(s[0] * model.edge, s[1] * model.edge, s[2] * model.edge);
    for (int c = 0; c < 3; ++c) {
      error = std::max(error, std::abs(u[3 * node + c] - value[c]));
      scale = std::max(scale, std::abs(value[c]));
    }
  }
  return error / scale;
}

/// Axial compression by `strain` along z with free sides; six rigid motions taken away.
BoundaryProblem uniaxial(Model model, double strain) {
  BoundaryProblem problem(std::move(model));
  const auto shape = problem.model.shape;
  problem.hold_plane(2, 0, 2, 0);
  problem.hold_plane(2, shape[2], 2, -strain * shape[2] * problem.model.edge);
  problem.hold(problem.model.node(0, 0, 0), 0, 0);
  problem.hold(problem.model.node(0, 0, 0), 1, 0);
  problem.hold(problem.model.node(shape[0], 0, 0), 1, 0);
  return problem;
}

/// Compression by `strain` along an axis between smooth walls on all six sides.
BoundaryProblem confined(Model model, int axis, double strain) {
  BoundaryProblem problem(std::move(model));
  for (int d = 0; d < 3; ++d) {
    const int end = problem.model.shape[d];
    problem.hold_plane(d, 0, d, 0);
    problem.hold_plane(d, end, d, d == axis ? -strain * end * problem.model.edge : 0);
  }
  return problem;
}

OSSATURA_BACKEND_TEST("Uniaxial compression of a block is exact", "[voxel_solver]") {
  const double E = 1234, strain = 0.01;
  for (double nu : {0.0, 0.3, 0.45, -0.3})
    for (const auto& shape : {std::array<int, 3>{8, 8, 8}, {7, 5, 9}, {1, 1, 24}, {13, 1, 2}}) {
      const auto problem = uniaxial(reference::homogeneous(shape, E, nu, 0.034), strain);
      const Solution solution = ossatura::test::solve(TestType(), problem, 1e-11);
      INFO("Poisson's ratio " << nu << ", " << shape[0] << " x " << shape[1] << " x " << shape[2]);
      CHECK(solution.result.converged);
      CHECK(field_error(problem.model, solution.u, [&](double x, double y, double z) {
              return std::array<double, 3>{nu * strain * x, nu * strain * y, -strain * z};
            }) < 1e-8);
      const double area = shape[0] * shape[1] * 0.034 * 0.034;
      CHECK(sum_plane(problem.model, solution.force, 2, shape[2], 2) ==
            Approx(-E * strain * area).epsilon(1e-8));
      CHECK(sum_plane(problem.model, solution.force, 2, 0, 2) ==
            Approx(E * strain * area).epsilon(1e-8));
    }
}

OSSATURA_BACKEND_TEST("Confined compression of a block is exact along every axis",
                      "[voxel_solver]") {
  const double E = 17000, nu = 0.3, strain = 0.02;
  for (int axis = 0; axis < 3; ++axis) {
    const auto problem = confined(reference::homogeneous({6, 9, 8}, E, nu, 0.5), axis, strain);
    const Solution solution = ossatura::test::solve(TestType(), problem, 1e-11);
    CHECK(solution.result.converged);
    CHECK(field_error(problem.model, solution.u, [&](double x, double y, double z) {
            std::array<double, 3> u{};
            u[axis] = -strain * (axis == 0 ? x : axis == 1 ? y : z);
            return u;
          }) < 1e-8);
    for (int d = 0; d < 3; ++d) { // pressure on every wall
      const int end = problem.model.shape[d];
      const double area = 6. * 9 * 8 / end * 0.25;
      const double stress = d == axis ? lame(E, nu).confined() : lame(E, nu).lambda;
      CHECK(sum_plane(problem.model, solution.force, d, end, d) ==
            Approx(-stress * strain * area).epsilon(1e-8));
    }
  }
}

OSSATURA_BACKEND_TEST("Simple shear of a block is exact", "[voxel_solver]") {
  const double E = 10, nu = 0.2, gamma = 0.03;
  BoundaryProblem problem(reference::homogeneous({7, 6, 8}, E, nu, 0.25));
  for (int at : {0, 8}) {
    problem.hold_plane(2, at, 0, gamma * at * 0.25);
    problem.hold_plane(2, at, 1, 0);
    problem.hold_plane(2, at, 2, 0);
  }
  for (int at : {0, 7})
    problem.hold_plane(0, at, 2, 0);
  const Solution solution = ossatura::test::solve(TestType(), problem, 1e-11);
  CHECK(solution.result.converged);
  CHECK(field_error(problem.model, solution.u, [&](double, double, double z) {
          return std::array<double, 3>{gamma * z, 0, 0};
        }) < 1e-8);
  const double area = 7 * 6 * 0.0625;
  CHECK(sum_plane(problem.model, solution.force, 2, 8, 0) ==
        Approx(lame(E, nu).mu * gamma * area).epsilon(1e-8));
}

/// Layers across z with two materials.
Model laminate(double first_poisson, double second_poisson) {
  Model model = reference::homogeneous({4, 6, 12}, 1000, double(float(first_poisson)));
  for (int z : {2, 3, 7, 9, 10})
    for (int i = 0; i < 24; ++i) {
      model.modulus[24 * z + i] = 17;
      model.poisson[24 * z + i] = double(float(second_poisson));
    }
  return model;
}

OSSATURA_BACKEND_TEST("A laminate compressed across its layers is springs in series",
                      "[voxel_solver]") {
  // One stress: s = strain / mean(1 / M), M = lambda + 2 mu, with u piecewise linear in z.
  const double strain = 0.01;
  for (double second : {0.3, 0.0, 0.45}) {
    const auto problem = confined(laminate(0.3, second), 2, strain);
    const Solution solution = ossatura::test::solve(TestType(), problem, 1e-11);
    CHECK(solution.result.converged);
    double compliance = 0;
    std::vector<double> depth(13);
    for (int z = 0; z < 12; ++z) {
      const int voxel = problem.model.voxel(0, 0, z);
      compliance += 1 / lame(problem.model.modulus[voxel], problem.model.poisson[voxel]).confined();
      depth[z + 1] = compliance;
    }
    const double stress = strain * 12 / compliance;
    // With a Poisson ratio per voxel Lame's constants are kept as floats.
    const double tolerance = second == 0.3 ? 1e-8 : 5e-7;
    CHECK(field_error(problem.model, solution.u, [&](double, double, double z) {
            return std::array<double, 3>{0, 0, -stress * depth[std::size_t(std::lround(z))]};
          }) < tolerance);
    CHECK(sum_plane(problem.model, solution.force, 2, 12, 2) ==
          Approx(-stress * 24).epsilon(tolerance));
  }
}

OSSATURA_BACKEND_TEST("A laminate compressed along its layers is springs in parallel",
                      "[voxel_solver]") {
  // Along x all layers have the strain -e; across z they share one stress t, so the strain there is
  // (t + lambda e) / M, of mean 0: t = -e mean(lambda / M) / mean(1 / M). The stress along x is
  // -M e + lambda (t + lambda e) / M; without lateral contraction, springs in parallel: -E e.
  const double strain = 0.01;
  for (const auto& poisson : {std::pair<double, double>(0, 0), {0.3, 0.3}, {0.2, 0.4}}) {
    const auto problem = confined(laminate(poisson.first, poisson.second), 0, strain);
    const Solution solution = ossatura::test::solve(TestType(), problem, 1e-11);
    CHECK(solution.result.converged);
    double ratio = 0, compliance = 0, expected = 0, parallel = 0;
    const auto constants = [&](int z) {
      const int voxel = problem.model.voxel(0, 0, z);
      return lame(problem.model.modulus[voxel], problem.model.poisson[voxel]);
    };
    for (int z = 0; z < 12; ++z) {
      ratio += constants(z).lambda / constants(z).confined();
      compliance += 1 / constants(z).confined();
    }
    const double across = -strain * ratio / compliance;
    for (int z = 0; z < 12; ++z) {
      const Lame l = constants(z);
      expected += -l.confined() * strain + l.lambda * (across + l.lambda * strain) / l.confined();
      parallel += -l.confined() * strain;
    }
    const double tolerance = poisson.first == poisson.second ? 1e-8 : 5e-7;
    CHECK(sum_plane(problem.model, solution.force, 0, 4, 0) ==
          Approx(6 * expected).epsilon(tolerance));
    if (poisson.first == 0)
      CHECK(expected == Approx(parallel).epsilon(1e-12));
  }
}

OSSATURA_BACKEND_TEST("Displacements of random porous bodies are the oracle's", "[voxel_solver]") {
  for (unsigned seed : {1u, 2u}) {
    BoundaryProblem problem = porous({6, 7, 5}, seed);
    problem.hold_plane(2, 5, 0, 0.7); // prescribed values as well as forces
    const auto expected =
        reference::solve(reference::assemble(problem.model), problem.held, problem.f, problem.u);
    for (const VoxelOperatorKind kind : name_table<VoxelOperatorKind>)
      for (const Precision precision : {Precision::fp64, Precision::mixed, Precision::lean}) {
        VoxelSolverOptions options;
        options.cg.tolerance = 1e-12;
        options.matrix = kind;
        options.precision = precision;
        options.multigrid.direct_nodes = 20;
        const Solution solution = ossatura::test::solve(TestType(), problem, options);
        CHECK(solution.result.converged);
        CHECK(relative_difference(solution.u, expected) < 1e-8);
      }
  }
}

OSSATURA_BACKEND_TEST("Loads and reactions are in balance", "[voxel_solver]") {
  const BoundaryProblem problem = porous({8, 6, 9}, 5);
  const Solution solution = ossatura::test::solve(TestType(), problem, 1e-12);
  CHECK(solution.result.converged);
  double wrong = 0, largest = 0;
  for (int i = 0; i < problem.model.num_dofs(); ++i) {
    if (!problem.held[i])
      wrong = std::max(wrong, std::abs(solution.force[i] - problem.f[i]));
    largest = std::max(largest, std::abs(solution.force[i]));
  }
  CHECK(wrong < 1e-9 * largest);
  for (int c = 0; c < 3; ++c) {
    double sum = 0;
    for (int node = 0; node < problem.model.num_lattice_nodes(); ++node)
      sum += solution.force[3 * node + c];
    CHECK(std::abs(sum) < 1e-9 * largest);
  }
}

OSSATURA_BACKEND_TEST("Solutions add up as their loads do", "[voxel_solver]") {
  BoundaryProblem first = porous({7, 5, 6}, 11), second = first;
  first.hold_plane(2, 6, 1, 0.2);
  second.hold_plane(2, 6, 1, -0.5);
  second.f = reference::random_vector(second.model, 77);
  BoundaryProblem both = first;
  for (int i = 0; i < both.model.num_dofs(); ++i) {
    both.u[i] = 2 * first.u[i] - 3 * second.u[i];
    both.f[i] = 2 * first.f[i] - 3 * second.f[i];
  }
  const Solution a = ossatura::test::solve(TestType(), first, 1e-12),
                 b = ossatura::test::solve(TestType(), second, 1e-12),
                 sum = ossatura::test::solve(TestType(), both, 1e-12);
  std::vector<double> expected;
  for (int i = 0; i < both.model.num_dofs(); ++i)
    expected.push_back(2 * a.u[i] - 3 * b.u[i]);
  CHECK(sum.result.converged);
  CHECK(relative_difference(sum.u, expected) < 1e-9);
}

OSSATURA_BACKEND_TEST("One solver takes any number of loads, and starts from what it is given",
                      "[voxel_solver]") {
  const TestType exec;
  const BoundaryProblem problem = porous({6, 6, 6}, 21);
  const auto device = ossatura::test::upload_problem(exec, problem);
  VoxelSolverOptions options;
  options.cg.tolerance = 1e-10;
  VoxelSolver<TestType> solver(exec, device, options);
  const auto f = ossatura::test::to_compact(exec, device.grid, problem.model, problem.f);
  const auto u = make_zeros<double>(exec, device.grid.num_dofs(), "test::u");
  const auto again = make_zeros<double>(exec, device.grid.num_dofs(), "test::again");
  const SolveResult first = solver.solve(exec, f, u);
  CHECK(first.converged);
  const SolveResult second = solver.solve(exec, f, again);
  CHECK(second.iterations == first.iterations);
  exec.fence();
  // offsets' atomics aside, bitwise
  CHECK(relative_difference(ossatura::test::host_values(again), ossatura::test::host_values(u)) <
        1e-14);
  const SolveResult restarted = solver.solve(exec, f, u); // from the solution
  CHECK(restarted.reference <= 1e-9 * first.reference);
  // no forces: back to zero
  const SolveResult unloaded = solver.solve(exec, Array<double, TestType>(), u);
  CHECK(unloaded.converged);
  CHECK(dot(exec, u, u) < 1e-16 * dot(exec, again, again));
}

} // namespace
