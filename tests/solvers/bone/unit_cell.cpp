// SPDX-License-Identifier: Apache-2.0
// Unit cells, whose images repeat without end, against closed forms, a dense oracle and what
// periodicity implies.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/lattice.hpp"
#include "tests/reference/periodic_stiffness.hpp"
#include <ossatura/solvers/bone/islands.hpp>
#include <ossatura/solvers/bone/results/homogenisation.hpp>

#include <algorithm>
#include <cmath>

namespace {

using namespace ossatura;

VoxelSolverOptions precise(VoxelOperatorKind matrix = VoxelOperatorKind::brick) {
  VoxelSolverOptions options;
  options.matrix = matrix;
  options.precision = Precision::fp64;
  options.cg.tolerance = 1e-11;
  return options;
}

/// A stiffness and the iterations of its solves.
struct Homogenised : HomogenisedStiffness {
  int iterations = 0;
};

template<class Exec>
Homogenised periodic(const Exec& exec, const reference::Model& model,
                     const VoxelSolverOptions& options) {
  const UnitCell<Exec> cell =
      make_unit_cell(exec, ossatura::test::upload_material(exec, model), model.edge);
  VoxelSolver<Exec> solver(exec, cell.problem, options);
  Homogenised result;
  const auto found = homogenise<Exec>(
      exec, cell, [&](int, const Array<double, Exec>& f, const Array<double, Exec>& w) {
        const SolveResult solved = solver.solve(exec, f, w);
        CHECK(solved.converged);
        CHECK_FALSE(solved.fell_back);
        result.iterations += solved.iterations;
        return true;
      });
  REQUIRE(found);
  static_cast<HomogenisedStiffness&>(result) = *found;
  return result;
}

template<class Exec>
Homogenised kinematic(const Exec& exec, const reference::Model& model,
                      const VoxelSolverOptions& options) {
  VoxelProblem<Exec> problem =
      make_voxel_problem(exec, ossatura::test::upload_material(exec, model), model.edge);
  hold_all_sides(exec, problem);
  VoxelSolver<Exec> solver(exec, problem, options);
  Homogenised result;
  const auto found = homogenise<Exec>(exec, problem, [&](int, const Array<double, Exec>& u) {
    const SolveResult solved = solver.solve(exec, {}, u);
    result.iterations += solved.iterations;
    return solved.converged;
  });
  REQUIRE(found);
  static_cast<HomogenisedStiffness&>(result) = *found;
  return result;
}

double largest(const StiffnessMatrix& c) {
  double most = 0;
  for (const auto& row : c)
    for (const double entry : row)
      most = std::max(most, std::abs(entry));
  return most;
}

/// Largest difference of entries, relative to the largest one of the second.
double difference(const StiffnessMatrix& a, const StiffnessMatrix& b) {
  double most = 0;
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j)
      most = std::max(most, std::abs(a[i][j] - b[i][j]));
  return most / largest(b);
}

/// Whether the strain energy of the first is at most that of the second, for many strains.
bool is_softer(const StiffnessMatrix& a, const StiffnessMatrix& b) {
  std::mt19937 random(7);
  for (int k = 0; k < 200; ++k) {
    double strain[6], sum = 0;
    for (double& e : strain)
      e = random() / 2147483648.0 - 1;
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j)
        sum += strain[i] * (b[i][j] - a[i][j]) * strain[j];
    if (sum < -1e-9 * largest(b))
      return false;
  }
  return true;
}

/// The model that repeats to the same body, seen from another place.
reference::Model shifted(const reference::Model& model, std::array<int, 3> by) {
  reference::Model moved = model;
  const auto& n = model.shape;
  for (int z = 0; z < n[2]; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0; x < n[0]; ++x) {
        const int to = model.voxel((x + by[0]) % n[0], (y + by[1]) % n[1], (z + by[2]) % n[2]);
        moved.modulus[std::size_t(to)] = model.modulus[std::size_t(model.voxel(x, y, z))];
        moved.poisson[std::size_t(to)] = model.poisson[std::size_t(model.voxel(x, y, z))];
      }
  return moved;
}

/// A stiff ball, off the centre, in a matrix of `soft` times its modulus.
reference::Model ball(std::array<int, 3> shape, double soft) {
  reference::Model model = reference::homogeneous(shape, 1000, 0.3);
  for (int z = 0; z < shape[2]; ++z)
    for (int y = 0; y < shape[1]; ++y)
      for (int x = 0; x < shape[0]; ++x) {
        const double dx = x + 0.5 - 0.4 * shape[0], dy = y + 0.5 - 0.45 * shape[1],
                     dz = z + 0.5 - 0.5 * shape[2], r = 0.35 * shape[0];
        if (dx * dx + dy * dy + dz * dz > r * r)
          model.modulus[std::size_t(model.voxel(x, y, z))] = 1000 * soft;
      }
  return model;
}

