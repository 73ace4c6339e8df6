// SPDX-License-Identifier: Apache-2.0
// Meshes, sites and solves shared by the tests of activation times.
#pragma once

#include "tests/catch.hpp"
#include "tests/reference/tetra_eikonal.hpp"
#include <ossatura/core/mesh/generators/tetra_meshes.hpp>
#include <ossatura/solvers/eikonal/solver.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace ossatura::test {

using Sites = std::vector<EikonalSite>;
using Point = std::array<double, 3>;

inline Point point_of(const TetraMesh& mesh, std::size_t n) {
  return {mesh.point[3 * n], mesh.point[3 * n + 1], mesh.point[3 * n + 2]};
}

inline Point centre_of(const TetraMesh& mesh, std::size_t e) {
  Point centre = {0, 0, 0};
  for (int n = 0; n < 4; ++n)
    for (int axis = 0; axis < 3; ++axis)
      centre[axis] += 0.25 * mesh.point[3 * mesh.tetra[4 * e + n] + axis];
  return centre;
}

inline double distance(const Point& a, const Point& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

inline std::int32_t nearest_vertex(const TetraMesh& mesh, const Point& x) {
  std::int32_t best = 0;
  for (std::size_t n = 1; n < mesh.num_points(); ++n)
    if (distance(point_of(mesh, n), x) < distance(point_of(mesh, best), x))
      best = std::int32_t(n);
  return best;
}

/// A site at each vertex where `time` of its point is not negative.
inline Sites sites_where(const TetraMesh& mesh, const std::function<double(const Point&)>& time) {
  Sites sites;
  for (std::size_t n = 0; n < mesh.num_points(); ++n)
    if (const double start = time(point_of(mesh, n)); start >= 0)
      sites.push_back({std::int32_t(n), start});
  return sites;
}

/// The same fibre and sheet everywhere.
inline void set_directions(TetraMesh& mesh, const std::array<float, 3>& fibre,
                           const std::array<float, 3>& sheet) {
  mesh.fibre.clear();
  mesh.sheet.clear();
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e) {
    mesh.fibre.insert(mesh.fibre.end(), fibre.begin(), fibre.end());
    mesh.sheet.insert(mesh.sheet.end(), sheet.begin(), sheet.end());
  }
}

/// 6000 jittered tetrahedra in a box of 10 mm, corners in any order, with fibres that turn about x
/// with height; every seventh tetrahedron has no direction, every fifth no sheet, and sheets are
/// not normal to the fibres. Tag 1 below 5 mm, 2 above.
inline TetraMesh rotating_box() {
  TetraMesh mesh = make_tetra_box({10, 10, 10}, 1, {0, 0, 0}, 0.25, 5);
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e) {
    std::rotate(&mesh.tetra[4 * e], &mesh.tetra[4 * e + e % 4], &mesh.tetra[4 * e] + 4);
    if (e % 3 == 0)
      std::swap(mesh.tetra[4 * e], mesh.tetra[4 * e + 2]);
    const double z = centre_of(mesh, e)[2], angle = (0.5 - z / 10) * 2 * Kokkos::numbers::pi / 3;
    const float length = e % 7 == 0 ? 0 : 0.5f + float(e % 4);
    mesh.fibre.insert(mesh.fibre.end(), {length * float(std::cos(angle)),
                                         length * float(std::sin(angle)), 0.1f * length});
    if (e % 5 == 0)
      mesh.sheet.insert(mesh.sheet.end(), {0, 0, 0});
    else
      mesh.sheet.insert(mesh.sheet.end(), {0.2f, 0.3f, 2});
    mesh.tag[e] = z < 5 ? 1 : 2;
  }
  return mesh;
}
inline const TissueVelocities isotropic = {{1, {0.5, 0.5, 0.5}}};
inline const TissueVelocities rotating_box_velocities = {{1, {0.6, 0.4, 0.2}},
                                                         {2, {0.5, 0.3, 0.25}}};
inline const Sites rotating_box_sites = {{0, 0}, {1330, 3}, {605, 12.5}};

