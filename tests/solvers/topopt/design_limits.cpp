// SPDX-License-Identifier: Apache-2.0
// Limits beside the volume: gradients against differences, stresses against plain loops, bars whose
// least volume is known, resumed runs, the end by the objective, and refusals.
#include "tests/backend_test.hpp"
#include "tests/solid_meshes.hpp"
#include "tests/solvers/topopt/design_gradients.hpp"
#include <ossatura/core/mesh/mechanics/traction.hpp>
#include <ossatura/solvers/topopt/limits/limits.hpp>

#include <algorithm>

namespace {

using namespace ossatura;
using namespace ossatura::test;
using Values = std::vector<double>;

DesignOptions limited_options(double tolerance = 1e-12) {
  DesignOptions options = options_with(tolerance);
  options.method = DesignMethod::mma;
  options.min_modulus = 1e-3;
  return options;
}

DesignLimit limit_of(DesignLimitKind kind, double value, int load_case = -1) {
  DesignLimit limit;
  limit.kind = kind;
  limit.limit = value;
  limit.load_case = load_case;
  return limit;
}

DesignLimit displacement_of(double value, int load_case, std::vector<NodeForce> direction) {
  DesignLimit limit = limit_of(DesignLimitKind::displacement, value, load_case);
  limit.direction = std::move(direction);
  return limit;
}

/// What is differentiated of a limit.
double differentiated(const DesignLimitValue& value, const DesignLimit& limit) {
  return limit.kind == DesignLimitKind::stress ? value.mean : value.value;
}

/// Of all limits of a problem along one direction, by a difference of fourth order. On voxels
/// moduli are rounded to single precision, which moves differences by about 6e-8 / h.
template<class Exec>
void check_limit_gradients(const Exec& exec, const DesignProblem& problem,
                           const DesignOptions& options) {
  INFO("filter " << name_of(options.filter) << ", projection " << options.projection << ", grid "
                 << name_of(options.grid));
  DesignOptimizer<Exec> optimizer(exec, problem, options);
  const DesignState state = rough_state(exec, optimizer, problem, 0.3, 0.5);
  std::mt19937 random(23);
  Values direction(state.x.size());
  for (std::size_t e = 0; e < direction.size(); ++e)
    if (problem.role.empty() || problem.role[e] == DesignRole::free)
      direction[e] = double(random()) / double(random.max()) - 0.5;
  const std::size_t count = problem.limits.size();
  Values change(count);
  const bool is_rounded = options.grid == DesignGrid::voxels;
  const double h = is_rounded ? 1e-2 : 2e-3;
  for (const auto& [at, weight] : {std::pair{1, 8.0}, {-1, -8.0}, {2, -1.0}, {-2, 1.0}}) {
    DesignState moved = state;
    for (std::size_t e = 0; e < direction.size(); ++e)
      moved.x[e] += at * h * direction[e];
    optimizer.set_state(exec, moved);
    const DesignStep there = optimizer.analyse(exec);
    for (std::size_t j = 0; j < count; ++j)
      change[j] += weight * differentiated(there.limits[j], problem.limits[j]) / (12 * h);
  }
  optimizer.set_state(exec, state);
  for (std::size_t j = 0; j < count; ++j) {
    INFO(name_of_limit(problem, j));
    const Values gradient = optimizer.limit_gradient(exec, int(j));
    double expected = 0, size = 0;
    for (std::size_t e = 0; e < gradient.size(); ++e) {
      expected += gradient[e] * direction[e];
      size += std::fabs(gradient[e] * direction[e]);
    }
    CHECK(size > 0);
    CHECK(std::fabs(change[j] - expected) < (is_rounded ? 1e-5 : 1e-6) * size);
  }
}

/// One of each kind for a problem of two load cases.
std::vector<DesignLimit> one_of_each(std::int32_t node) {
  return {limit_of(DesignLimitKind::compliance, 1, 1),
          displacement_of(0.1, 0, {{node, {0.2, 0.1, -0.5}}, {node - 1, {0, 0, -0.5}}}),
          limit_of(DesignLimitKind::stress, 3)};
}

/// A box of cubes of 0.5 m, held at x = 0, under two load cases; E = 200.
DesignProblem cubes(const int (&cells)[3]) {
  DesignProblem problem;
  problem.mesh = make_hexa_box(cells, {cells[0] / 2., cells[1] / 2., cells[2] / 2.});
  problem.young = 200;
  hold(problem, 7, [](double x, double, double) { return x < 0.1; });
  const std::int32_t end = std::int32_t(problem.mesh.num_points()) - 1;
  problem.cases.push_back({{"down", {{end, {0, 0, -1}}, {end - 1, {0, 0.3, -1}}}}, 0.7});
  problem.cases.push_back({{"along", {{end, {2, 1, 0}}}}, 1.3});
  problem.role.assign(problem.mesh.num_elem(), DesignRole::free);
  return problem;
}

/// The square of the von Mises stress of solid material at the centre of element e, a cube of 0.5
/// m, from the displacements of all nodes; nu = 0.3.
double square_of_stress(const DesignProblem& problem, std::size_t e, const Values& u) {
  const double mu = problem.young / (2 * 1.3), lambda = problem.young * 0.3 / (1.3 * 0.4);
  double gradient[3][3] = {}; // du_c / dx_d
  for (const std::int32_t n : problem.nodes_of(e))
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t i = 3 * std::size_t(n);
      const double side = problem.mesh.point[i + d] > problem.centre_of(e)[d] ? 1 : -1;
      for (std::size_t c = 0; c < 3; ++c)
        gradient[c][d] += side * u[i + c] / (4 * 0.5);
    }
  double s[3][3], pressure = 0, square = 0;
  const double trace = gradient[0][0] + gradient[1][1] + gradient[2][2];
  for (int c = 0; c < 3; ++c) {
    for (int d = 0; d < 3; ++d)
      s[c][d] = mu * (gradient[c][d] + gradient[d][c]) + (c == d ? lambda * trace : 0);
    pressure += s[c][c] / 3;
  }
  for (int c = 0; c < 3; ++c)
    for (int d = 0; d < 3; ++d) {
      const double deviator = s[c][d] - (c == d ? pressure : 0);
      square += 1.5 * deviator * deviator;
    }
  return square;
}

