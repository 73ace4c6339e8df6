// SPDX-License-Identifier: Apache-2.0
// Tissue that does not conduct, velocities of each tetrahedron, times before 0, and what the
// certificate says of single precision.
#include "tests/backend_test.hpp"
#include "tests/solvers/eikonal/eikonal_problem.hpp"
#include <ossatura/kernels/algebra/upload.hpp>

namespace {

using namespace ossatura;
using namespace ossatura::test;

/// Every tetrahedron has velocities of its own; some do not conduct.
std::vector<ConductionVelocity> velocities_of_each(const TetraMesh& mesh, bool with_scars) {
  std::vector<ConductionVelocity> velocities;
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e) {
    const double v = 0.3 + 0.05 * double(e % 11);
    velocities.push_back({2 * v, v, 0.5 * v});
    if (with_scars && e % 9 == 0)
      velocities.back().fibre = e % 2 == 0 ? 0 : std::nan("");
  }
  return velocities;
}

/// The times by the oracle, which does not know of the tetrahedra that do not conduct.
std::vector<double> oracle_times_of(const TetraMesh& mesh,
                                    const std::vector<ConductionVelocity>& velocities,
                                    const Sites& sites) {
  TetraMesh cut = mesh;
  cut.tetra.clear();
  cut.tag.clear();
  cut.fibre.clear();
  cut.sheet.clear();
  TissueVelocities table;
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e) {
    if (!(velocities[e].fibre > 0))
      continue;
    table[int(e)] = velocities[e];
    cut.tag.push_back(int(e));
    cut.tetra.insert(cut.tetra.end(), &mesh.tetra[4 * e], &mesh.tetra[4 * e] + 4);
    cut.fibre.insert(cut.fibre.end(), &mesh.fibre[3 * e], &mesh.fibre[3 * e] + 3);
    cut.sheet.insert(cut.sheet.end(), &mesh.sheet[3 * e], &mesh.sheet[3 * e] + 3);
  }
  return oracle_times(cut, table, sites);
}

template<class Real, class Exec>
void check_scars(const Exec& exec) {
  const TetraMesh mesh = rotating_box();
  // A wall with a hole, and a block inside: vertices of these alone have no time.
  std::vector<ConductionVelocity> velocities = velocities_of_each(mesh, false);
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e) {
    const Point x = centre_of(mesh, e);
    if ((x[0] > 4 && x[0] < 6 && x[1] < 7) || (x[0] > 7 && x[2] > 7))
      velocities[e].fibre = 0;
  }
  const std::vector<double> expected = oracle_times_of(mesh, velocities, rotating_box_sites);
  const auto num_infinite =
      std::count_if(expected.begin(), expected.end(), [](double time) { return std::isinf(time); });
  REQUIRE(num_infinite > 20);
  for_each_variant<Real>([&](const EikonalOptions& options) {
    EikonalSolver<Exec, Real> solver(exec, mesh, velocities, options);
    EikonalResult result;
    const auto times = solve_sets(exec, solver, {rotating_box_sites}, result);
    CHECK(result.converged);
    CHECK(result.certificate <= 1e-6);
    CHECK(result.num_unreached[0] == num_infinite);
    CHECK(relative_difference(times, expected) < agreement<Real>);
  });
}

OSSATURA_BACKEND_TEST("No wave goes through tissue that does not conduct", "[eikonal]") {
  check_scars<float>(TestType());
  check_scars<double>(TestType());
}

