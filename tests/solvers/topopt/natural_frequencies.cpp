// SPDX-License-Identifier: Apache-2.0
// Natural frequencies of designs: against a dense eigenvalue problem that plain loops assemble,
// against beams, and gradients against differences, of frequencies that are equal, too.
#include "tests/backend_test.hpp"
#include "tests/solid_meshes.hpp"
#include "tests/solvers/topopt/dense_frequencies.hpp"
#include "tests/solvers/topopt/frequency_checks.hpp"
#include <ossatura/kernels/topopt/frequencies/vibrating_mass.hpp>
#include <ossatura/solvers/topopt/optimizer.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace {

using namespace ossatura;
using namespace ossatura::test;

/// A bent box held at x = 0, of mass density 3 and E = 200.
DesignProblem bent_box(SolidKind kind, SolidKind other, const std::array<int, 3>& cells,
                       const std::array<double, 3>& size) {
  DesignProblem problem;
  const SolidMesh mesh = ossatura_test::make_solid_box(
      [&](int i) { return 2 * i < cells[0] ? kind : other; }, cells, size,
      [&](std::array<double, 3>& x) { ossatura_test::bend_inside(size, x); });
  if (kind == SolidKind::hexa8 && other == kind) {
    problem.mesh.point = mesh.point;
    problem.mesh.node = mesh.node;
    problem.mesh.shape = ElementShape::hexa;
  } else {
    problem.solids = std::make_shared<const SolidMesh>(mesh);
  }
  problem.young = 200;
  problem.materials = {{"heavy", 200, 0.3, 3}};
  for (std::size_t n = 0; n < mesh.num_points(); ++n)
    if (mesh.point[3 * n] == 0)
      problem.held.push_back({std::int32_t(n), 7});
  problem.cases.resize(1);
  problem.cases[0].loads.forces = {{std::int32_t(mesh.num_points()) - 1, {0, 0.2, -1}}};
  return problem;
}

} // namespace

OSSATURA_BACKEND_TEST("Frequencies of all kinds of elements are those of dense matrices",
                      "[natural_frequencies]") {
  const TestType exec;
  for (const auto& [kind, other] : {std::pair(SolidKind::hexa8, SolidKind::hexa8),
                                    {SolidKind::tetra4, SolidKind::tetra4},
                                    {SolidKind::tetra10, SolidKind::tetra10},
                                    {SolidKind::prism6, SolidKind::hexa8},
                                    {SolidKind::hexa20, SolidKind::prism15},
                                    {SolidKind::hexa20r, SolidKind::hexa20}}) {
    INFO(name_of(kind) << ", " << name_of(other));
    DesignProblem problem = bent_box(kind, other, {2, 1, 1}, {2, 1, 1});
    if (kind == SolidKind::hexa8 && other == kind) { // other moduli, ratios and mass densities
      problem.materials.push_back({"light", 90, 0.2, 1.3});
      problem.material.assign(problem.num_elem(), 0);
      problem.material[0] = 1;
    }
    DesignOptimizer<TestType> optimizer(exec, problem, options_of_frequencies(4));
    // Of void, of what is below and above the bend of the law, and solid.
    std::vector<double> x = rough_densities(problem.num_elem(), 0.05, 0.95, 5);
    x.back() = x.size() > 4 ? 0 : x.back();
    optimizer.set_variables(exec, upload(exec, "x", x));
    const DesignStep step = optimizer.analyse(exec);
    const std::vector<double> expected = expected_frequencies(problem, x, 4);
    REQUIRE(step.frequencies.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(step.frequencies[i] == Approx(expected[i]).epsilon(1e-8));
      CHECK(step.frequency_residuals[i] <= 1e-8);
    }
  }
}

namespace {

/// A straight bar of E = 200 and mass density 3, held at x = 0 in `held` components there and in
/// `aside` ones of all nodes.
DesignProblem straight_bar(SolidKind kind, const std::array<int, 3>& cells,
                           const std::array<double, 3>& size, double poisson,
                           std::uint8_t aside = 0) {
  DesignProblem problem;
  const SolidMesh mesh = ossatura_test::make_solid_box([&](int) { return kind; }, cells, size,
                                                       [](std::array<double, 3>&) {});
  if (kind == SolidKind::hexa8)
    problem.mesh = make_hexa_box({cells[0], cells[1], cells[2]}, {size[0], size[1], size[2]});
  else
    problem.solids = std::make_shared<const SolidMesh>(mesh);
  problem.young = 200;
  problem.poisson = poisson;
  problem.materials = {{"only", 200, poisson, 3}};
  for (std::size_t n = 0; n < problem.num_nodes(); ++n) {
    const bool is_end = problem.points()[3 * n] == 0;
    if (is_end || aside != 0)
      problem.held.push_back({std::int32_t(n), std::uint8_t(is_end ? 7 : aside)});
  }
  problem.cases.resize(1);
  problem.cases[0].loads.forces = {{std::int32_t(problem.num_nodes()) - 1, {1, 0, 0}}};
  return problem;
}

template<class Exec>
std::vector<double> solid_frequencies(const Exec& exec, const DesignProblem& problem, int count,
                                      double tolerance) {
  DesignOptimizer<Exec> optimizer(exec, problem, options_of_frequencies(count, tolerance));
  optimizer.set_variables(exec, upload(exec, "x", std::vector<double>(problem.num_elem(), 1.0)));
  return optimizer.analyse(exec).frequencies;
}

} // namespace

