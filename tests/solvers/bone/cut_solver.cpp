// SPDX-License-Identifier: Apache-2.0
// Solving a model that is cut among ranks: the displacements of any number of ranks have the same
// bits, and are those of a solver without a cut to the tolerance.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/cut_model.hpp"
#include <ossatura/solvers/bone/problem.hpp>

#include <algorithm>
#include <cmath>

namespace {

using namespace ossatura;
using ossatura::test::host_sites;
using ossatura::test::upload_material;
using ossatura::test::upload_planes;

/// Noise with islands, which nothing holds and nothing moves.
reference::Model noise() {
  return reference::random_model({13, 10, 18}, 0.5, 1e3, 0.3, 0.3, 7, 0.25);
}

/// Struts a voxel or two thick.
reference::Model struts() {
  return ossatura::test::drawn_model({23, 18, 19}, [](int x, int y, int z) {
    const int thin = (x % 7 < 2) + (y % 6 < 1) + (z % 9 < 2);
    return thin >= 2;
  });
}

/// Two superblocks: more ranks than that have nothing.
reference::Model small_block() {
  return ossatura::test::drawn_model({7, 3, 3}, [](int, int, int) { return true; });
}

/// Compression between the lowest and the highest plane, held there in all components, or in z
/// alone but for a few nodes.
template<class Exec>
Array<double, Exec> compress(const Exec& exec, VoxelProblem<Exec>& problem, bool in_z_alone) {
  std::vector<std::uint8_t> mask;
  std::vector<double> u;
  const int top = problem.grid.shape[2];
  for (const auto& s : host_sites(problem.grid)) {
    const bool end = s[2] == 0 || s[2] == top;
    const int held = !end ? 0 : in_z_alone && (s[0] + s[1]) % 5 != 0 ? 4 : 7;
    mask.push_back(std::uint8_t(held));
    for (int c = 0; c < 3; ++c)
      u.push_back(c == 2 && s[2] == top ? -0.05 : 0);
  }
  problem.held = make_constraints(exec, upload(exec, "test::held", mask));
  return upload(exec, "test::u", u);
}

struct Solution {
  std::vector<double> u; ///< of all nodes in order
  SolveResult result;
  double work;
  std::vector<MultigridLevelInfo> levels;
  bool knows_ghosts = true;
};

/// Solves among the ranks of `comm`, or without a cut where `bits` is 0.
template<class Exec>
Solution solve(const Exec& exec, const Communicator& comm, const reference::Model& model, int bits,
               const VoxelSolverOptions& options) {
  VoxelProblem<Exec> problem =
      bits > 0 ? make_cut_problem(exec, comm, upload_planes(exec, comm, model), 0.1, bits)
               : make_voxel_problem(exec, upload_material(exec, model), 0.1);
  const Array<double, Exec> u = compress(exec, problem, model.shape[0] == 23);
  VoxelSolver<Exec> solver(exec, problem, options);
  Solution solution;
  solution.result = solver.solve(exec, {}, u);
  solution.work = solver.work();
  solution.levels = solver.level_info();
  const std::vector<double> mine = download(exec, u);
  const OwnedNodes& owned = problem.grid.owned;
  solution.u = comm.gather(
      std::vector<double>(mine.begin() + 3 * owned.begin, mine.begin() + 3 * owned.end));
  if (bits > 0) { // what ghosts have is what the owners have
    std::vector<double> ghosts = mine;
    std::fill(ghosts.begin(), ghosts.begin() + 3 * owned.begin, 0.0);
    std::fill(ghosts.begin() + 3 * owned.end, ghosts.end(), 0.0);
    const auto again = upload(exec, "test::again", ghosts);
    Halo<Exec, double>(exec, DeviceComm<Exec>(comm), problem.ranks->plan).exchange(exec, again);
    solution.knows_ghosts = download(exec, again) == mine;
  }
  return solution;
}

double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(b[i]));
    difference = std::max(difference, std::abs(a[i] - b[i]));
  }
  return difference / largest;
}