OSSATURA_BACKEND_TEST("Layers have their closed form along each axis", "[unit_cell]") {
  const TestType exec;
  const std::vector<double> modulus = {1000, 10, 10, 300, 1000},
                            poisson = {0.3, 0.45, 0.45, 0.1, 0.3};
  for (int axis = 0; axis < 3; ++axis) {
    std::array<int, 3> shape{3, 4, 2};
    shape[std::size_t(axis)] = 5;
    reference::Model model = reference::homogeneous(shape, 0, 0, 0.5);
    for (int z = 0; z < shape[2]; ++z)
      for (int y = 0; y < shape[1]; ++y)
        for (int x = 0; x < shape[0]; ++x) {
          const std::size_t voxel = std::size_t(model.voxel(x, y, z)),
                            layer = std::size_t(axis == 0   ? x
                                                : axis == 1 ? y
                                                            : z);
          model.modulus[voxel] = modulus[layer];
          model.poisson[voxel] = poisson[layer];
        }
    const StiffnessMatrix expected = reference::laminate_stiffness(modulus, poisson, axis);
    CHECK(difference(periodic(exec, model, precise()).stiffness, expected) < 1e-7); // float moduli
  }
}

OSSATURA_BACKEND_TEST("Small cells agree with a dense matrix, void and all", "[unit_cell]") {
  const TestType exec;
  const std::array<int, 3> shapes[] = {{4, 3, 5}, {1, 2, 6}, {2, 2, 3}, {1, 1, 1}};
  for (const auto& shape : shapes)
    for (const double density : {1.0, 0.6}) {
      const reference::Model model =
          reference::random_model(shape, density, 100, 0.1, 0.4, 11, 0.5);
      CAPTURE(shape[0], shape[1], shape[2], density);
      const StiffnessMatrix expected = reference::periodic_stiffness(model);
      for (const VoxelOperatorKind matrix :
           {VoxelOperatorKind::brick, VoxelOperatorKind::gather, VoxelOperatorKind::offset}) {
        const Homogenised found = periodic(exec, model, precise(matrix));
        CHECK(difference(found.stiffness, expected) < 1e-7);
      }
    }
}

OSSATURA_BACKEND_TEST("A unit cell may begin anywhere, and be two of itself", "[unit_cell]") {
  const TestType exec;
  const reference::Model model = reference::random_model({5, 4, 7}, 0.6, 10, 0.3, 0.3, 3);
  const Homogenised found = periodic(exec, model, precise());
  CHECK(asymmetry(found.stiffness) < 1e-9);
  for (const std::array<int, 3>& by : {std::array<int, 3>{1, 0, 0}, {3, 5, 4}})
    CHECK(difference(periodic(exec, shifted(model, by), precise()).stiffness, found.stiffness) <
          1e-9);
  reference::Model tiles = reference::homogeneous({10, 8, 14}, 0, model.poisson[0]);
  for (int z = 0; z < 14; ++z)
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 10; ++x)
        tiles.modulus[std::size_t(tiles.voxel(x, y, z))] =
            model.modulus[std::size_t(model.voxel(x % 5, y % 4, z % 7))];
  CHECK(difference(periodic(exec, tiles, precise()).stiffness, found.stiffness) < 1e-9);
}