template<class Real, class Exec>
void check_each(const Exec& exec) {
  const TetraMesh mesh = rotating_box();
  const std::vector<ConductionVelocity> velocities = velocities_of_each(mesh, true);
  const std::vector<double> expected = oracle_times_of(mesh, velocities, rotating_box_sites);
  const EikonalOptions options =
      tight_options<Real>(EikonalMethod::spread, TetraMetric::lengths, true);
  EikonalSolver<Exec, Real> solver(exec, mesh, rotating_box_velocities, options);
  EikonalResult result;
  const auto by_tag = solve_sets(exec, solver, {rotating_box_sites}, result);
  solver.set_velocities(exec, velocities);
  CHECK(relative_difference(solve_sets(exec, solver, {rotating_box_sites}, result), expected) <
        agreement<Real>);
  // Those of the tags, of each tetrahedron, are the same to the last bit.
  std::vector<ConductionVelocity> same;
  for (const int tag : mesh.tag)
    same.push_back(rotating_box_velocities.at(tag));
  solver.set_velocities(exec, same);
  CHECK(solve_sets(exec, solver, {rotating_box_sites}, result) == by_tag);
  // So they are in an array of the backend, of three, and of one column where that is all.
  std::vector<double> rows;
  for (const ConductionVelocity& v : velocities)
    rows.insert(rows.end(), {v.fibre, v.sheet, v.normal});
  solver.set_velocities(exec, velocities);
  const auto of_each = solve_sets(exec, solver, {rotating_box_sites}, result);
  solver.set_velocities(exec, upload(exec, "velocities", rows));
  CHECK(solve_sets(exec, solver, {rotating_box_sites}, result) == of_each);
  solver.set_velocities(exec, std::vector<ConductionVelocity>(mesh.num_tetra(), {0.5, 0.5, 0.5}));
  const auto uniform = solve_sets(exec, solver, {rotating_box_sites}, result);
  solver.set_velocities(exec,
                        upload(exec, "velocities", std::vector<double>(mesh.num_tetra(), 0.5)));
  CHECK(solve_sets(exec, solver, {rotating_box_sites}, result) == uniform);
  rows[3 * 4321 + 1] = -1;
  CHECK_THROWS_WITH(solver.set_velocities(exec, upload(exec, "velocities", rows)),
                    ContainsSubstring("tetrahedron 4321"));
  // And a tag that does not conduct does, later.
  solver.set_velocities(exec, TissueVelocities{{1, {0.6, 0.4, 0.2}}, {2, {0, 0, 0}}});
  solve_sets(exec, solver, {rotating_box_sites}, result);
  CHECK(result.num_unreached[0] > 100);
  solver.set_velocities(exec, rotating_box_velocities);
  CHECK(solve_sets(exec, solver, {rotating_box_sites}, result) == by_tag);

  std::vector<ConductionVelocity> bad = velocities;
  bad.pop_back();
  CHECK_THROWS_AS(solver.set_velocities(exec, bad), std::invalid_argument);
  bad = velocities;
  bad[4321].sheet = -1;
  try {
    solver.set_velocities(exec, bad);
    FAIL("a negative velocity was taken");
  } catch (const std::invalid_argument& error) {
    CHECK_THAT(error.what(), ContainsSubstring("tetrahedron 4321"));
  }
}

OSSATURA_BACKEND_TEST("Every tetrahedron may have velocities of its own", "[eikonal]") {
  check_each<float>(TestType());
  check_each<double>(TestType());
}

template<class Exec>
void check_times_before_0(const Exec& exec) {
  const TetraMesh mesh = rotating_box();
  Sites earlier = rotating_box_sites;
  for (EikonalSite& site : earlier)
    site.time -= 20;
  for (const EikonalMethod method : all_eikonal_methods) {
    EikonalSolver<Exec, double> solver(exec, mesh, rotating_box_velocities,
                                       tight_options<double>(method));
    EikonalResult result;
    const auto times = solve_sets(exec, solver, {rotating_box_sites, earlier}, result);
    CHECK(result.certificate <= 1e-12);
    CHECK(times[mesh.num_points()] == -20);
    for (std::size_t n = 0; n < mesh.num_points(); ++n)
      CHECK(times[mesh.num_points() + n] + 20 == Approx(times[n]).margin(1e-9));
  }
}

OSSATURA_BACKEND_TEST("Sites may start before 0", "[eikonal]") {
  check_times_before_0(TestType());
}

/// How far single precision is from double on `mesh`, and what it says of that itself.
template<class Exec>
std::pair<double, EikonalResult> single_precision_error(const Exec& exec, const TetraMesh& mesh,
                                                        const TissueVelocities& velocities) {
  EikonalSolver<Exec, float> single(exec, mesh, velocities, tight_options<float>());
  EikonalSolver<Exec, double> exact(exec, mesh, velocities, tight_options<double>());
  EikonalResult result, exact_result;
  const auto times = solve_sets(exec, single, {{{0, 0}}}, result);
  const auto expected = solve_sets(exec, exact, {{{0, 0}}}, exact_result);
  double error = 0;
  for (std::size_t n = 1; n < times.size(); ++n)
    error = std::max(error, std::abs(times[n] - expected[n]) / expected[n]);
  return {error, result};
}

template<class Exec>
void check_slivers(const Exec& exec) {
  for (const double height : {1.0, 0.1, 0.01, 0.001}) {
    TetraMesh mesh = make_tetra_box({12, 12, 12}, 1, {0, 0, 0}, 0.25, 7);
    for (std::size_t i = 2; i < mesh.point.size(); i += 3)
      mesh.point[i] *= height;
    const auto [error, result] = single_precision_error(exec, mesh, {{1, {0.6, 0.6, 0.6}}});
    INFO("height " << height << ", error " << error << ", certificate " << result.certificate);
    CHECK(result.converged);
    CHECK(result.residual <= 1e-6);
    CHECK(result.certificate >= error / 3);
    CHECK(result.certificate <= 10 * error);
    CHECK(result.certificate >= result.residual);
    CHECK((height > 0.01 || result.certificate > 5 * result.residual));
  }
}

OSSATURA_BACKEND_TEST("The certificate tells what single precision loses", "[eikonal]") {
  check_slivers(TestType());
}

} // namespace