/// The cut among all ranks against that for one, in bits, and against none.
template<class Exec>
void check_solutions(const Exec& exec, const reference::Model& model, int bits,
                     VoxelOperatorKind matrix, Precision precision) {
  VoxelSolverOptions options;
  options.cg.tolerance = 1e-8;
  options.matrix = matrix;
  options.precision = precision;
  options.multigrid.direct_nodes = 60;
  const Communicator world = Communicator::world();
  const Solution cut = solve(exec, world, model, bits, options);
  CHECK(cut.knows_ghosts);
  if (!world.is_first()) // one rank compares
    return;
  const Solution alone = solve(exec, Communicator(), model, bits, options),
                 whole = solve(exec, Communicator(), model, 0, options);
  INFO(model.shape[0] << " voxels wide, bits " << bits << ", " << name_of(matrix) << ", "
                      << name_of(precision) << ", " << world.size() << " ranks");
  REQUIRE(cut.result.converged);
  REQUIRE(cut.u.size() == whole.u.size());
  CHECK(cut.u == alone.u);
  CHECK(cut.result.iterations == alone.result.iterations);
  CHECK(cut.result.residual == alone.result.residual);
  CHECK(cut.work == alone.work);
  REQUIRE(cut.levels.size() == alone.levels.size());
  for (std::size_t l = 0; l < cut.levels.size(); ++l) {
    CHECK(cut.levels[l].num_elem == alone.levels[l].num_elem);
    CHECK(cut.levels[l].num_nodes == alone.levels[l].num_nodes);
    CHECK(cut.levels[l].num_held_dofs == alone.levels[l].num_held_dofs);
    if (l < whole.levels.size()) {
      CHECK(cut.levels[l].num_nodes == whole.levels[l].num_nodes);
      CHECK(cut.levels[l].num_held_dofs == whole.levels[l].num_held_dofs);
    }
  }
  CHECK(std::abs(cut.result.iterations - whole.result.iterations) <= 2);
  CHECK(relative_difference(cut.u, whole.u) < 1e-6);
}

OSSATURA_RANKS_TEST("Displacements have the same bits for any number of ranks", "[cut]") {
  const TestType exec;
  check_solutions(exec, noise(), 2, VoxelOperatorKind::gather, Precision::fp64);
  check_solutions(exec, noise(), 3, VoxelOperatorKind::brick, Precision::lean);
  check_solutions(exec, struts(), 2, VoxelOperatorKind::brick, Precision::mixed);
  check_solutions(exec, small_block(), 2, VoxelOperatorKind::brick, Precision::fp64);
}

OSSATURA_RANKS_TEST("W-cycles, to which solvers fall back, have the same bits, too", "[cut]") {
  const TestType exec;
  const Communicator world = Communicator::world();
  VoxelSolverOptions options;
  options.multigrid.repetition = Repetition::smoothed;
  options.multigrid.direct_nodes = 60;
  options.matrix = VoxelOperatorKind::gather;
  options.precision = Precision::fp64;
  const Solution cut = solve(exec, world, noise(), 3, options);
  REQUIRE(cut.result.converged);
  if (world.is_first())
    CHECK(cut.u == solve(exec, Communicator(), noise(), 3, options).u);
}

/// The same voxels with other moduli.
reference::Model with_moduli(reference::Model model, unsigned seed) {
  for (std::size_t i = 0; i < model.modulus.size(); ++i)
    if (model.modulus[i] > 0)
      model.modulus[i] = 1 + double((i * 2654435761u + seed) % 1000) / 10;
  return model;
}

