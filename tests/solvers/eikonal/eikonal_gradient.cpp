// SPDX-License-Identifier: Apache-2.0
// Derivatives of activation times against differences, closed forms and a property.
#include "tests/backend_test.hpp"
#include "tests/solvers/eikonal/eikonal_problem.hpp"
#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

namespace {

using namespace ossatura;
using namespace ossatura::test;

/// A mesh in two tissues with the velocities of each tetrahedron, and weights of its points.
struct GradientCase {
  TetraMesh mesh = rotating_box();
  std::vector<ConductionVelocity> velocities;
  std::vector<double> weight;
  Sites sites = rotating_box_sites;

  GradientCase() {
    for (std::size_t e = 0; e < mesh.num_tetra(); ++e)
      velocities.push_back(rotating_box_velocities.at(mesh.tag[e]));
    for (std::size_t n = 0; n < mesh.num_points(); ++n)
      weight.push_back(n % 3 == 0 ? 0.25 + double(n % 11) : -0.5 * double(n % 5));
  }

  template<class Real, class Exec>
  EikonalSolver<Exec, Real> solver(const Exec& exec) const {
    EikonalOptions options;
    options.tolerance = sizeof(Real) == 8 ? 1e-15 : 1e-7;
    options.deterministic = true;
    return {exec, mesh, velocities, options};
  }

