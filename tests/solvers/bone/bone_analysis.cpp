// SPDX-License-Identifier: Apache-2.0
// A whole analysis as a front end runs it, on bodies whose answer has a closed form.
#include "tests/backend_test.hpp"
#include "tests/kernels/bone/lattice.hpp"
#include <ossatura/solvers/bone/islands.hpp>
#include <ossatura/solvers/bone/results/homogenisation.hpp>
#include <ossatura/solvers/bone/results/pistoia.hpp>
#include <ossatura/solvers/bone/results/solution.hpp>
#include <ossatura/solvers/bone/results/statistics.hpp>
#include <ossatura/solvers/bone/support_checks.hpp>

#include <cmath>

namespace {

using namespace ossatura;

VoxelSolverOptions tight() {
  VoxelSolverOptions options;
  options.cg.tolerance = 1e-10;
  return options;
}

template<class Exec>
VoxelProblem<Exec> problem_of(const Exec& exec, const reference::Model& model) {
  return make_voxel_problem(exec, ossatura::test::upload_material(exec, model), model.edge);
}

OSSATURA_BACKEND_TEST("The response between smooth plates is that of a bar", "[bone_analysis]") {
  const TestType exec;
  const auto model = reference::homogeneous({4, 3, 6}, 1000, 0.3, 0.5);
  VoxelProblem<TestType> problem = problem_of(exec, model);
  MechanicalTest test;
  test.lateral_free = true;
  const BoneLoad<TestType> load = load_by_test(exec, test, problem);
  const SupportFindings found = examine_supports(exec, problem, load);
  CHECK(found.num_parts == 1);
  CHECK(found.num_carrying == 72);
  CHECK(found.is_loaded);
  CHECK_FALSE(found.free);
  CHECK(found.small_contacts.empty());
  VoxelSolver<TestType>(exec, problem, tight()).solve(exec, load.force, load.u);

  const BoneSolution<TestType> solution = evaluate_solution(exec, problem, load);
  REQUIRE(solution.response);
  CHECK(solution.response->height == 3);
  CHECK(solution.response->area == 3);
  CHECK(*solution.response->force == Approx(-0.01 * 1000 * 3));
  CHECK(*solution.response->apparent_modulus == Approx(1000));
  CHECK(solution.supports.size() == 2); // pins balance nothing
  CHECK(solution.supports[0].reaction.contact_area == 3);
  CHECK(solution.strain_energy == Approx(0.5 * 1000 * 1e-4 * 9));
  const ForceBalance& balance = solution.balance;
  CHECK(balance.energy == solution.strain_energy);
  CHECK(balance.force_scale == Approx(2 * 30)); // what both plates feel
  CHECK(balance.work == Approx(30 * 0.03));     // of the one that moves
  CHECK(balance.force_error() < 1e-8);
  CHECK(balance.moment_error() < 1e-8);
  CHECK(balance.energy_error() < 1e-8);
  const auto failure =
      estimate_failure(exec, solution.fields.effective_strain, solution.response, {0.007, 0.02});
  REQUIRE(failure);
  CHECK(failure->result.factor == Approx(0.7).epsilon(1e-5));
  CHECK(*failure->force == Approx(-21).epsilon(1e-5));
}

OSSATURA_BACKEND_TEST("A listed load says what is in the void, free or touches little",
                      "[bone_analysis]") {
  const TestType exec;
  auto model = reference::homogeneous({6, 6, 6}, 1000, 0.3, 1);
  for (int i = 0; i < 36; ++i) // the topmost layer is one voxel
    model.modulus[std::size_t(5 * 36 + i)] = i == 14 ? 1000 : 0;
  VoxelProblem<TestType> problem = problem_of(exec, model);
  ListedLoad<TestType> conditions(exec, problem);
  CHECK(conditions.hold({{true, 2, false, {}}, {true, true, true}, 0}) == 49);
  CHECK(conditions.hold({{false, 0, false, {0, 0, 6}}, {true, true, true}, 0}) == 0);
  CHECK(conditions.push({{true, 2, true, {}}, {false, false, true}, -5}) == 4);
  CHECK(conditions.push(std::vector<NodalValue>{{{0, 0, 6}, 1, 2}, {{2, 2, 6}, 1, 2}}) == 1);
  BoneLoad<TestType> load = conditions.finish(problem.held);
  CHECK(problem.held.num_dofs == 3 * 49);
  const SupportFindings found = examine_supports(exec, problem, load);
  REQUIRE(found.small_contacts.size() == 1);
  CHECK(found.small_contacts[0].support.name == "side z+");
  CHECK(found.small_contacts[0].support.contact_area == 1);
  CHECK(found.small_contacts[0].cross_section == Approx(181.0 / 6));
  VoxelSolver<TestType>(exec, problem, tight()).solve(exec, load.force, load.u);
  const BoneSolution<TestType> solution = evaluate_solution(exec, problem, load);
  CHECK_FALSE(solution.response); // nothing was moved
  REQUIRE(solution.supports.size() == 1);
  CHECK(solution.supports[0].reaction.force[2] == Approx(5));
  CHECK(solution.supports[0].reaction.force[1] == Approx(-2));

  ListedLoad<TestType> loose(exec, problem);
  CHECK(loose.hold({{true, 2, false, {}}, {false, false, true}, 0}) == 49);
  loose.push({{true, 2, true, {}}, {false, false, true}, -5});
  load = loose.finish(problem.held);
  const auto free = examine_supports(exec, problem, load).free;
  REQUIRE(free);
  CHECK(free->num_held == 3);
  CHECK(free->num_voxels == 181);
  CHECK(free->motions == "along x, along y, about z");
}

OSSATURA_BACKEND_TEST("Islands are dropped up to a part of the specimen", "[bone_analysis]") {
  const TestType exec;
  auto model = reference::homogeneous({5, 5, 8}, 1000, 0.3, 1);
  for (int i = 0; i < 200; ++i) // a column, and a voxel beside it
    model.modulus[std::size_t(i)] = i % 25 == 0 || i == 4 * 25 + 24 ? 1000 : 0;
  VoxelProblem<TestType> problem = problem_of(exec, model);
  load_by_test(exec, MechanicalTest(), problem);
  const VoxelArray<TestType> image = problem.material.first;
  const DroppedIslands kept = drop_islands(exec, problem, image, 0.1);
  CHECK(kept.components == 1);
  CHECK(kept.example == 124);
  CHECK(kept.part == Approx(1.0 / 9));
  CHECK_FALSE(kept.are_dropped);
  CHECK(drop_islands(exec, problem, image, 0.2).are_dropped);
  problem = make_voxel_problem(exec, problem.material, 1);
  CHECK(problem.grid.num_elem == 8);
  load_by_test(exec, MechanicalTest(), problem);
  CHECK(drop_islands(exec, problem, image).components == 0);
}

OSSATURA_BACKEND_TEST("A homogeneous box has its own stiffness, which is both bounds",
                      "[bone_analysis]") {
  const TestType exec;
  const double modulus = 1000, nu = 0.3;
  VoxelProblem<TestType> problem =
      problem_of(exec, reference::homogeneous({3, 4, 5}, modulus, nu, 0.5));
  hold_all_sides(exec, problem);
  VoxelSolver<TestType> solver(exec, problem, tight());
  const auto found =
      homogenise<TestType>(exec, problem, [&](int, const Array<double, TestType>& u) {
        return solver.solve(exec, {}, u).converged;
      });
  REQUIRE(found);
  const double mu = modulus / (2 * (1 + nu)), lambda = 2 * mu * nu / (1 - 2 * nu);
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      const double expected = (i < 3 && j < 3 ? lambda : 0) + (i == j ? (i < 3 ? 2 : 1) * mu : 0);
      CHECK(found->stiffness[i][j] == Approx(expected).margin(1e-5));
      CHECK(found->voigt[i][j] == Approx(expected).margin(1e-3));
      CHECK(found->reuss[i][j] == Approx(expected).margin(1e-3));
    }
  int asked = 0;
  CHECK_FALSE(homogenise<TestType>(
      exec, problem, [&](int, const Array<double, TestType>&) { return ++asked < 3; }));
  CHECK(asked == 3);
}

} // namespace