/// Moduli that were written in place give the bits of a new solver, which are those of one process.
template<class Exec>
void check_renewed_cut(const Exec& exec, const reference::Model& model, int bits,
                       VoxelSolverOptions options) {
  options.multigrid.direct_nodes = 60;
  options.multigrid.renewable = true;
  const Communicator world = Communicator::world();
  const reference::Model other = with_moduli(model, 5);
  VoxelProblem<Exec> problem =
      make_cut_problem(exec, world, upload_planes(exec, world, model), 0.1, bits);
  const VoxelProblem<Exec> after =
      make_cut_problem(exec, world, upload_planes(exec, world, other), 0.1, bits);
  const Array<double, Exec> u = compress(exec, problem, model.shape[0] == 23);
  const Array<double, Exec> start = make_zeros<double>(exec, problem.grid.num_dofs(), "test::u");
  Kokkos::deep_copy(exec, start, u);
  VoxelSolver<Exec> solver(exec, problem, options);
  solver.solve(exec, {}, u);
  Kokkos::deep_copy(exec, problem.lame.mu_value, after.lame.mu_value);
  if (problem.lame.lambda_value.data() != problem.lame.mu_value.data())
    Kokkos::deep_copy(exec, problem.lame.lambda_value, after.lame.lambda_value);
  Kokkos::deep_copy(exec, u, start);
  solver.renew(exec);
  const SolveResult result = solver.solve(exec, {}, u);
  REQUIRE(result.converged);
  const std::vector<double> renewed =
      world.gather(download(exec, owned_part(problem.grid.owned, u, 3)));
  const Solution fresh = solve(exec, world, other, bits, options);
  CHECK(renewed == fresh.u);
  CHECK(result.iterations == fresh.result.iterations);
  if (world.is_first())
    CHECK(renewed == solve(exec, Communicator(), other, bits, options).u);
}

OSSATURA_RANKS_TEST("Cut models take other moduli in place", "[cut]") {
  const TestType exec;
  VoxelSolverOptions options;
  options.cg.tolerance = 1e-6;
  options.precision = Precision::lean;
  check_renewed_cut(exec, struts(), 3, options);
  options.precision = Precision::fp64;
  check_renewed_cut(exec, reference::random_model({11, 13, 14}, 0.5, 1e2, 0.3, 0.45, 7, 0.25), 3,
                    options); // two arrays of constants
  check_renewed_cut(
      exec,
      ossatura::test::drawn_model({9, 8, 10},
                                  [](int x, int y, int z) { return x % 5 < 3 || y > 4 || z < 2; }),
      2, options); // one cut level below the voxels
  check_renewed_cut(exec, small_block(), 2, options);
}

/// Stops the iteration.
struct Stop {};

OSSATURA_RANKS_TEST("An observer that stops all ranks leaves the last iterate", "[cut]") {
  const TestType exec;
  const auto stop = [&](const Communicator& ranks) {
    VoxelProblem<TestType> problem =
        make_cut_problem(exec, ranks, upload_planes(exec, ranks, struts()), 0.1, 2);
    const Array<double, TestType> u = compress(exec, problem, true);
    VoxelSolverOptions options;
    options.matrix = VoxelOperatorKind::gather;
    VoxelSolver<TestType> solver(exec, problem, options);
    CHECK_THROWS_AS(solver.solve(exec, {}, u,
                                 [](int iteration, double) {
                                   if (iteration == 3)
                                     throw Stop();
                                 }),
                    Stop);
    return ranks.gather(download(exec, owned_part(problem.grid.owned, u, 3)));
  };
  const Communicator world = Communicator::world();
  const std::vector<double> u = stop(world);
  if (world.is_first())
    CHECK(u == stop(Communicator()));
}

OSSATURA_RANKS_TEST("Operators that sum in other orders solve cut models, too", "[cut]") {
  const TestType exec;
  VoxelSolverOptions options;
  options.cg.tolerance = 1e-8;
  options.matrix = VoxelOperatorKind::offset;
  options.multigrid.direct_nodes = 60;
  const Solution cut = solve(exec, Communicator::world(), struts(), 2, options);
  REQUIRE(cut.result.converged);
  if (!Communicator::world().is_first())
    return;
  const Solution whole = solve(exec, Communicator(), struts(), 0, options);
  CHECK(relative_difference(cut.u, whole.u) < 1e-6);
}

OSSATURA_RANKS_TEST("Cycles that need one process are refused on all ranks", "[cut]") {
  const TestType exec;
  const auto refused = [&](MultigridOptions multigrid) {
    VoxelSolverOptions options;
    options.multigrid = multigrid;
    CHECK_THROWS_AS(solve(exec, Communicator::world(), small_block(), 2, options), UsageError);
  };
  refused(MultigridOptions::paper());
  MultigridOptions few;
  few.max_levels = 2;
  refused(few);
  MultigridOptions iterative;
  iterative.coarse_solver = CoarseSolver::cg;
  refused(iterative);
}

} // namespace