OSSATURA_BACKEND_TEST("Bars and beams vibrate as theory says", "[natural_frequencies]") {
  const TestType exec;
  const double pi = Kokkos::numbers::pi, speed = std::sqrt(200. / 3);
  {
    // Along its axis: linear elements with consistent mass have 6 (1 - cos kh) / (2 + cos kh) / h^2
    // in the place of k^2, k = pi / 2L, 3 pi / 2L.
    constexpr int n = 8;
    const double length = 4, h = length / n;
    const std::vector<double> found = solid_frequencies(
        exec, straight_bar(SolidKind::hexa8, {n, 1, 1}, {length, 1, 1}, 0, 6), 2, 1e-9);
    for (int i = 0; i < 2; ++i) {
      const double angle = (2 * i + 1) * pi / 2 / n;
      const double discrete = std::sqrt(6 * (1 - std::cos(angle)) / (2 + std::cos(angle))) / h;
      CHECK(found[std::size_t(i)] == Approx(discrete * speed / (2 * pi)).epsilon(1e-9));
    }
    CHECK(found[0] == Approx(speed / (4 * length)).epsilon(2e-3)); // from above, by (kh)^2 / 24
    CHECK(found[0] > speed / (4 * length));
  }
  // In bending a slender square bar has two equal frequencies, of Euler and Bernoulli but for shear
  // and rotary inertia, which take less than 1 %, (h / L)^2 times 3, and what elements lack.
  for (const SolidKind kind : {SolidKind::hexa20, SolidKind::tetra10}) {
    INFO(name_of(kind));
    const double length = 20;
    const std::vector<double> found =
        solid_frequencies(exec, straight_bar(kind, {10, 1, 1}, {length, 1, 1}, 0), 3, 1e-7);
    const double expected =
        std::pow(1.875104068711961, 2) / (2 * pi * length * length) * speed / std::sqrt(12.);
    CHECK(found[0] == Approx(expected).epsilon(0.01));
    CHECK(found[1] == Approx(expected).epsilon(0.01));
    CHECK(found[2] > 5 * expected); // the second of bending, 6.27 times as high
    if (kind != SolidKind::tetra10) // whose cells are not the same along both axes
      CHECK(found[1] == Approx(found[0]).epsilon(1e-9));
  }
}

TEST_CASE("The mass of vibrations falls smoothly to nothing in void", "[natural_frequencies]") {
  CHECK(VibratingMass::value(1) == 1);
  CHECK(VibratingMass::value(0.5) == 0.5);
  CHECK(VibratingMass::value(0) == 0);
  CHECK(VibratingMass::value(-0.1) == 0);
  const double below = std::nextafter(VibratingMass::threshold, 0);
  CHECK(VibratingMass::value(below) == Approx(0.1).epsilon(1e-14));
  CHECK(VibratingMass::slope(below) == Approx(1).epsilon(1e-13));
  for (const double rho : {0.01, 0.05, 0.09, 0.3})
    CHECK((VibratingMass::value(rho + 1e-6) - VibratingMass::value(rho - 1e-6)) / 2e-6 ==
          Approx(VibratingMass::slope(rho)).epsilon(1e-6));
}

OSSATURA_BACKEND_TEST("Gradients of frequencies are those of differences, of equal ones, too",
                      "[natural_frequencies]") {
  const TestType exec;
  DesignOptions options = options_of_frequencies(4, 1e-10);
  for (const SolidKind kind : {SolidKind::hexa8, SolidKind::tetra4, SolidKind::tetra10}) {
    INFO(name_of(kind));
    const DesignProblem problem =
        bent_box(kind, kind, kind == SolidKind::hexa8 ? std::array{4, 2, 2} : std::array{2, 1, 1},
                 {2, 1, 0.8});
    check_mean_gradient(exec, problem, options, rough_densities(problem.num_elem(), 0.3, 0.6, 7),
                        false);
  }
  // Below the bend of the mass, where all is of void nearly; and a filter.
  options.min_modulus = 1e-6;
  DesignProblem box = bent_box(SolidKind::hexa8, SolidKind::hexa8, {4, 2, 2}, {2, 1, 0.8});
  check_mean_gradient(exec, box, options, rough_densities(box.num_elem(), 0.04, 0.05, 7), false,
                      2e-4);
  options.filter = DesignFilter::density;
  options.radius = 0.8;
  check_mean_gradient(exec, box, options, rough_densities(box.num_elem(), 0.3, 0.6, 7), false);
  const DesignProblem square = straight_bar(SolidKind::hexa8, {4, 2, 2}, {4, 1, 1}, 0.3);
  options.filter = DesignFilter::none;
  check_mean_gradient(exec, square, options, std::vector<double>(square.num_elem(), 0.5), true);
}

