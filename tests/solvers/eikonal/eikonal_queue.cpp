// SPDX-License-Identifier: Apache-2.0
// The method `queue` where solves are cut short or stopped, where points have no or very many
// neighbours, and with several sets of sites: on devices with resident grids it is one kernel.
#include "tests/backend_test.hpp"
#include "tests/solvers/eikonal/eikonal_problem.hpp"

namespace {

using namespace ossatura;
using namespace ossatura::test;

/// Cubes in a row: a wave from one end takes more iterations than one launch has.
TetraMesh long_bar() {
  return make_tetra_box({300, 1, 1}, 1);
}

/// `num_sides` tetrahedra around an axis, whose ends have one neighbour more than that. Point 2 and
/// after are on the circle.
TetraMesh ring_of_tetra(int num_sides) {
  TetraMesh mesh;
  mesh.point = {0, 0, -1, 0, 0, 1};
  for (int i = 0; i < num_sides; ++i) {
    const double angle = 2 * Kokkos::numbers::pi * i / num_sides;
    for (const double x : {3 * std::cos(angle), 3 * std::sin(angle), 0.1 * (i % 3)})
      mesh.point.push_back(x);
    for (const int vertex : {0, 1, 2 + i, 2 + (i + 1) % num_sides})
      mesh.tetra.push_back(vertex);
    mesh.tag.push_back(1);
  }
  return mesh;
}

template<class Real, class Exec>
std::vector<Real> times_of(const Exec& exec, const TetraMesh& mesh, const EikonalOptions& options,
                           const std::vector<Sites>& sets, EikonalResult& result) {
  const TissueVelocities& velocities = mesh.fibre.empty() ? isotropic : rotating_box_velocities;
  EikonalSolver<Exec, Real> solver(exec, mesh, velocities, options);
  return solve_sets(exec, solver, sets, result);
}

template<class Real, class Exec>
void check_cut_short(const Exec& exec) {
  EikonalResult whole;
  EikonalOptions options = tight_options<Real>(EikonalMethod::queue, TetraMetric::lengths, true);
  const auto end = times_of<Real>(exec, rotating_box(), options, {rotating_box_sites}, whole);
  REQUIRE(whole.converged);
  REQUIRE(whole.iterations > 7);
  for (const int most : {1, 2, 7, whole.iterations - 1, whole.iterations, whole.iterations + 1}) {
    INFO("at most " << most << " iterations");
    options.max_iterations = most;
    EikonalResult queue, spread;
    options.method = EikonalMethod::queue;
    const auto times = times_of<Real>(exec, rotating_box(), options, {rotating_box_sites}, queue);
    options.method = EikonalMethod::spread;
    const auto same = times_of<Real>(exec, rotating_box(), options, {rotating_box_sites}, spread);
    CHECK(queue.iterations == std::min(most, whole.iterations));
    CHECK(queue.converged == (most >= whole.iterations));
    CHECK(queue.evaluations == spread.evaluations);
    CHECK(times == same);
    CHECK((times == end) == (most + 1 >= whole.iterations)); // the last one finds nothing
  }
}

OSSATURA_BACKEND_TEST("A queue goes as far as it may, and not further", "[eikonal]") {
  check_cut_short<float>(TestType());
  check_cut_short<double>(TestType());
}

OSSATURA_BACKEND_TEST("A queue hears that it is to stop", "[eikonal]") {
  const Sites site = {{0, 0}};
  EikonalOptions options = tight_options<float>(EikonalMethod::queue, TetraMetric::lengths, true);
  EikonalResult whole, asked, stopped, unbegun;
  const auto end = times_of<float>(TestType(), long_bar(), options, {site}, whole);
  REQUIRE(whole.converged);
  REQUIRE(whole.iterations > 250);
  int calls = 0;
  options.stop = [&] { return ++calls < 0; };
  CHECK(times_of<float>(TestType(), long_bar(), options, {site}, asked) == end);
  CHECK(asked.iterations == whole.iterations);
  CHECK(asked.evaluations == whole.evaluations);
  CHECK(asked.local_solves == whole.local_solves);
  CHECK(calls > 1);
  calls = 0;
  options.stop = [&] { return ++calls > 1; };
  const auto times = times_of<float>(TestType(), long_bar(), options, {site}, stopped);
  CHECK_FALSE(stopped.converged);
  CHECK(stopped.iterations >= 1);
  CHECK(stopped.iterations < 200);
  CHECK(stopped.num_unreached[0] > 0);
  CHECK(times[0] == 0);
  options.stop = [] { return true; };
  times_of<float>(TestType(), long_bar(), options, {site}, unbegun);
  CHECK_FALSE(unbegun.converged);
  CHECK(unbegun.iterations == 0);
  CHECK(unbegun.evaluations == 0);
  CHECK(unbegun.num_unreached[0] == whole.num_unreached[0] + std::int64_t(end.size()) - 1);
}

template<class Real, class Exec>
void check_fan(const Exec& exec, int num_sides) {
  INFO(num_sides << " sides");
  const TetraMesh mesh = ring_of_tetra(num_sides);
  for (const Sites& sites : {Sites{{0, 0}}, Sites{{2, 0}}, Sites{{5, 0}, {1, 3}}}) {
    const std::vector<double> oracle = oracle_times(mesh, isotropic, sites);
    for (const TetraMetric metric : {TetraMetric::lengths, TetraMetric::products}) {
      EikonalOptions options = tight_options<Real>(EikonalMethod::queue, metric);
      const auto times = solve_times<Real>(exec, mesh, isotropic, options, sites);
      options.method = EikonalMethod::spread;
      const auto others = solve_times<Real>(exec, mesh, isotropic, options, sites);
      CHECK(relative_difference(times, others) < agreement<Real>);
      if (sizeof(Real) == 8) // single precision rounds the lengths of thin tetrahedra
        CHECK(relative_difference(times, oracle) < agreement<double>);
    }
  }
}

OSSATURA_BACKEND_TEST("Points may have very many neighbours", "[eikonal]") {
  for (const int num_sides : {17, 32, 40, 128, 200}) {
    if (num_sides <= 40) // thinner ones are beyond single precision
      check_fan<float>(TestType(), num_sides);
    check_fan<double>(TestType(), num_sides);
  }
}

OSSATURA_BACKEND_TEST("A point of no tetrahedron is a site for itself", "[eikonal]") {
  TetraMesh mesh = make_tetra_box({2, 2, 2}, 1);
  mesh.point.insert(mesh.point.end(), {9, 9, 9, 10, 9, 9});
  const std::size_t n = mesh.num_points();
  EikonalResult result;
  const auto times = times_of<double>(TestType(), mesh, tight_options<double>(),
                                      {{{int(n) - 2, 1.5}}, {{0, 0}, {int(n) - 1, 2}}}, result);
  CHECK(result.converged);
  CHECK(result.num_unreached == std::vector<std::int64_t>{std::int64_t(n) - 1, 1});
  CHECK(times[n - 2] == 1.5);
  CHECK(std::isinf(times[0]));
  CHECK(times[n] == 0);
  CHECK(std::isinf(times[2 * n - 2]));
  CHECK(times[2 * n - 1] == 2);
}

template<class Real, class Exec>
void check_each_alone(const Exec& exec, const TetraMesh& mesh, const std::vector<Sites>& sets) {
  const TissueVelocities& velocities = mesh.fibre.empty() ? isotropic : rotating_box_velocities;
  const EikonalOptions options =
      tight_options<Real>(EikonalMethod::queue, TetraMetric::lengths, true);
  EikonalSolver<Exec, Real> solver(exec, mesh, velocities, options);
  EikonalResult together;
  const auto times = solve_sets(exec, solver, sets, together);
  std::int64_t evaluations = 0;
  int iterations = 0;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    EikonalResult alone;
    const auto own = solve_sets(exec, solver, {sets[set]}, alone); // other sizes, in turn
    CHECK(std::equal(own.begin(), own.end(), times.begin() + std::ptrdiff_t(set * own.size())));
    evaluations += alone.evaluations;
    iterations = std::max(iterations, alone.iterations);
  }
  CHECK(together.converged);
  CHECK(together.evaluations == evaluations);
  CHECK(together.iterations == iterations);
  EikonalResult again;
  CHECK(solve_sets(exec, solver, sets, again) == times);
}

OSSATURA_BACKEND_TEST("Sets of sites in one queue are as each alone", "[eikonal]") {
  std::vector<Sites> apart, common; // points of their own, or the same at other times
  for (int set = 0; set < 5; ++set)
    apart.push_back({{17 + 211 * set, 0}, {1330 - 97 * set, 0.5 * set}});
  for (int set = 0; set < 11; ++set)
    common.push_back({{17, 0.3 * set}, {1330, 1}, {700, 0.1 * (set % 4)}});
  common[3].pop_back();
  check_each_alone<float>(TestType(), rotating_box(), apart);
  check_each_alone<float>(TestType(), rotating_box(), common);
  check_each_alone<double>(TestType(), rotating_box(), common);
  for (const int num_sides : {17, 40, 200}) {
    INFO(num_sides << " sides");
    check_each_alone<double>(TestType(), ring_of_tetra(num_sides),
                             {{{0, 0}, {5, 1}}, {{0, 0.5}, {5, 0}}, {{5, 0}}});
  }
}

} // namespace
