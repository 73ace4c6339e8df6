// SPDX-License-Identifier: Apache-2.0
// The multigrid cycle: symmetric, positive, and as good on fine grids as on coarse ones.
#include "tests/backend_test.hpp"
#include "tests/solvers/bone/boundary_problem.hpp"
#include <ossatura/solvers/bone/solver.hpp>

namespace {

using namespace ossatura;
using ossatura::test::BoundaryProblem;

/// A cube of n^3 voxels between plates that grip it, the upper one moved.
BoundaryProblem gripped(reference::Model model) {
  BoundaryProblem problem(std::move(model));
  const int top = problem.model.shape[2];
  problem.clamp_plane(2, 0);
  problem.clamp_plane(2, top);
  problem.hold_plane(2, top, 2, -0.01 * top * problem.model.edge);
  return problem;
}

VoxelSolverOptions make_options(int fine_cycles, int coarse_cycles, VoxelOperatorKind kind) {
  VoxelSolverOptions options;
  options.cg.tolerance = 1e-8;
  options.multigrid.fine_cycles = fine_cycles;
  options.multigrid.coarse_cycles = coarse_cycles;
  options.multigrid.direct_nodes = 30; // several levels on small grids
  options.matrix = kind;
  return options;
}

/// Largest |r1 . M r2 - r2 . M r1| / sqrt(r1 . M r1  r2 . M r2), and whether r . M r > 0 always.
struct Symmetry {
  double defect = 0;
  bool positive = true;
};
template<class Exec>
Symmetry probe_cycle(const Exec& exec, const BoundaryProblem& problem,
                     const VoxelSolverOptions& options) {
  const VoxelProblem<Exec> device = ossatura::test::upload_problem(exec, problem);
  VoxelSolver<Exec> solver(exec, device, options);
  REQUIRE(solver.level_info().size() > 2);
  const std::int64_t n = device.grid.num_dofs();
  Array<double, Exec> r[2], z[2];
  Symmetry symmetry;
  for (int pair = 0; pair < 4; ++pair) {
    for (int i = 0; i < 2; ++i) {
      r[i] = make_zeros<double>(exec, n, "test::r");
      z[i] = make_zeros<double>(exec, n, "test::z");
      fill_random(exec, 2 * pair + i, r[i]);
      clear(exec, device.held, r[i]);
      solver.precondition(exec, r[i], z[i]);
    }
    const double first = dot(exec, r[0], z[0]), second = dot(exec, r[1], z[1]);
    symmetry.positive = symmetry.positive && first > 0 && second > 0;
    const double defect = std::abs(dot(exec, r[0], z[1]) - dot(exec, r[1], z[0]));
    symmetry.defect = std::max(symmetry.defect, defect / std::sqrt(first * second));
  }
  return symmetry;
}

#if defined(__SANITIZE_ADDRESS__)
/// One in so many of the combinations, which take a minute there; all pairs of settings are among
/// them.
constexpr int sampled = 13;
#else
constexpr int sampled = 1;
#endif

OSSATURA_BACKEND_TEST("The cycle is symmetric and positive", "[multigrid]") {
  int combination = 0;
  for (const auto& model : {reference::homogeneous({9, 8, 10}, 3, 0.3),
                            ossatura::test::keep_supported(
                                reference::random_model({9, 8, 10}, 0.6, 1e3, 0.3, 0.3, 4, 0.1)),
                            ossatura::test::keep_supported(
                                reference::random_model({8, 11, 7}, 0.7, 10, -0.2, 0.45, 6, 0.1))})
    for (const auto& cycles : {std::pair<int, int>(1, 1), std::pair<int, int>(2, 2),
                               std::pair<int, int>(1, 2), std::pair<int, int>(2, 1)})
      for (const VoxelOperatorKind kind : name_table<VoxelOperatorKind>)
        for (const auto& [coarsening, repetition] :
             {std::pair<Coarsening, Repetition>(Coarsening::split, Repetition::weighted),
              std::pair<Coarsening, Repetition>(Coarsening::split, Repetition::smoothed),
              std::pair<Coarsening, Repetition>(Coarsening::averaged, Repetition::weighted)})
          for (const auto& smoother : {SmootherOptions{SmootherKind::first_kind, 1},
                                       SmootherOptions{SmootherKind::first_kind, 10},
                                       SmootherOptions{SmootherKind::optimal_fourth_kind, 3}}) {
            if (combination++ % sampled != 0)
              continue;
            VoxelSolverOptions options = make_options(cycles.first, cycles.second, kind);
            options.multigrid.coarsening = coarsening;
            options.multigrid.smoother = smoother;
            options.multigrid.coarse_degree = 0; // the same
            options.multigrid.repetition = repetition;
            options.precision = Precision::fp64;
            const Symmetry symmetry = probe_cycle(TestType(), gripped(model), options);
            INFO("cycles " << cycles.first << ", " << cycles.second << ", degree "
                           << smoother.degree);
            CHECK(symmetry.defect < 1e-10);
            CHECK(symmetry.positive);
          }
}

template<class Exec>
int count_iterations(const Exec& exec, int n, const VoxelSolverOptions& options) {
  const auto solution = ossatura::test::solve(
      exec, gripped(reference::homogeneous({n, n, n}, 10, 0.3, 1.0 / n)), options);
  CHECK(solution.result.converged);
  return solution.result.iterations;
}

OSSATURA_BACKEND_TEST("Iterations do not grow as a homogeneous cube is refined",
                      "[multigrid][slow]") {
  for (int cycles : {1, 2}) {
    VoxelSolverOptions options = make_options(cycles, cycles, VoxelOperatorKind::gather);
    options.cg.tolerance = 1e-6;
    const int coarse = count_iterations(TestType(), 8, options),
              fine = count_iterations(TestType(), 16, options),
              finest = count_iterations(TestType(), 32, options);
    INFO("cycles " << cycles << ": " << coarse << ", " << fine << ", " << finest);
    CHECK(fine <= coarse + 1);
    CHECK(finest <= fine + 1);
    CHECK(finest <= 10);
    if (BackendTraits<TestType>::is_device)
      CHECK(count_iterations(TestType(), 64, options) <= finest + 1);
    for (const VoxelOperatorKind kind : name_table<VoxelOperatorKind>) {
      options.matrix = kind; // the same product, by other sums
      CHECK(std::abs(count_iterations(TestType(), 16, options) - fine) <= 1);
    }
  }
}

OSSATURA_BACKEND_TEST("Jumps of the moduli by 1e-6 to 1e6 converge", "[multigrid][slow]") {
  for (double contrast : {1e-6, 1e-3, 1e3, 1e6}) {
    // A ball in a cube, off centre.
    reference::Model model = reference::homogeneous({10, 10, 10}, 1, 0.3);
    for (int z = 0; z < 10; ++z)
      for (int y = 0; y < 10; ++y)
        for (int x = 0; x < 10; ++x)
          if ((x - 4) * (x - 4) + (y - 6) * (y - 6) + (z - 5) * (z - 5) < 11)
            model.modulus[model.voxel(x, y, z)] = contrast;
    const auto ball = ossatura::test::solve(TestType(), gripped(model),
                                            make_options(2, 2, VoxelOperatorKind::gather));
    INFO("contrast " << contrast << ", " << ball.result.iterations << " iterations");
    CHECK(ball.result.converged);
    CHECK(ball.result.iterations <= 85);
  }
  const auto noise = ossatura::test::solve(
      TestType(), gripped(reference::random_model({10, 10, 10}, 1, 1e6, 0.3, 0.3, 5)),
      make_options(2, 2, VoxelOperatorKind::gather));
  INFO("noise: " << noise.result.iterations << " iterations");
  CHECK(noise.result.converged);
  CHECK(noise.result.iterations <= 200);
}

OSSATURA_BACKEND_TEST("A cycle in single precision reaches the same residual and solution",
                      "[multigrid]") {
  const BoundaryProblem problem = gripped(ossatura::test::keep_supported(
      reference::random_model({12, 10, 11}, 0.75, 100, 0.3, 0.3, 8, 0.05)));
  VoxelSolverOptions options = make_options(2, 2, VoxelOperatorKind::gather);
  options.cg.tolerance = 1e-11;
  options.precision = Precision::fp64;
  const auto in_double = ossatura::test::solve(TestType(), problem, options);
  options.precision = Precision::mixed;
  const auto in_single = ossatura::test::solve(TestType(), problem, options);
  CHECK(in_double.result.converged);
  CHECK(in_single.result.converged);
  CHECK(in_single.result.residual <= 1e-11);
  CHECK(in_single.result.iterations <= in_double.result.iterations + 2);
  CHECK(reference::relative_difference(in_single.u, in_double.u) < 1e-9);
}

OSSATURA_BACKEND_TEST("Both coarse solvers, one level and a coarse grid of one voxel work",
                      "[multigrid]") {
  const BoundaryProblem problem = gripped(
      ossatura::test::keep_supported(reference::random_model({5, 6, 7}, 0.8, 10, 0.3, 0.3, 3)));
  VoxelSolverOptions options = make_options(2, 2, VoxelOperatorKind::gather);
  options.cg.tolerance = 1e-10;
  const auto expected = ossatura::test::solve(TestType(), problem, options);
  CHECK(expected.result.converged);

  options.multigrid.coarse_solver = CoarseSolver::cg;
  const auto by_cg = ossatura::test::solve(TestType(), problem, options);
  CHECK(by_cg.result.converged);
  CHECK(reference::relative_difference(by_cg.u, expected.u) < 1e-8);

  options.multigrid.coarse_solver = CoarseSolver::direct;
  options.multigrid.direct_nodes = 1; // down to one voxel
  const auto deep = ossatura::test::solve(TestType(), problem, options);
  CHECK(deep.result.converged);
  CHECK(reference::relative_difference(deep.u, expected.u) < 1e-8);

  options.multigrid.direct_nodes = 1000; // the finest level is the coarsest
  const auto direct = ossatura::test::solve(TestType(), problem, options);
  CHECK(direct.result.converged);
  CHECK(direct.result.iterations <= 2);
  CHECK(reference::relative_difference(direct.u, expected.u) < 1e-8);
}

OSSATURA_BACKEND_TEST("Struts a voxel apart cost fewer iterations where coarse levels split them",
                      "[multigrid][slow]") {
  // A brush of struts between two plates, every other voxel, sheared.
  reference::Model model = reference::homogeneous({11, 11, 18}, 1, 0.3);
  for (int z = 2; z < 16; ++z)
    for (int y = 0; y < 11; ++y)
      for (int x = 0; x < 11; ++x)
        if (x % 2 != 0 || y % 2 != 0)
          model.modulus[model.voxel(x, y, z)] = 0;
  BoundaryProblem problem(model);
  problem.clamp_plane(2, 0);
  problem.clamp_plane(2, 18);
  problem.hold_plane(2, 18, 0, 0.1);
  VoxelSolverOptions options = make_options(1, 2, VoxelOperatorKind::gather);
  const auto split = ossatura::test::solve(TestType(), problem, options);
  options.multigrid.coarsening = Coarsening::averaged;
  const auto averaged = ossatura::test::solve(TestType(), problem, options);
  INFO("split " << split.result.iterations << ", averaged " << averaged.result.iterations);
  CHECK(split.result.converged);
  CHECK(averaged.result.converged);
  CHECK(split.result.iterations <= 0.7 * averaged.result.iterations);
  CHECK(reference::relative_difference(split.u, averaged.u) < 1e-5);
}

OSSATURA_BACKEND_TEST("Weighted cycles need no more iterations than W-cycles on slender struts",
                      "[multigrid][slow]") {
  // A frame of slender beams, which bends: three wide, 21 between the joints.
  reference::Model model = reference::homogeneous({48, 24, 48}, 1, 0.3);
  for (int z = 0; z < 48; ++z)
    for (int y = 0; y < 24; ++y)
      for (int x = 0; x < 48; ++x) {
        const int beams = (x % 24 < 3) + (y % 24 < 3) + (z % 24 < 3);
        if (beams < 2)
          model.modulus[model.voxel(x, y, z)] = 0;
      }
  BoundaryProblem problem(ossatura::test::keep_supported(model));
  problem.clamp_plane(2, 0);
  problem.f.assign(problem.model.num_dofs(), 0.0);
  problem.f[3 * problem.model.node(24, 1, 45)] = 1;
  VoxelSolverOptions options = make_options(1, 2, VoxelOperatorKind::gather);
  options.cg.tolerance = 1e-6;
  int iterations[2];
  for (Repetition repetition : {Repetition::weighted, Repetition::smoothed}) {
    options.multigrid.repetition = repetition;
    const auto solution = ossatura::test::solve(TestType(), problem, options);
    CHECK(solution.result.converged);
    iterations[repetition == Repetition::smoothed] = solution.result.iterations;
  }
  INFO("weighted " << iterations[0] << ", smoothed " << iterations[1]);
  CHECK(iterations[0] <= iterations[1]); // each of fewer products
}

OSSATURA_BACKEND_TEST("A poor estimate of the cycle's spectrum costs iterations, not the solution",
                      "[multigrid][slow]") {
  const BoundaryProblem problem = gripped(ossatura::test::keep_supported(
      reference::random_model({12, 11, 13}, 0.5, 1e4, 0.3, 0.3, 4, 0.1)));
  VoxelSolverOptions options = make_options(2, 4, VoxelOperatorKind::gather);
  options.precision = Precision::fp64;
  options.multigrid.smoother.degree = options.multigrid.coarse_degree = 1;
  options.multigrid.cycle_steps = 1; // hardly more than a mean
  const auto poor = ossatura::test::solve(TestType(), problem, options);
  options.multigrid.repetition = Repetition::smoothed;
  const auto expected = ossatura::test::solve(TestType(), problem, options);
  INFO(poor.result.iterations << " iterations, W " << expected.result.iterations);
  CHECK(poor.result.converged);
  CHECK(poor.result.iterations <= 3 * expected.result.iterations);
  CHECK(reference::relative_difference(poor.u, expected.u) < 1e-5);
}

OSSATURA_BACKEND_TEST("Many parts that never meet are still coarsened to a direct solve",
                      "[multigrid]") {
  // Voxels on a lattice of gaps, each held at a corner: split, no level is smaller than 8 nodes a
  // part.
  reference::Model model = reference::homogeneous({24, 24, 24}, 1, 0.3);
  for (int z = 0; z < 24; ++z)
    for (int y = 0; y < 24; ++y)
      for (int x = 0; x < 24; ++x)
        if (x % 2 != 0 || y % 2 != 0 || z % 2 != 0)
          model.modulus[model.voxel(x, y, z)] = 0;
  BoundaryProblem problem(model);
  for (int node = 0; node < problem.model.num_lattice_nodes(); ++node)
    if (problem.model.site(node)[0] % 2 == 0)
      for (int c = 0; c < 3; ++c)
        problem.hold(node, c, 0);
  problem.f = reference::random_vector(problem.model, 5);
  const auto solution =
      ossatura::test::solve(TestType(), problem, make_options(1, 2, VoxelOperatorKind::gather));
  CHECK(solution.result.converged);
}

OSSATURA_BACKEND_TEST("Levels that stay on chip take the same cycle", "[multigrid]") {
  const TestType exec;
  for (const auto& model : {reference::homogeneous({17, 9, 16}, 3, 0.3),
                            ossatura::test::keep_supported(reference::random_model(
                                {18, 15, 13}, 0.4, 1e3, 0.3, 0.45, 4, 0.1))})
    for (const auto& [repetition, cycles, degree] :
         {std::tuple(Repetition::weighted, 1, 3), std::tuple(Repetition::weighted, 2, 3),
          std::tuple(Repetition::weighted, 3, 2), std::tuple(Repetition::smoothed, 2, 1)})
      for (const Precision precision : {Precision::fp64, Precision::lean}) {
        const auto device = ossatura::test::upload_problem(exec, gripped(model));
        VoxelSolverOptions options = make_options(1, cycles, VoxelOperatorKind::gather);
        options.precision = precision;
        options.multigrid.repetition = repetition;
        options.multigrid.coarse_degree = degree;
        const auto r = make_zeros<double>(exec, device.grid.num_dofs(), "test::r");
        fill_random(exec, 1, r);
        clear(exec, device.held, r);
        Array<double, TestType> z[2];
        double work[2];
        for (int resident = 0; resident < 2; ++resident) {
          options.multigrid.resident_nodes = resident ? 400 : -1;
          VoxelSolver<TestType> solver(exec, device, options);
          const auto levels = solver.level_info();
          REQUIRE(levels.size() > 3);
          CHECK(!levels.front().is_resident);
          // Of some devices none are.
          if (resident && !BackendTraits<TestType>::is_device)
            CHECK(levels.back().is_resident);
          CHECK((resident || !levels.back().is_resident));
          z[resident] = make_zeros<double>(exec, device.grid.num_dofs(), "test::z");
          const double before = solver.work();
          for (int run = 0; run < 3; ++run) { // the last is of a graph, on backends that have one
            fill_random(exec, 2, z[resident]);
            solver.precondition(exec, r, z[resident]);
          }
          work[resident] = solver.work() - before;
        }
        INFO("repetition " << int(repetition) << ", " << cycles << " cycles, degree " << degree);
        CHECK(work[1] == Approx(work[0]));
        const double scale = std::sqrt(dot(exec, z[0], z[0]));
        axpby(exec, -1.0, z[0], 1.0, z[1]);
        CHECK(std::sqrt(dot(exec, z[1], z[1])) <
              (precision == Precision::fp64 ? 1e-12 : 1e-5) * scale);
      }
}

OSSATURA_BACKEND_TEST("Levels halve the grid and carry the constraints", "[multigrid]") {
  const TestType exec;
  const BoundaryProblem problem = gripped(reference::homogeneous({16, 16, 16}, 1, 0.3));
  const auto device = ossatura::test::upload_problem(exec, problem);
  VoxelSolver<TestType> solver(exec, device, make_options(1, 1, VoxelOperatorKind::gather));
  const auto levels = solver.level_info();
  REQUIRE(levels.size() == 4); // 17^3, 9^3, 5^3, 3^3 nodes; one cell per place
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const int n = 16 >> l;
    CHECK(levels[l].num_elem == n * n * n);
    CHECK(levels[l].num_nodes == (n + 1) * (n + 1) * (n + 1));
    CHECK(levels[l].num_held_dofs == 2 * 3 * (n + 1) * (n + 1));
    if (l < 3) {
      CHECK(levels[l].largest_eigenvalue > 1.5);
      CHECK(levels[l].largest_eigenvalue < 4);
    }
  }
  // A V-cycle smooths from zero with degree - 1 products, forms the residual, smooths again.
  const double before = solver.work();
  const auto r = make_zeros<double>(exec, device.grid.num_dofs(), "test::r");
  const auto z = make_zeros<double>(exec, device.grid.num_dofs(), "test::z");
  solver.precondition(exec, r, z);
  const MultigridOptions defaults;
  CHECK(solver.work() - before ==
        Approx(2 * defaults.smoother.degree + (1. / 8 + 1. / 64) * 2 * defaults.coarse_degree));
}

OSSATURA_BACKEND_TEST("A direct solve of too many nodes is refused", "[multigrid]") {
  VoxelSolverOptions options;
  options.multigrid.max_levels = 1;
  const auto device = ossatura::test::upload_problem(
      TestType(), gripped(reference::homogeneous({16, 16, 16}, 1, 0.3)));
  CHECK_THROWS_AS(VoxelSolver<TestType>(TestType(), device, options), UsageError);
}

} // namespace
