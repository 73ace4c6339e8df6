// SPDX-License-Identifier: Apache-2.0
// Every way to apply M^-1 = L^-T D^-1 L^-1 from the panels of L, against dense elimination.
#include "tests/backend_test.hpp"
#include "tests/reference/dense_cholesky.hpp"
#include "tests/solvers/krylov/spd_problem.hpp"
#include <ossatura/kernels/factor/published/dissection_solve.hpp>
#include <ossatura/kernels/factor/published/level_solve.hpp>
#include <ossatura/kernels/factor/supernode_solve.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

namespace {

using namespace ossatura;
using test::dot;
using test::random_vector;
using test::relative_difference;
using test::SpdProblem;

template<class Exec, class Solve>
std::vector<double> apply(const Exec& exec, const Solve& solve, const std::vector<double>& r,
                          bool in_place = false) {
  const auto from = upload(exec, "test::r", r);
  const auto to = in_place ? from : make_zeros<double>(exec, from.extent(0), "test::z");
  if (!in_place)
    Kokkos::deep_copy(exec, to, std::nan("")); // nothing of it may be read
  solve.apply(exec, from, to);
  fence(exec, "test::apply");
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), to);
  return std::vector<double>(host.data(), host.data() + host.extent(0));
}

/// What holds for every way and every matrix.
template<class Exec, class Solve>
void check_solve(const Exec& exec, const SpdProblem& problem, Solve& solve, bool reproducible) {
  solve.refresh(exec, test::upload_factor(exec, problem));
  const std::vector<double> r = random_vector(problem.num_rows(), 1);
  const std::vector<double> s = random_vector(problem.num_rows(), 2);
  const std::vector<double> z = apply(exec, solve, r), w = apply(exec, solve, s);
  CHECK(relative_difference(problem.multiply(z), r) < 1e-12);
  CHECK(dot(r, z) > 0);
  CHECK(std::abs(dot(r, w) - dot(s, z)) < 1e-12 * std::sqrt(dot(r, z) * dot(s, w)));
  const std::vector<double> again = apply(exec, solve, r, true);
  CHECK(relative_difference(again, z) <= (reproducible ? 0 : 1e-12));
  if (problem.num_rows() <= 400)
    CHECK(relative_difference(z, reference::solve_dense(problem.dense(), r)) < 1e-12);
}

/// All ways.
template<class Exec>
void check_all(const Exec& exec, const SpdProblem& problem) {
  CAPTURE(problem.num_rows(), problem.pattern.num_panels());
  for (const int largest : {0, 40, 128}) {
    INFO("supernodes of at most " << largest << " nodes by levels");
    SupernodeLevels<Exec> solve(exec, problem.pattern, largest);
    check_solve(exec, problem, solve, true);
  }
  {
    INFO("rows by levels");
    LevelSolve<Exec> solve(exec, problem.pattern);
    check_solve(exec, problem, solve, true);
  }
  for (const int leaf_nodes : {0, 20}) {
    INFO("sub-domains, those of " << leaf_nodes << " nodes undivided");
    DissectionSolve<Exec> solve(exec, problem.pattern, leaf_nodes);
    check_solve(exec, problem, solve, false);
  }
  for (const int largest_task : {0, 600}) {
    INFO("subtrees of at most " << largest_task << " entries");
    SupernodeTasks<Exec> solve(exec, problem.pattern, largest_task);
    check_solve(exec, problem, solve, true);
  }
}

OSSATURA_BACKEND_TEST("Factors of irregular graphs are applied as the dense inverse is",
                      "[triangular_solves]") {
  const TestType exec;
  for (const unsigned seed : {1u, 2u, 3u})
    check_all(exec,
              test::make_spd_problem(test::random_graph(20 + 35 * int(seed), 150, seed), seed));
}

OSSATURA_BACKEND_TEST("The factor of a mesh in the order of nested dissection is applied",
                      "[triangular_solves]") {
  check_all(TestType(), test::dissected_problem(test::box_graph(5, 6, 4), 1));
}