/// The mesh for the oracle, which is to solve it with the given velocities.
inline reference::TetraEikonal to_oracle(const TetraMesh& mesh,
                                         const TissueVelocities& velocities) {
  reference::TetraEikonal problem;
  for (std::size_t n = 0; n < mesh.num_points(); ++n)
    problem.point.push_back(point_of(mesh, n));
  const auto direction = [](const std::vector<float>& rows, std::size_t e) {
    return rows.empty() ? Point{0, 0, 0} : Point{rows[3 * e], rows[3 * e + 1], rows[3 * e + 2]};
  };
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e) {
    const std::int32_t* v = &mesh.tetra[4 * e];
    problem.tetra.push_back({v[0], v[1], v[2], v[3]});
    const ConductionVelocity& velocity = velocities.at(mesh.tag[e]);
    problem.D.push_back(
        reference::velocity_tensor({velocity.fibre, velocity.sheet, velocity.normal},
                                   direction(mesh.fibre, e), direction(mesh.sheet, e)));
  }
  return problem;
}

/// The times of `sites` by the oracle.
inline std::vector<double> oracle_times(const TetraMesh& mesh, const TissueVelocities& velocities,
                                        const Sites& sites) {
  std::vector<std::pair<int, double>> starts;
  for (const EikonalSite& site : sites)
    starts.push_back({site.vertex, site.time});
  return to_oracle(mesh, velocities).solve(starts);
}

/// A tolerance at which the order of updates leaves rounding alone.
template<class Real>
constexpr double tight = sizeof(Real) == 4 ? 1e-7 : 1e-13;

/// How far solves at tight<Real> may be apart.
template<class Real>
constexpr double agreement = sizeof(Real) == 4 ? 2e-6 : 1e-10;

template<class Real>
EikonalOptions tight_options(EikonalMethod method = EikonalMethod::queue,
                             TetraMetric metric = TetraMetric::lengths,
                             bool deterministic = false) {
  EikonalOptions options;
  options.method = method;
  options.metric = metric;
  options.deterministic = deterministic;
  options.tolerance = tight<Real>;
  return options;
}

inline std::string describe(const EikonalOptions& options) {
  return std::string(name_of(options.method)) + ' ' + name_of(options.metric) +
         (options.deterministic ? " deterministic " : " ") + std::to_string(options.num_parts);
}

/// Calls run(options) for each method and metric.
template<class Real, class Run>
void for_each_variant(const Run& run) {
  for (const EikonalMethod method : all_eikonal_methods)
    for (const TetraMetric metric : {TetraMetric::lengths, TetraMetric::products}) {
      const EikonalOptions options = tight_options<Real>(method, metric);
      INFO(describe(options) << ", " << sizeof(Real) << " bytes");
      run(options);
    }
}

template<class Real, class Exec>
std::vector<Real> solve_sets(const Exec& exec, EikonalSolver<Exec, Real>& solver,
                             const std::vector<Sites>& sets, EikonalResult& result) {
  const Array<Real, Exec> times("times", sets.size() * std::size_t(solver.num_points()));
  result = solver.solve(exec, sets, times);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), times);
  return std::vector<Real>(host.data(), host.data() + host.extent(0));
}

/// Sets up, solves and checks that it ended, with its certificate.
template<class Real, class Exec>
std::vector<Real> solve_times(const Exec& exec, const TetraMesh& mesh,
                              const TissueVelocities& velocities, const EikonalOptions& options,
                              const std::vector<Sites>& sets) {
  EikonalSolver<Exec, Real> solver(exec, mesh, velocities, options);
  EikonalResult result;
  std::vector<Real> times = solve_sets(exec, solver, sets, result);
  CHECK(result.converged);
  CHECK(result.residual >= 0);
  CHECK(result.residual <= 1e-6);
  CHECK(result.certificate >= result.residual);
  CHECK(result.certificate <= (sizeof(Real) == 4 ? 1e-5 : 1e-6)); // the metric is rounded
  CHECK(result.iterations > 0);
  CHECK(result.evaluations > 0);
  CHECK(result.local_solves >= result.evaluations);
  CHECK(result.num_unreached.size() == sets.size());
  return times;
}

template<class Real, class Exec>
std::vector<Real> solve_times(const Exec& exec, const TetraMesh& mesh,
                              const TissueVelocities& velocities, const EikonalOptions& options,
                              const Sites& sites) {
  return solve_times<Real>(exec, mesh, velocities, options, std::vector<Sites>{sites});
}

/// max |a - b| / max(b, 1); infinite where one of them alone is.
template<class A, class B>
double relative_difference(const std::vector<A>& a, const std::vector<B>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t n = 0; n < a.size(); ++n) {
    const double x = a[n], y = b[n];
    if (std::isinf(x) && std::isinf(y))
      continue;
    const double difference = std::abs(x - y) / std::max(std::abs(y), 1.0);
    worst = difference <= worst ? worst : difference <= 1e300 ? difference : 1e300;
  }
  return worst;
}

} // namespace ossatura::test