  template<class Exec>
  double weighted_sum(const Exec& exec, EikonalSolver<Exec, double>& solver) const {
    const auto times = make_uninitialized<double>(exec, solver.num_points(), "times");
    solver.solve(exec, {sites}, times);
    const std::vector<double> host = download(exec, times);
    double sum = 0;
    for (std::size_t n = 0; n < host.size(); ++n)
      sum += weight[n] * host[n];
    return sum;
  }
};

struct Gradient {
  std::vector<double> by_site, by_velocity, times;
};

template<class Real, class Exec>
Gradient gradient_of(const Exec& exec, const GradientCase& problem,
                     EikonalSolver<Exec, Real>& solver) {
  const auto times = make_uninitialized<Real>(exec, solver.num_points(), "times");
  solver.solve(exec, {problem.sites}, times);
  const auto by_velocity = make_uninitialized<double>(exec, 3 * solver.num_tetra(), "by_velocity");
  Gradient gradient;
  gradient.by_site = solver.gradient(exec, problem.sites, times,
                                     upload(exec, "weight", problem.weight), by_velocity);
  gradient.by_velocity = download(exec, by_velocity);
  for (const Real t : download(exec, times))
    gradient.times.push_back(double(t));
  return gradient;
}

OSSATURA_BACKEND_TEST("Derivatives by times of sites are those of differences", "[eikonal]") {
  const TestType exec;
  GradientCase problem;
  auto solver = problem.solver<double>(exec);
  const Gradient gradient = gradient_of(exec, problem, solver);
  const double step = 1e-6;
  double all = 0;
  for (std::size_t k = 0; k < problem.sites.size(); ++k) {
    double sum[2];
    const double time = problem.sites[k].time;
    for (int side = 0; side < 2; ++side) {
      problem.sites[k].time = time + (side == 0 ? -step : step);
      sum[side] = problem.weighted_sum(exec, solver);
    }
    problem.sites[k].time = time;
    CHECK(gradient.by_site[k] == Approx((sum[1] - sum[0]) / (2 * step)).epsilon(1e-6));
    all += gradient.by_site[k];
  }
  double weights = 0; // a shift of all sites shifts all times
  for (const double w : problem.weight)
    weights += w;
  CHECK(all == Approx(weights).epsilon(1e-12));
}

OSSATURA_BACKEND_TEST("Derivatives by velocities are those of differences", "[eikonal]") {
  const TestType exec;
  GradientCase problem;
  auto solver = problem.solver<double>(exec);
  const std::vector<double> gradient = gradient_of(exec, problem, solver).by_velocity;
  double largest = 0;
  for (const double g : gradient)
    largest = std::max(largest, std::abs(g));
  const double step = 1e-6;
  int num_apart = 0, num_asked = 0;
  for (std::size_t e = 5; e < problem.mesh.num_tetra(); e += 401)
    for (int c = 0; c < 3; ++c) {
      double ConductionVelocity::*const component[] = {
          &ConductionVelocity::fibre, &ConductionVelocity::sheet, &ConductionVelocity::normal};
      double& velocity = problem.velocities[e].*component[c];
      const double before = velocity;
      double sum[2];
      for (int side = 0; side < 2; ++side) {
        velocity = before + (side == 0 ? -step : step);
        solver.set_velocities(exec, problem.velocities);
        sum[side] = problem.weighted_sum(exec, solver);
      }
      velocity = before;
      ++num_asked;
      num_apart += std::abs((sum[1] - sum[0]) / (2 * step) - gradient[3 * e + std::size_t(c)]) >
                   1e-6 * largest;
    }
  REQUIRE(num_asked > 40);
  CHECK(num_apart <= 1); // a kink, where two arrivals are nearly the same
}

// Times are homogeneous of degree -1 in all velocities together, sites at 0 given.
OSSATURA_BACKEND_TEST("Velocities times their derivatives sum to minus the times", "[eikonal]") {
  const TestType exec;
  GradientCase problem;
  problem.sites = {{605, 0}, {17, 0}};
  const auto check = [&](auto real, double tolerance) {
    auto solver = problem.solver<decltype(real)>(exec);
    const Gradient gradient = gradient_of(exec, problem, solver);
    double sum = 0, times = 0;
    for (std::size_t e = 0; e < problem.velocities.size(); ++e) {
      const ConductionVelocity& v = problem.velocities[e];
      sum += v.fibre * gradient.by_velocity[3 * e] + v.sheet * gradient.by_velocity[3 * e + 1] +
             v.normal * gradient.by_velocity[3 * e + 2];
    }
    for (std::size_t n = 0; n < gradient.times.size(); ++n)
      times += problem.weight[n] * gradient.times[n];
    CHECK(-sum == Approx(times).epsilon(tolerance));
  };
  check(double(), 1e-11);
  check(float(), 1e-4);
}

OSSATURA_BACKEND_TEST("Tissue and sites that no wave uses have no derivative", "[eikonal]") {
  const TestType exec;
  GradientCase problem;
  problem.sites.push_back({700, 1e4}); // long after the others' waves
  for (std::size_t e = 0; e < problem.mesh.num_tetra(); ++e)
    if (problem.mesh.tag[e] == 2)
      problem.velocities[e] = {0, 0, 0};
  problem.sites[1] = {5, 3}; // in tissue 1
  auto solver = problem.solver<double>(exec);
  const Gradient gradient = gradient_of(exec, problem, solver);
  CHECK(gradient.by_site.back() == 0);
  double weights = 0;
  for (std::size_t n = 0; n < gradient.times.size(); ++n)
    weights += std::isfinite(gradient.times[n]) ? problem.weight[n] : 0;
  double all = 0;
  for (const double g : gradient.by_site)
    all += g;
  CHECK(all == Approx(weights).epsilon(1e-12));
  for (std::size_t e = 0; e < problem.mesh.num_tetra(); ++e)
    if (problem.mesh.tag[e] == 2)
      REQUIRE((gradient.by_velocity[3 * e] == 0 && gradient.by_velocity[3 * e + 1] == 0 &&
               gradient.by_velocity[3 * e + 2] == 0));
}

OSSATURA_BACKEND_TEST("Gradients of arrays that do not fit are refused", "[eikonal]") {
  const TestType exec;
  GradientCase problem;
  auto solver = problem.solver<double>(exec);
  const auto zeros = [&](std::int64_t n) { return make_zeros<double>(exec, n, "zeros"); };
  const std::int64_t n = solver.num_points(), m = 3 * solver.num_tetra();
  CHECK_THROWS_AS(solver.gradient(exec, problem.sites, zeros(n - 1), zeros(n), zeros(m)),
                  std::invalid_argument);
  CHECK_THROWS_AS(solver.gradient(exec, problem.sites, zeros(n), zeros(n + 1), zeros(m)),
                  std::invalid_argument);
  CHECK_THROWS_AS(solver.gradient(exec, problem.sites, zeros(n), zeros(n), zeros(m / 3)),
                  std::invalid_argument);
  CHECK_THROWS_AS(solver.gradient(exec, {}, zeros(n), zeros(n), zeros(m)), std::invalid_argument);
}

OSSATURA_BACKEND_TEST("Times of other sites and velocities have no gradient", "[eikonal]") {
  const TestType exec;
  GradientCase problem;
  auto solver = problem.solver<double>(exec);
  const std::int64_t n = solver.num_points();
  const auto weight = make_zeros<double>(exec, n, "weight");
  const auto by_velocity = make_zeros<double>(exec, 3 * solver.num_tetra(), "by_velocity");
  const auto times_of = [&](const std::vector<EikonalSite>& sites) {
    const auto times = make_zeros<double>(exec, n, "times");
    solver.solve(exec, {sites}, times);
    return times;
  };
  const auto refuses = [&](const std::vector<EikonalSite>& sites,
                           const Array<double, TestType>& t) {
    CHECK_THROWS_AS(solver.gradient(exec, sites, t, weight, by_velocity), InputError);
  };
  const auto times = times_of(problem.sites);
  CHECK_NOTHROW(solver.gradient(exec, problem.sites, times, weight, by_velocity));
  const std::vector<EikonalSite> one{problem.sites.front()};
  refuses(one, times);
  refuses(problem.sites, times_of(one));
  std::vector<EikonalSite> later = problem.sites;
  for (EikonalSite& site : later)
    site.time += 1;
  refuses(later, times);
  std::vector<double> changed = download(exec, times);
  changed[7] = std::numeric_limits<double>::quiet_NaN();
  refuses(problem.sites, upload(exec, "times", changed));
  for (ConductionVelocity& v : problem.velocities)
    v.fibre *= 1.01;
  solver.set_velocities(exec, problem.velocities);
  refuses(problem.sites, times);
}

} // namespace