/// A bar of four cubes along x that is pulled by 1 N, without Poisson's effect, E = 100.
DesignProblem pulled_bar() {
  DesignProblem problem;
  problem.mesh = make_hexa_box({4, 1, 1}, {4, 1, 1});
  problem.young = 100;
  problem.poisson = 0;
  problem.materials = {{"alloy", 100, 0, 2}};
  hold(problem, 6, [](double, double, double) { return true; });
  hold(problem, 7, [](double x, double, double) { return x < 0.1; });
  problem.cases.resize(1);
  for (const double y : {0., 1.})
    for (const double z : {0., 1.})
      problem.cases[0].loads.forces.push_back({node_at(problem, 4, y, z), {0.25, 0, 0}});
  return problem;
}

/// The end of the bar.
DesignLimit stretch(const DesignProblem& problem, double value) {
  return displacement_of(value, 0, problem.cases[0].loads.forces);
}

DesignOptions bar_options() {
  DesignOptions options = limited_options(1e-11);
  options.objective = DesignObjective::volume;
  options.filter = DesignFilter::none;
  options.min_modulus = 1e-9;
  return options;
}

/// The uniform density that a run of `steps` ends with.
template<class Exec>
double density_of_bar(const Exec& exec, const DesignProblem& problem, const DesignOptions& options,
                      int steps = 30) {
  DesignOptimizer<Exec> optimizer(exec, problem, options);
  for (int k = 0; k < steps; ++k)
    optimizer.step(exec);
  const Values rho = optimizer.densities(exec);
  for (const DesignLimitValue& limit : optimizer.analyse(exec).limits)
    CHECK(limit.holds());
  const auto [least, most] = std::minmax_element(rho.begin(), rho.end());
  CHECK(*most - *least < 1e-4);
  return rho[0];
}

} // namespace

