// SPDX-License-Identifier: Apache-2.0
// Activation times against closed forms: plane waves, point sources in anisotropic, graded and
// layered media, several sites, the slab of Niederer et al. (2011).
#include "tests/backend_test.hpp"
#include "tests/reference/eikonal_exact.hpp"
#include "tests/solvers/eikonal/eikonal_problem.hpp"

namespace {

using namespace ossatura;
using namespace ossatura::test;

/// max |times - exact(point)|, and the most by which a time is earlier than the exact one.
struct Errors {
  double most = 0, early = 0;
};

template<class Real, class Exact>
Errors errors_of(const TetraMesh& mesh, const std::vector<Real>& times, const Exact& exact) {
  Errors errors;
  for (std::size_t n = 0; n < mesh.num_points(); ++n) {
    const double late = times[n] - exact(point_of(mesh, n));
    errors.most = std::max(errors.most, std::abs(late) <= 1e300 ? std::abs(late) : 1e300);
    errors.early = std::max(errors.early, -late);
  }
  return errors;
}

template<class Real, class Exec>
void check_plane_wave(const Exec& exec, double jitter, double tolerance) {
  const int n = 8;
  TetraMesh mesh = make_tetra_box({n, n, n}, 1.0 / n, {0, 0, 0}, jitter, 3);
  const float half = std::sqrt(0.5f);
  set_directions(mesh, {half, half, 0}, {-half, half, 0}); // the normal is along z
  const Sites face = sites_where(mesh, [](const Point& x) { return x[2] == 0 ? 2.0 : -1.0; });
  for_each_variant<Real>([&](const EikonalOptions& options) {
    const auto times = solve_times<Real>(exec, mesh, {{1, {0.6, 0.4, 0.2}}}, options, face);
    const Errors errors = errors_of(mesh, times, [](const Point& x) { return 2 + x[2] / 0.2; });
    CHECK(errors.most < tolerance);
  });
}

OSSATURA_BACKEND_TEST("A plane wave is exact on any mesh", "[eikonal]") {
  for (const double jitter : {0.0, 0.25}) {
    check_plane_wave<double>(TestType(), jitter, 2e-12);
    check_plane_wave<float>(TestType(), jitter, 1e-5); // times up to 7
  }
}

/// A cube of edge 1 about a source with D = 0.04 I + 0.32 f f, f = (1, 1, 0) / sqrt(2).
struct AnisotropicCube {
  TetraMesh mesh;
  std::int32_t source;