OSSATURA_BACKEND_TEST("Forests, nodes without neighbours and single nodes are no exception",
                      "[triangular_solves]") {
  const TestType exec;
  test::Graph forest(47);
  for (int i = 1; i < 15; ++i)
    test::join(forest, i, i / 2); // a binary tree
  for (int i = 16; i < 40; ++i)
    test::join(forest, i, 15); // a star
  check_all(exec, test::make_spd_problem(forest, 4));
  check_all(exec, test::make_spd_problem(test::Graph(9), 5));
  check_all(exec, test::make_spd_problem(test::Graph(1), 6));
}

OSSATURA_BACKEND_TEST("Panels with many rows below them are applied whole", "[triangular_solves]") {
  const TestType exec;
  const int n = 180; // more rows than a team keeps in scratch memory
  test::Graph graph(n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      test::join(graph, i, j);
  check_all(exec, test::make_spd_problem(graph, 7));
}

OSSATURA_BACKEND_TEST("Levels of rows give the same in a launch each and together",
                      "[triangular_solves]") {
  const TestType exec;
  const SpdProblem problem = test::make_spd_problem(test::random_graph(40, 60, 10), 10);
  LevelSolve<TestType> together(exec, problem.pattern), apart(exec, problem.pattern, false);
  check_solve(exec, problem, apart, true);
  together.refresh(exec, test::upload_factor(exec, problem));
  const std::vector<double> r = random_vector(problem.num_rows(), 3);
  CHECK(relative_difference(apply(exec, together, r), apply(exec, apart, r)) < 1e-14);
  CHECK(together.num_launches() < apart.num_launches());
  CHECK(apart.num_launches() == 2 * apart.num_levels());
}

#if defined(KOKKOS_ENABLE_SERIAL)
template<template<class> class Solve, class Exec>
std::vector<double> solve_mesh(const Exec& exec, const SpdProblem& problem) {
  Solve<Exec> solve(exec, problem.pattern);
  solve.refresh(exec, test::upload_factor(exec, problem));
  return apply(exec, solve, random_vector(problem.num_rows(), 4));
}

OSSATURA_BACKEND_TEST("Cores give the same whatever their number", "[triangular_solves]") {
  const SpdProblem problem = test::dissected_problem(test::box_graph(4, 4, 30), 11);
  REQUIRE(make_subtree_tasks(problem.pattern, 20000).num_tasks() > 3);
  const std::vector<double> levels = solve_mesh<SupernodeLevels>(Serial(), problem);
  const std::vector<double> tasks = solve_mesh<SupernodeTasks>(Serial(), problem);
  const bool device = BackendTraits<TestType>::is_device;
  const double allowed = device ? 1e-12 : 0;
  CHECK(relative_difference(solve_mesh<SupernodeLevels>(TestType(), problem), levels) <= allowed);
  CHECK(relative_difference(solve_mesh<SupernodeTasks>(TestType(), problem), tasks) <= allowed);
}
#endif

OSSATURA_BACKEND_TEST("A refresh brings the new factor", "[triangular_solves]") {
  const TestType exec;
  const test::Graph graph = test::box_graph(3, 4, 3);
  std::vector<int> order;
  for (int i = 0; i < int(graph.size()); ++i)
    order.push_back(i);
  const SpdProblem first = test::make_spd_problem(graph, 8, order);
  const SpdProblem second = test::make_spd_problem(graph, 9, order);
  const auto check = [&](auto& solve) {
    check_solve(exec, first, solve, false);
    check_solve(exec, second, solve, false);
  };
  SupernodeLevels<TestType> levels(exec, first.pattern);
  check(levels);
  SupernodeTasks<TestType> tasks(exec, first.pattern);
  check(tasks);
  LevelSolve<TestType> rows(exec, first.pattern);
  check(rows);
  DissectionSolve<TestType> domains(exec, first.pattern);
  check(domains);
}

} // namespace
