// SPDX-License-Identifier: Apache-2.0
// What the solver of activation times says of islands, of solves that are cut short, of its sizes
// and of input it does not take.
#include "tests/backend_test.hpp"
#include "tests/solvers/eikonal/eikonal_problem.hpp"

namespace {

using namespace ossatura;
using namespace ossatura::test;

/// Three boxes that do not touch: 27, 27 and 64 points.
TetraMesh islands() {
  TetraMesh mesh = make_tetra_box({2, 2, 2}, 1);
  for (const TetraMesh& other :
       {make_tetra_box({2, 2, 2}, 1, {5, 0, 0}), make_tetra_box({3, 3, 3}, 1, {0, 9, 0})}) {
    const auto first = std::int32_t(mesh.num_points());
    mesh.point.insert(mesh.point.end(), other.point.begin(), other.point.end());
    for (const std::int32_t vertex : other.tetra)
      mesh.tetra.push_back(first + vertex);
    mesh.tag.insert(mesh.tag.end(), other.tag.begin(), other.tag.end());
  }
  return mesh;
}

template<class Real, class Exec>
void check_islands(const Exec& exec) {
  const TetraMesh mesh = islands();
  for (const EikonalMethod method : all_eikonal_methods)
    for (const bool deterministic : {true, false}) {
      EikonalSolver<Exec, Real> solver(
          exec, mesh, isotropic, tight_options<Real>(method, TetraMetric::lengths, deterministic));
      EikonalResult result;
      const auto times =
          solve_sets(exec, solver, {{{0, 0}}, {{60, 1}}, {{0, 0}, {30, 0}, {117, 2}}}, result);
      CHECK(result.converged);
      CHECK(result.certificate <= 1e-6);
      CHECK(result.num_unreached == std::vector<std::int64_t>{91, 54, 0});
      int finite[3] = {};
      for (int set = 0; set < 3; ++set)
        for (int n = 0; n < 118; ++n) {
          const double time = times[118 * set + n];
          finite[set] += time < 100;
          CHECK((time < 100 || time == std::numeric_limits<double>::infinity()));
        }
      CHECK(finite[0] == 27);
      CHECK(finite[1] == 64);
      CHECK(finite[2] == 118);
      CHECK(times[13] < 100);
      CHECK(times[118 + 100] < 100);
    }
}

OSSATURA_BACKEND_TEST("Islands without a site are counted and stay at infinity", "[eikonal]") {
  check_islands<float>(TestType());
  check_islands<double>(TestType());
}

OSSATURA_BACKEND_TEST("A solve that is cut short says so", "[eikonal]") {
  const TetraMesh mesh = make_tetra_box({10, 10, 10}, 1);
  for (const EikonalMethod method : all_eikonal_methods)
    for (const bool deterministic : {true, false}) {
      EikonalOptions options = tight_options<float>(method, TetraMetric::lengths, deterministic);
      options.max_iterations = 1;
      INFO(describe(options));
      EikonalSolver<TestType, float> solver(TestType(), mesh, isotropic, options);
      EikonalResult result;
      const auto times = solve_sets(TestType(), solver, {{{0, 0}}}, result);
      CHECK_FALSE(result.converged);
      CHECK(result.iterations == 1);
      CHECK(result.certificate > 1e-3);
      CHECK(times[0] == 0);
    }
}

OSSATURA_BACKEND_TEST("The solver tells its sizes", "[eikonal]") {
  const TetraMesh mesh = islands();
  const auto bytes = [&](TetraMetric metric) {
    EikonalOptions options;
    options.metric = metric;
    const EikonalSolver<TestType, float> solver(TestType(), mesh, isotropic, options);
    CHECK(solver.num_points() == 118);
    CHECK(solver.num_tetra() == 6 * (8 + 8 + 27));
    return solver.metric_bytes_per_tetra();
  };
  CHECK(bytes(TetraMetric::lengths) == 24);
  CHECK(bytes(TetraMetric::products) == 72);
}

template<class Exec>
void set_up(const Exec& exec, const TetraMesh& mesh, const TissueVelocities& velocities) {
  EikonalSolver<Exec, float> solver(exec, mesh, velocities);
}

OSSATURA_BACKEND_TEST("Meshes that are not whole are refused", "[eikonal]") {
  const TestType exec;
  const TetraMesh good = rotating_box();
  CHECK_NOTHROW(set_up(exec, good, rotating_box_velocities));
  const auto refused = [&](const std::function<void(TetraMesh&)>& damage) {
    TetraMesh mesh = good;
    damage(mesh);
    CHECK_THROWS_AS(set_up(exec, mesh, rotating_box_velocities), std::invalid_argument);
  };
  refused([](TetraMesh& mesh) { mesh.tetra[4 * 777 + 2] = 1331; });
  refused([](TetraMesh& mesh) { mesh.tetra[4 * 777 + 2] = -1; });
  refused([](TetraMesh& mesh) { mesh.tetra.pop_back(); });
  refused([](TetraMesh& mesh) { mesh.tag.pop_back(); });
  refused([](TetraMesh& mesh) { mesh.fibre.pop_back(); });
  refused([](TetraMesh& mesh) { mesh.sheet.resize(3); });
  refused([](TetraMesh& mesh) { mesh.point[5] = std::nan(""); });
  refused([](TetraMesh& mesh) { mesh = TetraMesh(); });
  refused([](TetraMesh& mesh) {
    mesh.tetra.clear();
    mesh.tag.clear();
    mesh.fibre.clear();
    mesh.sheet.clear();
  });
}

OSSATURA_BACKEND_TEST("Velocities that are missing or make no sense are refused", "[eikonal]") {
  const TestType exec;
  const TetraMesh mesh = rotating_box();
  EikonalSolver<TestType, double> solver(exec, mesh, rotating_box_velocities);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const TissueVelocities& bad : {TissueVelocities{}, TissueVelocities{{1, {1, 1, 1}}},
                                      TissueVelocities{{1, {1, 1, 1}}, {2, {1, 0, 1}}},
                                      TissueVelocities{{1, {1, 1, 1}}, {2, {1, -1, 1}}},
                                      TissueVelocities{{1, {1, 1, 1}}, {2, {1, 1, std::nan("")}}},
                                      TissueVelocities{{1, {infinity, 1, 1}}, {2, {1, 1, 1}}}}) {
    CHECK_THROWS_AS(set_up(exec, mesh, bad), std::invalid_argument);
    CHECK_THROWS_AS(solver.set_velocities(exec, bad), std::invalid_argument);
  }
  try {
    set_up(exec, mesh, {{1, {1, 1, 1}}, {3, {1, 1, 1}}});
    FAIL("a tag without velocity was taken");
  } catch (const std::invalid_argument& error) {
    CHECK_THAT(error.what(), ContainsSubstring("tag 2"));
  }
}

