// SPDX-License-Identifier: Apache-2.0
// Solvers that take other moduli in place give the bits of new solvers.
#include "tests/backend_test.hpp"
#include "tests/solvers/bone/boundary_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace {

using namespace ossatura;
using ossatura::test::BoundaryProblem;

/// Struts and holes, so that coarse cells are split, held at the bottom and loaded everywhere.
BoundaryProblem make_problem(unsigned seed, double contrast, double high_poisson = 0.3,
                             const std::array<int, 3>& shape = {9, 7, 10}) {
  BoundaryProblem problem(ossatura::test::keep_supported(
      reference::random_model(shape, 0.6, contrast, 0.3, high_poisson, 5, 0.5)));
  // The voxels are those of seed 5, whatever their moduli.
  const auto other = reference::random_model(shape, 1, contrast, 0.3, high_poisson, seed, 0.5);
  for (std::size_t i = 0; i < problem.model.modulus.size(); ++i)
    if (problem.model.modulus[i] > 0)
      problem.model.modulus[i] = other.modulus[i];
  problem.clamp_plane(2, 0);
  problem.f = reference::random_vector(problem.model, 6);
  return problem;
}

struct Solved {
  SolveResult result;
  std::vector<double> u;
};

template<class Exec>
Solved solve_with(const Exec& exec, VoxelSolver<Exec>& solver, const VoxelProblem<Exec>& device,
                  const BoundaryProblem& problem) {
  const auto f = ossatura::test::to_compact(exec, device.grid, problem.model, problem.f);
  const auto u = make_zeros<double>(exec, device.grid.num_dofs(), "test::u");
  Solved solved;
  solved.result = solver.solve(exec, f, u);
  solved.u = download(exec, u);
  return solved;
}

/// Relative to the largest of b.
double renewal_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    largest = std::max(largest, std::abs(b[i]));
    difference = std::max(difference, std::abs(a[i] - b[i]));
  }
  return a.size() == b.size() ? difference / largest : 1;
}

template<class Exec>
void check_renewal(const Exec& exec, const VoxelSolverOptions& options, double contrast,
                   double high_poisson = 0.3, const std::array<int, 3>& shape = {9, 7, 10}) {
  INFO(name_of(options.matrix) << ", " << name_of(options.precision) << ", contrast " << contrast);
  const BoundaryProblem before = make_problem(7, 10, high_poisson, shape),
                        after = make_problem(8, contrast, high_poisson, shape);
  const VoxelProblem<Exec> device = ossatura::test::upload_problem(exec, before),
                           fresh = ossatura::test::upload_problem(exec, after);
  VoxelSolver<Exec> renewed(exec, device, options);
  const Solved first = solve_with(exec, renewed, device, before);
  CHECK(first.result.converged);
  // To the bit, but for operators that add by atomics.
  const bool has_fixed_order =
      !BackendTraits<Exec>::is_device || options.matrix != VoxelOperatorKind::offset;
  const auto are_equal = [&](const std::vector<double>& a, const std::vector<double>& b) {
    return has_fixed_order ? a == b : renewal_difference(a, b) < 1e-6;
  };
  for (int times = 0; times < 2; ++times) { // there and back, twice
    Kokkos::deep_copy(exec, device.lame.mu_value, fresh.lame.mu_value);
    if (device.lame.lambda_value.data() != device.lame.mu_value.data())
      Kokkos::deep_copy(exec, device.lame.lambda_value, fresh.lame.lambda_value);
    renewed.renew(exec);
    const Solved there = solve_with(exec, renewed, device, after);
    VoxelSolver<Exec> other(exec, fresh, options);
    const Solved expected = solve_with(exec, other, fresh, after);
    CHECK(expected.result.converged);
    CHECK(there.result.fell_back == expected.result.fell_back);
    if (has_fixed_order)
      CHECK(there.result.iterations == expected.result.iterations);
    CHECK(are_equal(there.u, expected.u));

    const VoxelProblem<Exec> again = ossatura::test::upload_problem(exec, before);
    Kokkos::deep_copy(exec, device.lame.mu_value, again.lame.mu_value);
    if (device.lame.lambda_value.data() != device.lame.mu_value.data())
      Kokkos::deep_copy(exec, device.lame.lambda_value, again.lame.lambda_value);
    renewed.renew(exec);
    const Solved back = solve_with(exec, renewed, device, before);
    CHECK(are_equal(back.u, first.u));
    if (!BackendTraits<Exec>::is_device) // of some devices none are
      CHECK(renewed.level_info().back().is_resident == (options.multigrid.resident_nodes > 0));
  }
}

VoxelSolverOptions renewable_options(VoxelOperatorKind kind, Precision precision) {
  VoxelSolverOptions options;
  options.cg.tolerance = 1e-6;
  options.matrix = kind;
  options.precision = precision;
  options.multigrid.renewable = true;
  options.multigrid.direct_nodes = 30; // several levels on a small grid
  return options;
}

OSSATURA_BACKEND_TEST("A renewed solver has the bits of a new one", "[multigrid][slow]") {
  const TestType exec;
  for (const Precision precision : {Precision::fp64, Precision::mixed, Precision::lean})
    check_renewal(exec, renewable_options(VoxelOperatorKind::brick, precision), 300);
  check_renewal(exec, renewable_options(VoxelOperatorKind::offset, Precision::lean), 100);
  check_renewal(exec, renewable_options(VoxelOperatorKind::gather, Precision::lean), 100);
  VoxelSolverOptions options = renewable_options(VoxelOperatorKind::brick, Precision::fp64);
  check_renewal(exec, options, 100, 0.45); // two arrays
  options.multigrid.resident_nodes = 400;
  check_renewal(exec, options, 100);
  check_renewal(exec, options, 100, 0.45);
  options.precision = Precision::lean;
  check_renewal(exec, options, 300);
  options = renewable_options(VoxelOperatorKind::brick, Precision::fp64);
  options.multigrid.coarsening = Coarsening::averaged;
  check_renewal(exec, options, 100);
  options.multigrid.repetition = Repetition::smoothed;
  check_renewal(exec, options, 100);
  options.multigrid.direct_nodes = 1000; // the finest level alone
  check_renewal(exec, options, 100, 0.3, {4, 4, 5});
}

OSSATURA_BACKEND_TEST("Only renewable solvers take other moduli", "[multigrid]") {
  const TestType exec;
  const VoxelProblem<TestType> device = ossatura::test::upload_problem(exec, make_problem(7, 10));
  VoxelSolver<TestType> solver(exec, device, VoxelSolverOptions());
  CHECK_THROWS_AS(solver.renew(exec), std::invalid_argument);
}

} // namespace