  AnisotropicCube(int n, double jitter)
      : mesh(make_tetra_box({n, n, n}, 1.0 / n, {-0.5, -0.5, -0.5}, jitter, 1))
      , source(((n + 1) * (n / 2) + n / 2) * (n + 1) + n / 2) {
    for (int axis = 0; axis < 3; ++axis)
      mesh.point[3 * source + axis] = 0; // also where points are jittered
    set_directions(mesh, {1, 1, 0}, {0, 0, 0});
  }
  static double exact(const Point& x) {
    const double along = (x[0] + x[1]) * (x[0] + x[1]) / 2;
    const double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    return std::sqrt(along / 0.36 + (square - along) / 0.04);
  }
  template<class Real, class Exec>
  std::vector<Real> solve(const Exec& exec, const Sites& sites) const {
    return solve_times<Real>(exec, mesh, {{1, {0.6, 0.2, 0.1}}}, tight_options<Real>(), sites);
  }
};

// Digits for Kuhn's tetrahedra from a prototype.
OSSATURA_BACKEND_TEST("A point source in an anisotropic cube has the known error", "[eikonal]") {
  const int sizes[4] = {8, 16, 32, 48};
  const double expected[4] = {0.2990, 0.2008, 0.1294, 0.0987};
  for (int level = 0; level < 4; ++level) {
    const int n = sizes[level];
    const AnisotropicCube cube(n, 0);
    const auto times = cube.solve<double>(TestType(), {{cube.source, 0}});
    const Errors errors = errors_of(cube.mesh, times, AnisotropicCube::exact);
    CHECK(errors.most == Approx(expected[level]).margin(6e-5));
    CHECK(errors.early < 1e-12); // an upper bound: the domain is convex and homogeneous
    // exact along the lines of edges through the source
    const std::array<int, 3> lines[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0},
                                        {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
    double worst = 0;
    for (const auto& [i, j, k] : lines)
      for (int step = -n / 2; step <= n / 2; ++step) {
        const int vertex = cube.source + step * (i + (n + 1) * (j + (n + 1) * k));
        worst = std::max(
            worst, std::abs(times[vertex] - AnisotropicCube::exact(point_of(cube.mesh, vertex))));
      }
    CHECK(worst < 1e-12);
    if (n > 32)
      continue; // enough is seen
    const auto single = cube.solve<float>(TestType(), {{cube.source, 0}});
    CHECK(relative_difference(single, times) < agreement<float>);
  }
}

OSSATURA_BACKEND_TEST("From exact times in a ball errors in an anisotropic cube are of order one",
                      "[eikonal]") {
  const int sizes[4] = {8, 16, 32, 48};
  const double expected[4] = {0.2990, 0.1944, 0.0961, 0.0636};
  const auto error = [&](int n, double jitter) {
    const AnisotropicCube cube(n, jitter);
    const Sites ball = sites_where(cube.mesh, [](const Point& x) {
      const double exact = AnisotropicCube::exact(x);
      return exact <= 1.0 / 3 ? exact : -1;
    });
    const auto times = cube.solve<double>(TestType(), ball);
    const Errors errors = errors_of(cube.mesh, times, AnisotropicCube::exact);
    CHECK(errors.early < 1e-12);
    return errors.most;
  };
  double found[4];
  for (int level = 0; level < 4; ++level) {
    found[level] = error(sizes[level], 0);
    CHECK(found[level] == Approx(expected[level]).margin(6e-5));
  }
  CHECK(std::log2(found[1] / found[2]) >= 0.95);
  CHECK(std::log(found[2] / found[3]) / std::log(1.5) >= 0.95);
  CHECK(std::log2(error(16, 0.2) / error(32, 0.2)) >= 0.95);
}

/// Speed 0.3 + 0.05 z in a cube of 10 mm, constant in each tetrahedron, a tag for each height of
/// their centres.
template<class Exec>
Errors linear_speed_errors(const Exec& exec, int n, double (&corner_error)[4]) {
  const double v0 = 0.3, g = 0.05, h = 10.0 / n;
  TetraMesh mesh = make_tetra_box({n, n, n}, h);
  TissueVelocities velocities;
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e) {
    const double z = centre_of(mesh, e)[2];
    mesh.tag[e] = int(std::lround(4 * z / h));
    velocities[mesh.tag[e]] = {v0 + g * z, 1, 1}; // of no effect without fibres
  }
  const auto exact = [&](const Point& x) { return reference::linear_speed_time(v0, g, x); };
  const Sites ball =
      sites_where(mesh, [&](const Point& x) { return distance(x, {}) <= 2 ? exact(x) : -1; });
  const auto times = solve_times<double>(exec, mesh, velocities, tight_options<double>(), ball);
  const Point at[4] = {{10, 0, 0}, {10, 10, 0}, {0, 0, 10}, {10, 10, 10}};
  for (int c = 0; c < 4; ++c)
    corner_error[c] = std::abs(times[nearest_vertex(mesh, at[c])] - exact(at[c]));
  return errors_of(mesh, times, exact);
}

OSSATURA_BACKEND_TEST("In a graded medium errors are of order one", "[eikonal]") {
  double coarse_corners[4], fine_corners[4];
  const Errors coarse = linear_speed_errors(TestType(), 12, coarse_corners);
  const Errors fine = linear_speed_errors(TestType(), 24, fine_corners);
  CHECK(fine.most < 0.45);
  CHECK(std::log2(coarse.most / fine.most) >= 0.95);
  for (int c = 0; c < 4; ++c)
    CHECK(fine_corners[c] < 0.6 * coarse_corners[c]);
}

/// Speeds 0.3 below and 0.6 above z = 0, by tags, source 1 mm below.
template<class Exec>
Errors half_space_errors(const Exec& exec, int n, double (&error)[3]) {
  const double h = 1.0 / n;
  TetraMesh mesh = make_tetra_box({6 * n, n / 2, 4 * n}, h, {0, 0, -2});
  for (std::size_t e = 0; e < mesh.num_tetra(); ++e)
    mesh.tag[e] = centre_of(mesh, e)[2] < 0 ? -4 : 9;
  const auto exact = [](const Point& x) {
    return reference::two_half_spaces_time(0.3, 0.6, 1, std::hypot(x[0], x[1]), x[2]);
  };
  const Sites ball = sites_where(mesh, [&](const Point& x) {
    return distance(x, {0, 0, -1}) <= 0.5 ? exact(x) : -1;
  });
  const auto times = solve_times<double>(exec, mesh, {{-4, {0.3, 0.3, 0.3}}, {9, {0.6, 0.6, 0.6}}},
                                         tight_options<double>(), ball);
  const Point at[3] = {{5, 0, -1}, {2, 0, -1}, {5, 0, 1}}; // head wave, direct, refracted
  for (int c = 0; c < 3; ++c)
    error[c] = std::abs(times[nearest_vertex(mesh, at[c])] - exact(at[c]));
  return errors_of(mesh, times, exact);
}

OSSATURA_BACKEND_TEST("In two half spaces errors of all kinds of waves are of order one",
                      "[eikonal]") {
  double coarse_points[3], fine_points[3];
  const Errors coarse = half_space_errors(TestType(), 4, coarse_points);
  const Errors fine = half_space_errors(TestType(), 8, fine_points);
  CHECK(fine.most < 0.25);
  CHECK(std::log2(coarse.most / fine.most) >= 0.95);
  for (int c = 0; c < 3; ++c)
    CHECK(fine_points[c] <= 0.65 * coarse_points[c] + 1e-12);
}

template<class Real, class Exec>
void check_several_sites(const Exec& exec) {
  const TetraMesh mesh = make_tetra_box({12, 12, 12}, 0.5, {0, 0, 0}, 0.2, 9);
  const double v = 0.5;
  const TissueVelocities velocities = {{1, {v, v, v}}};
  // The third one starts when the first one's wave has passed.
  const Sites sites = {
      {0, 1}, {nearest_vertex(mesh, {6, 6, 6}), 4}, {nearest_vertex(mesh, {3, 0, 0}), 9.5}};
  const EikonalOptions options = tight_options<Real>();
  const auto times = solve_times<Real>(exec, mesh, velocities, options, sites);
  const Errors errors = errors_of(mesh, times, [&](const Point& x) {
    double first = 1e300;
    for (const EikonalSite& site : sites)
      first = std::min(first, site.time + distance(x, point_of(mesh, site.vertex)) / v);
    return first;
  });
  CHECK(errors.most < 0.7); // early too, where the interpolation cuts off the kink of two waves
  double late = 0;          // than the waves of any site alone
  for (const EikonalSite& site : sites) {
    const auto alone = solve_times<Real>(exec, mesh, velocities, options, Sites{site});
    for (std::size_t n = 0; n < times.size(); ++n)
      late = std::max(late, (double(times[n]) - alone[n]) / std::max(double(alone[n]), 1.0));
  }
  CHECK(late < agreement<Real>);
  CHECK(times[0] == 1);
  CHECK(times[sites[1].vertex] == 4);
  CHECK(times[sites[2].vertex] < 9); // about 7, not 9.5
  CHECK(times[sites[2].vertex] >= 6.99);
  const auto without =
      solve_times<Real>(exec, mesh, velocities, options, Sites{sites[0], sites[1]});
  CHECK(relative_difference(times, without) < agreement<Real>);
  // of the same vertex twice, the earlier one counts
  const auto twice =
      solve_times<Real>(exec, mesh, velocities, options, Sites{sites[1], {0, 3}, sites[0], {0, 2}});
  CHECK(relative_difference(twice, without) < agreement<Real>);
}

OSSATURA_BACKEND_TEST("Of several sites the first wave counts, at sites too", "[eikonal]") {
  check_several_sites<double>(TestType());
  check_several_sites<float>(TestType());
}

/// The slab with a cube of sites of 1.5 mm at time `start`; times at eight corners and the centre.
template<class Exec>
std::vector<double> slab_times(const Exec& exec, double along, double across, double start) {
  const TetraMesh mesh = make_slab(0.25);
  const Sites cube = sites_where(mesh, [&](const Point& x) {
    return std::max({x[0], x[1], x[2]}) < 1.5 + 1e-9 ? start : -1;
  });
  const auto times =
      solve_times<float>(exec, mesh, {{1, {along, across, across}}}, tight_options<float>(), cube);
  std::vector<double> found;
  for (const Point& x :
       {Point{0, 0, 0}, Point{0, 7, 0}, Point{20, 7, 0}, Point{20, 0, 0}, Point{0, 0, 3},
        Point{0, 7, 3}, Point{20, 0, 3}, Point{20, 7, 3}, Point{10, 3.5, 1.5}})
    found.push_back(times[nearest_vertex(mesh, x)]);
  return found;
}

OSSATURA_BACKEND_TEST("The slab's times are within 2.5 percent at 0.25 mm", "[eikonal]") {
  const double expected[9] = {0, 18.3333, 35.8721, 30.8333, 5, 19.0029, 31.2361, 36.2189, 15.6569};
  const auto times = slab_times(TestType(), 0.6, 0.3, 0);
  for (int n = 0; n < 9; ++n)
    CHECK(times[n] == Approx(expected[n]).epsilon(0.025).margin(1e-6));
  CHECK(times[7] == Approx(36.7386).margin(6e-5)); // of Kuhn's tetrahedra, from a prototype
}

// Fitted velocities and start; the monodomain times are those of
// tests/solvers/eikonal/reference_eikonal.cpp.
OSSATURA_BACKEND_TEST("The slab's times fit published monodomain solutions", "[eikonal]") {
  const double published[9] = {1.3, 30.1, 42.9, 31.9, 9.1, 31.5, 33.0, 43.8, 19.9};
  const double fitted[9] = {1.99, 30.20, 43.16, 31.98, 9.69, 31.23, 32.95, 43.87, 19.17};
  const auto times = slab_times(TestType(), 0.617, 0.195, 1.995);
  for (int n = 0; n < 9; ++n) {
    CHECK(times[n] == Approx(fitted[n]).epsilon(0.03));
    CHECK(std::abs(times[n] - published[n]) < 1.5);
  }
}

} // namespace
