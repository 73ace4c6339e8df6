// SPDX-License-Identifier: Apache-2.0
// Activation times against the oracle, and against each other: methods, metrics, precisions,
// backends, numbers of sub-domains and of threads, batches.
#include "tests/backend_test.hpp"
#include "tests/solvers/eikonal/eikonal_problem.hpp"

namespace {

using namespace ossatura;
using namespace ossatura::test;

const std::vector<double>& rotating_box_oracle() {
  static const std::vector<double> times =
      oracle_times(rotating_box(), rotating_box_velocities, rotating_box_sites);
  return times;
}

template<class Real, class Exec>
void check_rotating_box(const Exec& exec) {
  const TetraMesh mesh = rotating_box();
  for_each_variant<Real>([&](const EikonalOptions& options) {
    const auto times =
        solve_times<Real>(exec, mesh, rotating_box_velocities, options, rotating_box_sites);
    CHECK(relative_difference(times, rotating_box_oracle()) < agreement<Real>);
  });
}

OSSATURA_BACKEND_TEST("Every method has the oracle's times where fibres rotate", "[eikonal]") {
  check_rotating_box<double>(TestType());
  check_rotating_box<float>(TestType());
}

const TetraMesh& small_heart() {
  static const TetraMesh mesh = make_ventricles(3);
  return mesh;
}
const TissueVelocities heart_velocities = {{1, {0.6, 0.4, 0.2}}, {2, {0.6, 0.4, 0.2}}};

Sites heart_sites(const TetraMesh& mesh) {
  Sites sites;
  for (const TimedPoint& site : ventricle_sites())
    sites.push_back({nearest_vertex(mesh, site.point), site.time});
  return sites;
}

OSSATURA_BACKEND_TEST("Every method has the oracle's times in a heart", "[eikonal]") {
  const TetraMesh& mesh = small_heart();
  const Sites sites = heart_sites(mesh);
  static const std::vector<double> oracle = oracle_times(mesh, heart_velocities, sites);
  const auto exact =
      solve_times<double>(TestType(), mesh, heart_velocities, tight_options<double>(), sites);
  CHECK(relative_difference(exact, oracle) < agreement<double>);
  const double last = *std::max_element(exact.begin(), exact.end());
  CHECK(last > 120);
  CHECK(last < 160);
  const auto single =
      solve_times<float>(TestType(), mesh, heart_velocities, tight_options<float>(), sites);
  for_each_variant<float>([&](EikonalOptions options) {
    const auto times = solve_times<float>(TestType(), mesh, heart_velocities, options, sites);
    CHECK(relative_difference(times, single) < agreement<float>);
    CHECK(relative_difference(times, exact) < 2 * agreement<float>);
    if (options.metric != TetraMetric::lengths)
      return;
    options.tolerance = 5e-7; // for each of some dozens of steps
    const auto rough = solve_times<float>(TestType(), mesh, heart_velocities, options, sites);
    CHECK(relative_difference(rough, exact) < 1e-4);
  });
}

/// Bitwise the same for all methods and numbers of sub-domains, and the same as on one thread.
template<class Real, class Exec>
void check_deterministic(const Exec& exec, TetraMetric metric, const TetraMesh& mesh,
                         const Sites& sites) {
  const auto solve = [&](const auto& on, EikonalMethod method, int num_parts) {
    EikonalOptions options = tight_options<Real>(method, metric, true);
    options.num_parts = num_parts;
    options.tolerance = 5e-7; // the larger it is, the more the order of updates would matter
    return solve_times<Real>(on, mesh, rotating_box_velocities, options, sites);
  };
  const std::vector<Real> expected = solve(exec, EikonalMethod::queue, 0);
  for (const EikonalMethod method : all_eikonal_methods)
    for (const int num_parts : {1, 8, 64}) {
      if (num_parts != 1 && method != EikonalMethod::spread && method != EikonalMethod::patch)
        continue; // which have no sub-domains
                  // A compiler that contracts products and sums does so in `scan` alone.
#if defined(__FP_FAST_FMAF)
      if (method == EikonalMethod::scan && !BackendTraits<Exec>::is_device)
        continue;
#endif
      INFO(name_of(method) << ' ' << num_parts << " parts, " << name_of(metric));
      CHECK(solve(exec, method, num_parts) == expected);
    }
#if defined(KOKKOS_ENABLE_SERIAL) && !defined(OSSATURA_OPENMP_ONLY)
  if (!BackendTraits<Exec>::is_device) // which contracts products and sums
    CHECK(solve(Serial(), EikonalMethod::queue, 0) == expected);
#endif
}

// CTest runs the host's parallel backend with one thread and with four.
OSSATURA_BACKEND_TEST("Deterministic times do not depend on the method, its parts or threads",
                      "[eikonal][backends]") {
  const TetraMesh box = rotating_box();
  const TestType exec;
  check_deterministic<float>(exec, TetraMetric::lengths, box, rotating_box_sites);
  check_deterministic<float>(exec, TetraMetric::products, box, rotating_box_sites);
  check_deterministic<double>(exec, TetraMetric::lengths, box, rotating_box_sites);
  const TetraMesh& heart = small_heart();
  check_deterministic<float>(exec, TetraMetric::lengths, heart, heart_sites(heart));
}

/// Sets of one to three sites.
std::vector<Sites> several_sets(int count) {
  std::vector<Sites> sets;
  for (int set = 0; set < count; ++set) {
    Sites sites;
    for (int n = 0; n <= set % 3; ++n)
      sites.push_back({(set * 397 + n * 611) % 1331, double(n + set % 2)});
    sets.push_back(sites);
  }
  return sets;
}

template<class Real, class Exec>
void check_batches(const Exec& exec, EikonalMethod method, bool deterministic) {
  const TetraMesh mesh = rotating_box();
  const std::size_t num_points = mesh.num_points();
  const EikonalOptions options = tight_options<Real>(method, TetraMetric::lengths, deterministic);
  INFO(describe(options) << ", " << sizeof(Real) << " bytes");
  EikonalSolver<Exec, Real> solver(exec, mesh, rotating_box_velocities, options);
  EikonalResult result;
  std::vector<std::vector<Real>> alone;
  const std::vector<Sites> sets = several_sets(8);
  for (const Sites& sites : sets)
    alone.push_back(solve_sets(exec, solver, {sites}, result));
  for (const int count : {2, 3, 8}) {
    const auto together =
        solve_sets(exec, solver, std::vector<Sites>(sets.begin(), sets.begin() + count), result);
    CHECK(result.converged);
    CHECK(result.certificate <= 1e-6);
    CHECK(result.num_unreached == std::vector<std::int64_t>(count, 0));
    for (int set = 0; set < count; ++set) {
      const std::vector<Real> one(together.begin() + set * num_points,
                                  together.begin() + (set + 1) * num_points);
      if (deterministic)
        CHECK(one == alone[set]);
      else
        CHECK(relative_difference(one, alone[set]) < agreement<Real>);
    }
  }
}

OSSATURA_BACKEND_TEST("A batch of sites has the times of single solves", "[eikonal]") {
  for (const EikonalMethod method : all_eikonal_methods)
    for (const bool deterministic : {true, false})
      check_batches<float>(TestType(), method, deterministic);
  check_batches<double>(TestType(), EikonalMethod::queue, true);
}

template<class Real, class Exec>
void check_other_velocities(const Exec& exec) {
  const TetraMesh mesh = rotating_box();
  const TissueVelocities others = {{1, {1.2, 0.3, 0.4}}, {2, {0.25, 0.25, 0.1}}, {77, {1, 1, 1}}};
  for (const TetraMetric metric : {TetraMetric::lengths, TetraMetric::products}) {
    const EikonalOptions options = tight_options<Real>(EikonalMethod::queue, metric, true);
    EikonalSolver<Exec, Real> solver(exec, mesh, rotating_box_velocities, options);
    EikonalResult result;
    const auto before = solve_sets(exec, solver, {rotating_box_sites}, result);
    solver.set_velocities(exec, others);
    const auto after = solve_sets(exec, solver, {rotating_box_sites}, result);
    CHECK(result.certificate <= 1e-6);
    CHECK(after == solve_times<Real>(exec, mesh, others, options, rotating_box_sites));
    CHECK(after != before);
    solver.set_velocities(exec, rotating_box_velocities);
    CHECK(solve_sets(exec, solver, {rotating_box_sites}, result) == before);
  }
}

OSSATURA_BACKEND_TEST("Other velocities give what a new solver gives", "[eikonal]") {
  check_other_velocities<float>(TestType());
  check_other_velocities<double>(TestType());
}

/// Tetrahedra around one edge: its two ends have `rim` + 1 neighbours.
TetraMesh fan(int rim) {
  TetraMesh mesh;
  mesh.point = {0, 0, 1, 0, 0, -1};
  for (int i = 0; i < rim; ++i) {
    const double angle = 2 * Kokkos::numbers::pi * i / rim, radius = 1 + 0.1 * std::sin(5 * angle);
    mesh.point.insert(mesh.point.end(), {radius * std::cos(angle), radius * std::sin(angle), 0.1});
    mesh.tetra.insert(mesh.tetra.end(), {0, 1, 2 + i, 2 + (i + 1) % rim});
    mesh.tag.push_back(1);
    mesh.fibre.insert(mesh.fibre.end(), {1, 0.5f, 0});
  }
  return mesh;
}

template<class Real, class Exec>
void check_fan(const Exec& exec, int rim, double tolerance) {
  const TetraMesh mesh = fan(rim);
  const TissueVelocities velocities = {{1, {0.6, 0.3, 0.3}}};
  const Sites sites = {{0, 0.1}, {2 + rim / 3, 0}};
  const std::vector<double> expected = oracle_times(mesh, velocities, sites);
  for (const EikonalMethod method : all_eikonal_methods) {
    INFO(name_of(method) << ", " << rim << " neighbours, " << sizeof(Real) << " bytes");
    EikonalSolver<Exec, Real> solver(exec, mesh, velocities, tight_options<Real>(method));
    EikonalResult result;
    CHECK(relative_difference(solve_sets(exec, solver, {sites}, result), expected) <= tolerance);
    CHECK(result.converged);
    CHECK(result.residual <= 1e-6);
    // Without the wedges opposite the site, the wave goes round on both sides of the gap.
    std::vector<ConductionVelocity> gap(mesh.num_tetra(), velocities.at(1));
    for (int i = 4 * rim / 5; i < 4 * rim / 5 + rim / 10; ++i)
      gap[i] = {0, 0, 0};
    TetraMesh cut = mesh;
    cut.tetra.erase(cut.tetra.begin() + 4 * (4 * rim / 5),
                    cut.tetra.begin() + 4 * (4 * rim / 5 + rim / 10));
    cut.tag.resize(cut.num_tetra());
    cut.fibre.resize(3 * cut.num_tetra()); // all the same
    solver.set_velocities(exec, gap);
    CHECK(relative_difference(solve_sets(exec, solver, {sites}, result),
                              oracle_times(cut, velocities, sites)) <= tolerance);
    CHECK(result.residual <= 1e-6);
  }
}

OSSATURA_BACKEND_TEST("Points may have many neighbours", "[eikonal]") {
  for (const int rim : {20, 60, 127, 128, 300}) { // scratch has room for 32, stars for 128
    check_fan<double>(TestType(), rim, 1e-9);
    check_fan<float>(TestType(), rim, 1e-3); // wedges of a hundredth of their length
  }
}

} // namespace