OSSATURA_BACKEND_TEST("A clamped beam gets a higher lowest frequency, and stays symmetric",
                      "[natural_frequencies]") {
  const TestType exec;
  const std::array<int, 3> cells{16, 2, 4};
  const DesignProblem problem = clamped_beam(cells);
  DesignOptions options = options_of_frequencies(3, 1e-8);
  options.objective = DesignObjective::frequency;
  options.volume_fraction = 0.5;
  options.move = move_with_frequency;
  options.filter = DesignFilter::density;
  options.radius = 1.5;
  DesignOptimizer<TestType> optimizer(exec, problem, options);
  double first = 0;
  for (int step = 0; step < 30; ++step) {
    const double objective = optimizer.step(exec).objective;
    first = step == 0 ? objective : first;
  }
  const DesignStep end = optimizer.analyse(exec);
  INFO(first << " to " << end.frequencies[0] << ", " << end.frequencies[1]);
  CHECK(end.frequencies[0] > 1.2 * first);
  CHECK(end.volume <= 0.5 * (1 + 1e-3));
  const std::vector<double> rho = optimizer.densities(exec);
  double apart = 0;
  for (int k = 0; k < cells[2]; ++k)
    for (int j = 0; j < cells[1]; ++j)
      for (int i = 0; i < cells[0]; ++i) {
        const auto at = [&](int x, int z) {
          return rho[std::size_t(x + cells[0] * (j + cells[1] * z))];
        };
        apart = std::max({apart, std::fabs(at(i, k) - at(cells[0] - 1 - i, k)),
                          std::fabs(at(i, k) - at(i, cells[2] - 1 - k))});
      }
  CHECK(apart < 1e-3);
}

OSSATURA_BACKEND_TEST("The least volume keeps a frequency, and runs go on with the same bits",
                      "[natural_frequencies]") {
  const TestType exec;
  DesignProblem problem = clamped_beam({12, 2, 3});
  DesignOptions options = options_of_frequencies(0, 1e-8);
  options.move = move_with_frequency;
  options.filter = DesignFilter::density;
  options.radius = 1.5;
  const double solid = solid_frequencies(exec, problem, 1, 1e-8)[0];
  problem.limits = {{DesignLimitKind::frequency, 0.8 * solid, -1, true}};
  options.objective = DesignObjective::volume;
  DesignOptimizer<TestType> whole(exec, problem, options), rest(exec, problem, options);
  DesignStep last;
  for (int step = 0; step < 18; ++step) {
    if (step == 14)
      rest.set_state(exec, whole.state(exec));
    last = whole.step(exec);
    if (step >= 14) {
      const DesignStep again = rest.step(exec);
      CHECK(again.objective == last.objective);
      CHECK(again.frequencies == last.frequencies);
    }
  }
  CHECK(rest.variables(exec) == whole.variables(exec));
  CHECK(last.frequencies.size() == std::size_t(frequencies_of_designs));
  CHECK(last.limits[0].value == Approx(0.8 * solid).epsilon(0.02));
  CHECK(last.volume < 0.85);
}

OSSATURA_BACKEND_TEST("What does not go with frequencies is refused by name",
                      "[natural_frequencies]") {
  const TestType exec;
  const DesignProblem problem = clamped_beam({6, 2, 2});
  const auto refused = [&](const DesignProblem& p, const DesignOptions& o, const char* why) {
    CHECK_THROWS_WITH(DesignOptimizer<TestType>(exec, p, o), ContainsSubstring(why));
  };
  DesignOptions options = options_of_frequencies(3);
  options.objective = DesignObjective::frequency;
  options.volume_fraction = 0.5;
  DesignProblem other = problem;
  other.materials[0].density = 0;
  refused(other, options, "mass density of 0");
  other.materials.clear();
  other.material.clear();
  refused(other, options, "materials with a mass density are missing");
  other = problem;
  other.mirrors = {{1, 2}};
  refused(other, options, "what is held without the mirrors is not said");
  other = problem;
  other.limits = {{DesignLimitKind::frequency, 1.0, -1, false}};
  refused(other, options, "say at least");
  other.limits = {{DesignLimitKind::frequency, 1.0, 0, true}};
  refused(other, options, "of no load case");
  DesignOptions bad = options;
  bad.frequencies = most_frequencies + 1;
  refused(problem, bad, "11 natural frequencies: 0 to 10");
  bad = options;
  bad.method = DesignMethod::oc;
  refused(problem, bad, "take the method mma");
  bad = options;
  bad.filter = DesignFilter::sensitivity;
  refused(problem, bad, "take the filter density");
  other = problem;
  other.role.clear();
  other.limits = {{DesignLimitKind::frequency, 1.0, -1, true}, {DesignLimitKind::mass, 1e9}};
  bad = options;
  bad.objective = DesignObjective::volume;
  refused(other, bad, "nothing at all");
  DesignOptimizer<TestType> hasty(exec, problem, options);
  CHECK_THROWS_AS(hasty.mode(exec, 3), std::invalid_argument);
}