OSSATURA_BACKEND_TEST("Gradients of limits are those of differences", "[design_limits]") {
  const TestType exec;
  DesignProblem problem = small_problem();
  const std::int32_t last = std::int32_t(problem.mesh.num_points()) - 1;
  problem.limits = one_of_each(last);
  DesignOptions options = limited_options();
  options.radius = 0.6;
  check_limit_gradients(exec, problem, options);
  options.filter = DesignFilter::helmholtz;
  options.radius = 1.2;
  options.projection = true;
  options.sharpness.start = 3;
  check_limit_gradients(exec, problem, options);

  options.filter = DesignFilter::none;
  options.projection = false;
  options.objective = DesignObjective::volume;
  problem.materials = {{"alloy", 200, problem.poisson, 3}, {"steel", 500, problem.poisson, 8}};
  problem.material.assign(problem.num_elem(), 0);
  for (std::size_t e = 0; e < problem.num_elem(); e += 3)
    problem.material[e] = 1;
  problem.limits = {limit_of(DesignLimitKind::mass, 3), limit_of(DesignLimitKind::compliance, 1),
                    limit_of(DesignLimitKind::stress, 3, 1)};
  check_limit_gradients(exec, problem, options);

  // Under weight, moved by another load case, and as a mechanism.
  BodyLoad weight;
  weight.acceleration = {0, 2, -3};
  problem.cases[0].loads.body = {weight};
  problem.cases[1].loads.displacements = {{0, 0, -1e-2}};
  problem.limits = {
      limit_of(DesignLimitKind::compliance, 1, 0), displacement_of(0.1, 0, {{last, {0, 0, -1}}}),
      displacement_of(0.1, 1, {{last, {1, 0, 0}}}), limit_of(DesignLimitKind::stress, 3)};
  check_limit_gradients(exec, problem, options);
  // Warm, too.
  problem.materials[0].expansion = 2e-3;
  problem.materials[1].expansion = -1e-3;
  for (std::size_t n = 0; n < problem.num_nodes(); ++n)
    for (DesignLoadCase& one : problem.cases)
      one.loads.warming.push_back(double((7 * n) % 5) - 1 + one.weight);
  check_limit_gradients(exec, problem, options);
  options.objective = DesignObjective::mechanism;
  problem.output = {{last - 6, {0, 0.5, 1}}};
  problem.limits.erase(problem.limits.begin());
  check_limit_gradients(exec, problem, options);
}

OSSATURA_BACKEND_TEST("Gradients of limits on voxels and solids are those of differences",
                      "[design_limits]") {
  const TestType exec;
  DesignProblem problem = cubes({4, 2, 3});
  const std::int32_t last = std::int32_t(problem.mesh.num_points()) - 1;
  problem.role[7] = DesignRole::solid;
  problem.role[13] = DesignRole::void_;
  problem.limits = one_of_each(last);
  DesignOptions options = limited_options();
  options.grid = DesignGrid::voxels;
  options.voxels.precision = Precision::fp64;
  options.voxels.multigrid.direct_nodes = 20;
  options.radius = 0.8;
  options.projection = true;
  options.sharpness.start = 2;
  check_limit_gradients(exec, problem, options);
  DesignOptions on_mesh = options;
  on_mesh.grid = DesignGrid::mesh;
  DesignOptimizer<TestType> voxels(exec, problem, options), mesh(exec, problem, on_mesh);
  for (DesignOptimizer<TestType>* one : {&voxels, &mesh})
    one->set_state(exec, rough_state(exec, *one, problem));
  for (std::size_t j = 0; j < problem.limits.size(); ++j) {
    const Values a = voxels.limit_gradient(exec, int(j)), b = mesh.limit_gradient(exec, int(j));
    double largest = 0, apart = 0;
    for (std::size_t e = 0; e < b.size(); ++e) {
      largest = std::max(largest, std::fabs(b[e]));
      apart = std::max(apart, std::fabs(a[e] - b[e]));
    }
    CHECK(apart < 1e-6 * largest);
  }

  DesignProblem solids;
  const std::array<double, 3> size{2, 1, 1};
  solids.solids = std::make_shared<const SolidMesh>(ossatura_test::make_solid_box(
      [&](int i) { return i == 0 ? SolidKind::tetra10 : SolidKind::hexa20; }, {2, 1, 1}, size,
      [&](std::array<double, 3>& x) { ossatura_test::bend_inside(size, x); }));
  std::vector<std::int32_t> end;
  for (std::size_t n = 0; n < solids.solids->num_points(); ++n) {
    if (solids.solids->point[3 * n] == 0)
      solids.held.push_back({std::int32_t(n), 7});
    if (solids.solids->point[3 * n] == 2)
      end.push_back(std::int32_t(n));
  }
  solids.young = 200;
  solids.cases.resize(2);
  solids.cases[0].loads.forces = traction_forces(*solids.solids, end, {0, 0.2, -1});
  solids.cases[1].loads.forces = traction_forces(*solids.solids, end, {1, 0, 0});
  solids.limits = one_of_each(end.back());
  DesignOptions of_solids = limited_options();
  of_solids.radius = 1.6;
  check_limit_gradients(exec, solids, of_solids);
  solids.materials = {{"warm", 200, 0.3, 0, 1e-2}};
  for (std::size_t n = 0; n < solids.num_nodes(); ++n)
    solids.cases[0].loads.warming.push_back(double((7 * n) % 5) - 1);
  check_limit_gradients(exec, solids, of_solids);
}