template<class Real, class Exec>
void check_metric_limits(const Exec& exec) {
  const TetraMesh mesh = rotating_box();
  const auto message = [&](double velocity) -> std::string {
    try {
      EikonalSolver<Exec, Real> solver(exec, mesh,
                                       {{1, {1, 1, 1}}, {2, {velocity, velocity, velocity}}});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "taken";
  };
  for (const double slow : {1e-7, 1e-10, 1e-20, 1e-200})
    CHECK_THAT(message(slow), ContainsSubstring("of tag 2: a wave takes more than 1e6 ms"));
  CHECK(message(1e-5) == "taken");
  CHECK(message(1e5) == "taken");
  CHECK_THAT(message(1e40), ContainsSubstring("of tag 2: a wave passes it in less than"));
}

OSSATURA_BACKEND_TEST("Times that the precision does not hold are refused", "[eikonal]") {
  check_metric_limits<float>(TestType());
  check_metric_limits<double>(TestType());
}

OSSATURA_BACKEND_TEST("Sites that are not in the mesh or in time are refused", "[eikonal]") {
  const TestType exec;
  EikonalSolver<TestType, float> solver(exec, islands(), isotropic);
  const auto solve = [&](const std::vector<Sites>& sets, std::size_t num_times) {
    const Array<float, TestType> times("times", num_times);
    return solver.solve(exec, sets, times);
  };
  CHECK_NOTHROW(solve({{{117, 0}}}, 118));
  CHECK_THROWS_AS(solve({{{118, 0}}}, 118), std::invalid_argument);
  CHECK_THROWS_AS(solve({{{-1, 0}}}, 118), std::invalid_argument);
  CHECK_NOTHROW(solve({{{0, -0.5}}}, 118));
  CHECK_THROWS_AS(solve({{{0, -1e20}, {1, 0}}}, 118), std::invalid_argument);
  CHECK_THROWS_AS(solve({{{0, -std::numeric_limits<double>::infinity()}}}, 118),
                  std::invalid_argument);
  CHECK_THROWS_AS(solve({{{0, std::nan("")}}}, 118), std::invalid_argument);
  CHECK_THROWS_AS(solve({{{0, 0}}, {{5, 0}, {200, 0}}}, 236), std::invalid_argument);
  CHECK_THROWS_AS(solve({{{0, 0}}}, 117), std::invalid_argument);
}

} // namespace