OSSATURA_BACKEND_TEST("The cycle of a unit cell is symmetric and positive, on chip or not",
                      "[unit_cell]") {
  const TestType exec;
  for (const std::array<int, 3>& shape : {std::array<int, 3>{8, 12, 10}, {7, 5, 11}, {1, 9, 6}})
    for (const int resident : {-1, 100'000}) {
      const UnitCell<TestType> cell =
          make_unit_cell(exec,
                         ossatura::test::upload_material(
                             exec, reference::random_model(shape, 0.7, 10, 0.3, 0.3, 9)),
                         1);
      VoxelSolverOptions options = precise();
      options.multigrid.direct_nodes = 8;
      options.multigrid.resident_nodes = resident;
      VoxelSolver<TestType> solver(exec, cell.problem, options);
      const std::int64_t n = cell.problem.grid.num_dofs();
      Array<double, TestType> r[2], z[2];
      for (int k = 0; k < 2; ++k) {
        r[k] = make_zeros<double>(exec, n, "test::r");
        z[k] = make_zeros<double>(exec, n, "test::z");
        fill_random(exec, 3 + k, z[k]);
        solver.apply(exec, z[k], r[k]); // of a load that has a solution
        clear(exec, cell.problem.held, r[k]);
        solver.precondition(exec, r[k], z[k]);
      }
      const double both = dot(exec, r[0], z[1]), energy = dot(exec, r[0], z[0]);
      CHECK(std::abs(both - dot(exec, r[1], z[0])) < 1e-12 * energy);
      CHECK(energy > 0);
    }
}

OSSATURA_BACKEND_TEST("A homogeneous cell has its material's stiffness at once", "[unit_cell]") {
  const TestType exec;
  const Homogenised found =
      periodic(exec, reference::homogeneous({5, 4, 3}, 1000, 0.3, 0.1), precise());
  CHECK(found.iterations == 0);
  CHECK(difference(found.stiffness, found.voigt) < 1e-12);
  CHECK(difference(found.stiffness, found.reuss) < 1e-7);
}

OSSATURA_BACKEND_TEST("A unit cell lies between the bounds and takes few iterations",
                      "[unit_cell]") {
  const TestType exec;
  VoxelSolverOptions options = fastest_voxel_options<TestType>();
  for (const std::array<int, 3>& shape : {std::array<int, 3>{10, 10, 10}, {11, 9, 13}}) {
    const reference::Model model = ball(shape, 0.01);
    const Homogenised of_cell = periodic(exec, model, options),
                      of_box = kinematic(exec, model, options);
    CHECK(is_softer(of_cell.reuss, of_cell.stiffness));
    CHECK(is_softer(of_cell.stiffness, of_box.stiffness));
    CHECK(is_softer(of_box.stiffness, of_cell.voigt));
    CHECK(difference(of_cell.stiffness, of_box.stiffness) > 1e-3);
    // Six loads. Of so small a box little is left to iterate on a device, whose direct level is
    // large.
    CHECK(of_cell.iterations <= std::max(2 * of_box.iterations, 6 * 12));
  }
}

OSSATURA_BACKEND_TEST("What does not lead through a unit cell is an island", "[unit_cell]") {
  const TestType exec;
  // A speck in two halves, at both ends of x; then a column along z, too; then a bar along a
  // diagonal of x and y.
  reference::Model model = reference::homogeneous({6, 6, 6}, 0, 0.3);
  const auto fill = [&](int x, int y, int z) {
    model.modulus[std::size_t(model.voxel(x, y, z))] = 1000;
  };
  fill(0, 2, 2);
  fill(5, 2, 2);
  const auto problem_of_model = [&] {
    return make_voxel_problem(exec, ossatura::test::upload_material(exec, model), model.edge);
  };
  VoxelProblem<TestType> problem = problem_of_model();
  const auto drop = [&](double most) {
    return drop_periodic_islands(exec, problem, problem.material.solid(), most);
  };
  DroppedIslands found = drop(0.5);
  CHECK(found.components == 2);
  CHECK(found.voxels == 2);
  CHECK_FALSE(found.are_dropped);
  CHECK(find_periodic_bodies(exec, problem).second.list.size() == 1);

  for (int z = 0; z < 6; ++z)
    fill(z < 3 ? 3 : 4, 5, z); // steps aside, and back across the side
  problem = problem_of_model();
  CHECK(find_periodic_bodies(exec, problem).second.list.size() == 2);
  found = drop(0.5);
  CHECK(found.components == 2);
  CHECK(found.example == 6 * (2 + 6 * 2));
  CHECK(found.are_dropped);
  problem = make_voxel_problem(exec, problem.material, 1);
  CHECK(problem.grid.num_elem == 6);
  CHECK(drop(0.5).components == 0);
  PeriodicBodies bodies = find_periodic_bodies(exec, problem).second;
  REQUIRE(bodies.list.size() == 1);
  CHECK(bodies.list[0].num_voxels == 6);
  CHECK(bodies.list[0].leads == std::array<bool, 3>{false, false, true});

  model = reference::homogeneous({6, 6, 6}, 0, 0.3);
  for (int i = 0; i < 6; ++i)
    fill(i, (i + 2) % 6, 1); // by edges, and once across a side of y
  problem = problem_of_model();
  bodies = find_periodic_bodies(exec, problem).second;
  REQUIRE(bodies.list.size() == 1);
  CHECK(bodies.list[0].leads == std::array<bool, 3>{true, true, false});
  CHECK(drop(0).components == 0);
}

OSSATURA_BACKEND_TEST("What a unit cell does not offer is refused", "[unit_cell]") {
  const TestType exec;
  const reference::Model model = reference::random_model({4, 4, 4}, 1, 10, 0.3, 0.3, 5);
  const UnitCell<TestType> cell =
      make_unit_cell(exec, ossatura::test::upload_material(exec, model), 1);
  VoxelSolverOptions options = precise();
  options.multigrid.max_levels = 1;
  CHECK_THROWS_AS(VoxelSolver<TestType>(exec, cell.problem, options), UsageError);
  options.multigrid = MultigridOptions::paper();
  CHECK_THROWS_AS(VoxelSolver<TestType>(exec, cell.problem, options), UsageError);
  options.multigrid = {};
  options.multigrid.renewable = true;
  CHECK_THROWS_AS(VoxelSolver<TestType>(exec, cell.problem, options).renew(exec),
                  std::invalid_argument);
}

} // namespace