OSSATURA_BACKEND_TEST("Stresses of designs are those of plain loops", "[design_limits]") {
  const TestType exec;
  DesignProblem problem = cubes({3, 2, 2});
  problem.role[5] = DesignRole::solid;
  problem.role[7] = DesignRole::void_;
  problem.limits = {limit_of(DesignLimitKind::stress, 5), limit_of(DesignLimitKind::stress, 2, 1)};
  for (const DesignGrid grid : {DesignGrid::mesh, DesignGrid::voxels}) {
    DesignOptions options = limited_options();
    options.filter = DesignFilter::none;
    options.grid = grid;
    options.voxels.precision = Precision::fp64;
    DesignOptimizer<TestType> optimizer(exec, problem, options);
    optimizer.set_state(exec, rough_state(exec, optimizer, problem, 0.1, 0.8));
    const DesignStep step = optimizer.analyse(exec);
    const Values rho = optimizer.densities(exec);
    const Values stresses = optimizer.stresses(exec);
    Values sum(2), largest(2), solid(2);
    std::vector<LargestValues> of_material(2);
    double apart = 0;
    double volume = 0;
    for (std::size_t e = 0; e < problem.num_elem(); ++e) {
      for (int k = 0; k < 2 && rho[e] > 0.5; ++k) {
        LargestValues& most = of_material[std::size_t(k)];
        const Values u = optimizer.displacements(exec, k);
        most.stress = std::max(most.stress, std::sqrt(square_of_stress(problem, e, u)));
        for (const std::int32_t node : problem.nodes_of(e))
          most.displacement = std::max(most.displacement, std::hypot(u[3 * std::size_t(node)],
                                                                     u[3 * std::size_t(node) + 1],
                                                                     u[3 * std::size_t(node) + 2]));
      }
      if (problem.role[e] != DesignRole::free)
        continue;
      volume += 1;
      double own = 0;
      for (int k = 0; k < 2; ++k) {
        const double square = square_of_stress(problem, e, optimizer.displacements(exec, k));
        const double relaxed = std::sqrt(rho[e] * square);
        own = std::max(own, relaxed);
        for (std::size_t j = 0; j < 2; ++j)
          if (j == 0 || k == 1) {
            sum[j] += std::pow(relaxed, 8);
            largest[j] = std::max(largest[j], relaxed);
            if (rho[e] > 0.5)
              solid[j] = std::max(solid[j], std::sqrt(square));
          }
      }
      apart = std::max(apart, std::fabs(stresses[e] - own));
    }
    CHECK(apart < 1e-5 * largest[0]);
    CHECK(stresses[7] == 0); // void
    for (int k = 0; k < 2; ++k) {
      const LargestValues found = optimizer.largest_values(exec, k);
      CHECK(found.stress == Approx(of_material[std::size_t(k)].stress).epsilon(1e-5));
      CHECK(found.displacement == Approx(of_material[std::size_t(k)].displacement).epsilon(1e-12));
    }
    for (std::size_t j = 0; j < 2; ++j) {
      INFO(name_of(grid) << ", limit " << j);
      const double tolerance = grid == DesignGrid::mesh ? 1e-8 : 1e-5; // moduli in single precision
      CHECK(step.limits[j].value == Approx(largest[j]).epsilon(tolerance));
      CHECK(step.limits[j].mean == Approx(std::pow(sum[j] / volume, 0.125)).epsilon(tolerance));
      CHECK(step.limits[j].solid == Approx(solid[j]).epsilon(tolerance));
      CHECK(step.limits[j].excess ==
            Approx(largest[j] / problem.limits[j].limit - 1).epsilon(tolerance));
    }
  }
}

