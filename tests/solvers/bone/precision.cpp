// SPDX-License-Identifier: Apache-2.0
// Solves with single precision inside: the same solutions for loads of any size, and double
// precision where single does not do.
#include "tests/backend_test.hpp"
#include "tests/solvers/bone/boundary_problem.hpp"
#include <ossatura/solvers/bone/solver.hpp>

namespace {

using namespace ossatura;
using ossatura::test::BoundaryProblem;
using reference::relative_difference;

constexpr Precision all_precisions[] = {Precision::fp64, Precision::mixed, Precision::lean};

VoxelSolverOptions make_options(Precision precision, double tolerance) {
  VoxelSolverOptions options;
  options.cg.tolerance = tolerance;
  options.precision = precision;
  options.matrix = VoxelOperatorKind::brick; // has all of them
  options.multigrid.direct_nodes = 30;       // several levels on small grids
  return options;
}

template<class Exec>
SolveResult solve_on(const Exec& exec, const BoundaryProblem& problem,
                     const VoxelSolverOptions& options, std::vector<double>& u) {
  const VoxelProblem<Exec> device = ossatura::test::upload_problem(exec, problem);
  VoxelSolver<Exec> solver(exec, device, options);
  const auto v = ossatura::test::to_compact(exec, device.grid, problem.model, problem.u);
  const auto f = ossatura::test::to_compact(exec, device.grid, problem.model, problem.f);
  const SolveResult result = solver.solve(exec, f, v);
  u = ossatura::test::to_lattice(device.grid, problem.model, v);
  return result;
}

OSSATURA_BACKEND_TEST("Every precision reaches the same solution in about as many iterations",
                      "[precision]") {
  for (const VoxelOperatorKind kind : {VoxelOperatorKind::brick, VoxelOperatorKind::offset}) {
    const BoundaryProblem problem = ossatura::test::porous({13, 11, 12}, 7);
    std::vector<double> expected, u;
    int iterations = 0;
    for (const Precision precision : all_precisions) {
      VoxelSolverOptions options = make_options(precision, 1e-11);
      options.matrix = kind;
      const SolveResult result = solve_on(TestType(), problem, options, u);
      CHECK(result.converged);
      CHECK(result.residual <= 1e-11);
      CHECK_FALSE(result.fell_back);
      if (precision == Precision::fp64) {
        expected = u;
        iterations = result.iterations;
      }
      INFO("precision " << int(precision) << ": " << result.iterations << " iterations, not "
                        << iterations);
      CHECK(result.iterations <= iterations + (precision == Precision::lean ? 4 : 2));
      CHECK(relative_difference(u, expected) < 1e-8);
    }
    VoxelSolverOptions single = make_options(Precision::fp32, 1e-11);
    single.matrix = kind;
    CHECK_THROWS_AS(solve_on(TestType(), problem, single, u), UsageError);
  }
}

OSSATURA_BACKEND_TEST("Loads at the ends of single precision are solved as any other",
                      "[precision]") {
  const BoundaryProblem problem = ossatura::test::porous({6, 7, 5}, 3);
  for (const Precision precision : all_precisions) {
    std::vector<double> expected, u;
    const SolveResult usual =
        solve_on(TestType(), problem, make_options(precision, 1e-9), expected);
    for (double size : {1e-44, 1e-38, 1e38, 1e44}) {
      BoundaryProblem scaled = problem;
      for (double& f : scaled.f)
        f *= size;
      const SolveResult result = solve_on(TestType(), scaled, make_options(precision, 1e-9), u);
      INFO("precision " << int(precision) << ", loads of " << size);
      CHECK(result.converged);
      CHECK_FALSE(result.fell_back);
      CHECK(std::abs(result.iterations - usual.iterations) <= 1);
      for (double& x : u)
        x /= size;
      CHECK(relative_difference(u, expected) < 1e-7);
    }
  }
}

OSSATURA_BACKEND_TEST("Stiffnesses that single precision cannot add up are solved in double",
                      "[precision]") {
  BoundaryProblem problem(reference::homogeneous({6, 6, 6}, 3e37, 0.3, 10));
  problem.clamp_plane(2, 0);
  problem.hold_plane(2, 6, 2, -0.1);
  std::vector<double> expected, u;
  CHECK(solve_on(TestType(), problem, make_options(Precision::fp64, 1e-9), expected).converged);
  for (const Precision precision : {Precision::mixed, Precision::lean}) {
    const SolveResult result = solve_on(TestType(), problem, make_options(precision, 1e-9), u);
    CHECK(result.converged);
    CHECK(result.fell_back);
    CHECK(result.residual <= 1e-9);
    CHECK(relative_difference(u, expected) < 1e-7);
  }
}

OSSATURA_BACKEND_TEST("After a fall back the solver stays in double", "[precision]") {
  const TestType exec;
  BoundaryProblem problem(reference::homogeneous({6, 6, 6}, 3e37, 0.3, 10));
  problem.clamp_plane(2, 0);
  problem.hold_plane(2, 6, 2, -0.1);
  const auto device = ossatura::test::upload_problem(exec, problem);
  VoxelSolver<TestType> solver(exec, device, make_options(Precision::mixed, 1e-9));
  const Array<double, TestType> none;
  const auto first = ossatura::test::to_compact(exec, device.grid, problem.model, problem.u),
             second = ossatura::test::to_compact(exec, device.grid, problem.model, problem.u);
  std::vector<int> numbers;
  CHECK(
      solver.solve(exec, none, first, [&](int iteration, double) { numbers.push_back(iteration); })
          .fell_back);
  for (std::size_t i = 0; i < numbers.size(); ++i) // observed without a gap or a repetition
    CHECK(numbers[i] == int(i));
  const SolveResult again = solver.solve(exec, none, second);
  CHECK(again.converged);
  CHECK_FALSE(again.fell_back);
  CHECK(relative_difference(ossatura::test::host_values(second),
                            ossatura::test::host_values(first)) < 1e-7);
}

} // namespace