// A pulled bar of length L, cross-section 1 and modulus E rho^p stretches by L / (E rho^p) per N.
// By convexity the least volume under any of these limits is of one density.
OSSATURA_BACKEND_TEST("Pulled bars have the least volume that is known", "[design_limits]") {
  const TestType exec;
  const double wanted = 0.7, stretched = 0.04 / std::pow(wanted, 3);
  DesignProblem problem = pulled_bar();
  problem.limits = {stretch(problem, stretched)};
  CHECK(density_of_bar(exec, problem, bar_options()) == Approx(wanted).epsilon(1e-4));
  problem.limits = {limit_of(DesignLimitKind::compliance, stretched)};
  CHECK(density_of_bar(exec, problem, bar_options()) == Approx(wanted).epsilon(1e-4));
  // The relaxed stress is rho^(1/2) E strain = rho^(1/2 - p).
  problem.limits = {limit_of(DesignLimitKind::stress, std::pow(wanted, -2.5))};
  CHECK(density_of_bar(exec, problem, bar_options()) == Approx(wanted).epsilon(1e-4));
  // The tighter one of two.
  problem.limits.push_back(stretch(problem, 0.04 / std::pow(0.8, 3)));
  CHECK(density_of_bar(exec, problem, bar_options()) == Approx(0.8).epsilon(1e-4));

  // At least so much: the stiffest bar of those that stretch enough.
  DesignOptions stiff = bar_options();
  stiff.objective = DesignObjective::compliance;
  stiff.volume_fraction = 0.9;
  problem.limits = {stretch(problem, stretched)};
  problem.limits[0].at_least = true;
  CHECK(density_of_bar(exec, problem, stiff) == Approx(wanted).epsilon(1e-4));
  problem.limits = {limit_of(DesignLimitKind::mass, 2 * 4 * 0.6)}; // 2 kg/m3, 4 m3
  CHECK(density_of_bar(exec, problem, stiff) == Approx(0.6).epsilon(1e-4));
}

OSSATURA_BACKEND_TEST("Resumed designs with limits take the same steps", "[design_limits]") {
  const TestType exec;
  DesignProblem problem;
  problem.mesh = make_hexa_box({6, 2, 4}, {6, 2, 4});
  hold(problem, 7, [](double x, double, double) { return x < 0.1; });
  problem.cases.resize(1);
  for (const double y : {0., 1., 2.})
    problem.cases[0].loads.forces.push_back({node_at(problem, 6, y, 2), {0, 0, -1}});
  problem.limits = {displacement_of(1e4, 0, problem.cases[0].loads.forces),
                    limit_of(DesignLimitKind::stress, 30)};
  for (const DesignGrid grid : {DesignGrid::mesh, DesignGrid::voxels}) {
    DesignOptions options = limited_options(1e-6);
    options.grid = grid;
    options.volume_fraction = 0.5;
    DesignOptimizer<TestType> whole(exec, problem, options), rest(exec, problem, options);
    for (int k = 0; k < 3; ++k)
      whole.step(exec);
    rest.set_state(exec, whole.state(exec));
    for (int k = 0; k < 2; ++k) {
      const DesignStep a = whole.step(exec), b = rest.step(exec);
      CHECK(a.objective == b.objective);
      CHECK(a.change == b.change);
      REQUIRE(a.solves.size() == 3); // an adjoint for each limit
      for (std::size_t j = 0; j < 2; ++j) {
        CHECK(a.limits[j].value == b.limits[j].value);
        CHECK(a.limits[j].mean == b.limits[j].mean);
      }
    }
    CHECK(whole.state(exec).x == rest.state(exec).x);
    CHECK(whole.state(exec).limit_scale == rest.state(exec).limit_scale);
  }
}

OSSATURA_BACKEND_TEST("Designs end where their objective stays and limits hold",
                      "[design_limits]") {
  const TestType exec;
  DesignProblem problem = pulled_bar();
  problem.limits = {stretch(problem, 0.04 / std::pow(0.7, 3))};
  DesignOptions options = bar_options();
  DesignOptimizer<TestType> without(exec, problem, options);
  options.objective_change = 1e-3;
  DesignOptimizer<TestType> with(exec, problem, options);
  std::vector<double> objectives;
  while (!with.is_done() && with.num_steps() < 100) {
    const DesignStep step = with.step(exec);
    CHECK(without.step(exec).objective == step.objective); // it ends the course, and is no part
    objectives.push_back(step.objective);
  }
  REQUIRE(with.has_converged());
  CHECK_FALSE(without.has_converged());
  const std::size_t n = objectives.size();
  REQUIRE(n > 6);
  const auto stays = [&](std::size_t end) {
    const auto [least, most] =
        std::minmax_element(objectives.begin() + long(end) - 6, objectives.begin() + long(end));
    return *most - *least < 1e-3 * objectives[end - 1];
  };
  CHECK(stays(n));
  CHECK_FALSE(stays(n - 1));
  CHECK(with.analyse(exec).limits[0].holds());

  // A limit that cannot be met: the objective stays, and the run goes on.
  problem.limits = {stretch(problem, 0.02)};
  DesignOptimizer<TestType> never(exec, problem, options);
  for (int k = 0; k < 10; ++k)
    CHECK(never.step(exec).objective == Approx(1));
  CHECK_FALSE(never.has_converged());
  CHECK(never.analyse(exec).limits[0].excess == Approx(1));
}

OSSATURA_BACKEND_TEST("Limits that make no sense are refused", "[design_limits]") {
  const TestType exec;
  const DesignProblem problem = pulled_bar();
  const auto refuse = [&](std::vector<DesignLimit> limits, const std::string& text,
                          const auto& change) {
    DesignProblem bad = problem;
    DesignOptions options = bar_options();
    bad.limits = std::move(limits);
    change(bad, options);
    CHECK_THROWS_WITH(DesignOptimizer<TestType>(exec, bad, options), ContainsSubstring(text));
  };
  const auto as_is = [](DesignProblem&, DesignOptions&) {};
  const DesignLimit good = limit_of(DesignLimitKind::compliance, 1);
  refuse({}, "the least volume is none at all", as_is);
  refuse({good, good, good, good, good}, "5 constraints: at most 4", as_is);
  refuse({good, good, good, good}, "4 constraints beside the volume: at most 3",
         [](DesignProblem&, DesignOptions& o) { o.objective = DesignObjective::compliance; });
  refuse({good}, "take the method mma",
         [](DesignProblem&, DesignOptions& o) { o.method = DesignMethod::oc; });
  refuse({good}, "take the filter density",
         [](DesignProblem&, DesignOptions& o) { o.filter = DesignFilter::sensitivity; });
  refuse({good, limit_of(DesignLimitKind::stress, 0)},
         "constraint 2 (stress): a limit of 0, which is not greater than 0", as_is);
  refuse({limit_of(DesignLimitKind::stress, 1, 1)}, "load case 1 of 1", as_is);
  refuse({stretch(problem, -1)}, "a limit of -1", as_is);
  refuse({displacement_of(1, -1, {{5, {1, 0, 0}}})}, "a displacement is of one load case", as_is);
  refuse({displacement_of(1, 0, {})}, "directions are of displacements", as_is);
  refuse({displacement_of(1, 0, {{0, {0, 1, 0}}})},
         "constraint 1 (displacement): nothing on components that are free", as_is);
  DesignLimit least = good;
  least.at_least = true;
  refuse({least}, "only displacements are at least a limit", as_is);
  const DesignLimit mass = limit_of(DesignLimitKind::mass, 1);
  refuse({mass}, "the least volume of a mass that may be less is nothing at all", as_is);
  refuse({good, mass}, "mass is limited, but the material alloy",
         [](DesignProblem& p, DesignOptions&) { p.materials[0].density = 0; });
  const auto move = [](DesignProblem& p, DesignOptions&) {
    p.cases[0].loads.displacements = {{0, 0, 0.1}};
  };
  refuse({good}, "one imposes displacements", move);
  refuse({displacement_of(1, 0, {{0, {1, 0, 0}}})}, "the load case itself moves component 0", move);
  refuse({good}, "the compliance of a mechanism is not limited",
         [](DesignProblem& p, DesignOptions& o) {
           o.objective = DesignObjective::mechanism;
           p.output = {{19, {1, 0, 0}}};
         });
  DesignOptions options = bar_options();
  options.objective_change = -1;
  DesignProblem bad = problem;
  bad.limits = {good};
  CHECK_THROWS_WITH(DesignOptimizer<TestType>(exec, bad, options),
                    ContainsSubstring("a change of the objective of -1"));
}
