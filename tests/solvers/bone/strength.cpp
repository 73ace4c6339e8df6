// SPDX-License-Identifier: Apache-2.0
// Strength: closed forms of one voxel, energies, the order of Newton's method, unloading, and a
// plate with a hole against an oracle.
#include "tests/backend_test.hpp"
#include "tests/reference/plastic_voxels.hpp"
#include "tests/solvers/bone/boundary_problem.hpp"
#include <ossatura/solvers/bone/strength.hpp>

#include <cmath>

namespace {

using namespace ossatura;

constexpr double modulus = 1000, poisson = 0.3, edge = 0.5;

VoxelSolverOptions tight_solver() {
  VoxelSolverOptions options;
  options.cg.tolerance = 1e-11;
  options.precision = Precision::fp64;
  return options;
}

StrengthOptions with_law(YieldCriterion criterion, double hardening) {
  StrengthOptions options;
  options.law.criterion = criterion;
  options.law.hardening = hardening;
  options.tolerance = 1e-10;
  return options;
}

template<class Exec>
struct LoadedSpecimen {
  VoxelProblem<Exec> problem;
  BoneLoad<Exec> load;
  StrengthSolver<Exec> solver;

  LoadedSpecimen(const Exec& exec, const reference::Model& model, const MechanicalTest& test,
                 const StrengthOptions& options, const VoxelSolverOptions& linear = tight_solver())
      : problem(make_voxel_problem(exec, ossatura::test::upload_material(exec, model), model.edge))
      , load(load_by_test(exec, test, problem))
      , solver(exec, problem, load, options, linear) {
    CHECK(solver.solve_elastic(exec).converged);
  }

  std::vector<StrengthStep> run(const Exec& exec, int steps) {
    std::vector<StrengthStep> done;
    for (int k = 1; k <= steps; ++k)
      done.push_back(solver.advance(exec, double(k) / steps));
    return done;
  }
};

/// The same before its first solve.
template<class Exec>
struct FreshSpecimen {
  VoxelProblem<Exec> problem;
  BoneLoad<Exec> load;
  StrengthSolver<Exec> solver;

  FreshSpecimen(const Exec& exec, const reference::Model& model, const MechanicalTest& test,
                const StrengthOptions& options)
      : problem(make_voxel_problem(exec, ossatura::test::upload_material(exec, model), model.edge))
      , load(load_by_test(exec, test, problem))
      , solver(exec, problem, load, options, tight_solver()) {}
};

MechanicalTest axial(double strain) {
  MechanicalTest test;
  test.lateral_free = true;
  test.strain = strain;
  return test;
}

/// Stress in a bar of the law, at a strain of either sign.
double bar(const YieldLaw& law, double strain) {
  const bool compresses = strain < 0 || law.criterion == YieldCriterion::von_mises;
  const double at = compresses ? law.compression : law.tension;
  double slope = law.hardening;
  if (!compresses) { // flow in tension meets the hardening of compression
    const double ratio = law.compression / law.tension,
                 plastic = law.hardening / (1 - law.hardening) / (ratio * ratio);
    slope = plastic / (1 + plastic);
  }
  const double size = std::abs(strain);
  const double stress = modulus * (size < at ? size : at + slope * (size - at));
  return strain < 0 ? -stress : stress;
}

OSSATURA_BACKEND_TEST("A bar yields and hardens as its law says, in tension and compression",
                      "[strength]") {
  const TestType exec;
  for (const YieldCriterion criterion : {YieldCriterion::von_mises, YieldCriterion::drucker_prager})
    for (const double hardening : {0.0, 0.05})
      for (const double strain : {-0.02, 0.02}) {
        const auto model = reference::homogeneous({1, 1, 1}, modulus, poisson, edge);
        const StrengthOptions options = with_law(criterion, hardening);
        LoadedSpecimen<TestType> bone(exec, model, axial(strain), options);
        for (const StrengthStep& step : bone.run(exec, 10)) {
          CHECK(step.converged);
          REQUIRE(step.response);
          const double expected = bar(options.law, step.factor * strain) * edge * edge;
          CHECK(*step.response->force == Approx(expected).epsilon(2e-6));
          CHECK(step.energy_error() < 1e-5);
        }
        CHECK(bone.solver.present().changed_fraction == 1);
        CHECK(bone.solver.present().dissipation > 0);
        const BoneSolution<TestType> solution = bone.solver.evaluate(exec);
        CHECK(*solution.response->force ==
              Approx(bar(options.law, strain) * edge * edge).epsilon(2e-6));
        CHECK(solution.strain_energy == Approx(bone.solver.present().elastic_energy).epsilon(1e-6));
        const auto plastic = ossatura::test::host_values(solution.fields.plastic_strain);
        const auto stress = ossatura::test::host_values(solution.fields.stress);
        CHECK(double(stress[2]) == Approx(bar(options.law, strain)).epsilon(1e-5));
        if (strain < 0)
          CHECK(double(plastic[0]) ==
                Approx(0.02 + bar(options.law, strain) / modulus).epsilon(1e-4));
      }
}

OSSATURA_BACKEND_TEST("A sheared voxel yields at strength by the root of three", "[strength]") {
  const TestType exec;
  const double mu = modulus / 2.6, bulk = modulus / 1.2;
  for (const YieldCriterion criterion :
       {YieldCriterion::von_mises, YieldCriterion::drucker_prager}) {
    const StrengthOptions options = with_law(criterion, 0.1);
    const YieldCone cone = make_yield_cone(options.law);
    MechanicalTest test;
    test.kind = TestKind::shear;
    test.direction = 0;
    test.strain = 0.05;
    LoadedSpecimen<TestType> bone(exec, reference::homogeneous({1, 1, 1}, modulus, poisson, edge),
                                  test, options);
    for (const StrengthStep& step : bone.run(exec, 5)) {
      // Glued plates: no dilation, so that pressure rises with plastic flow.
      const double trial = std::sqrt(3.0) * mu * step.factor * 0.05,
                   multiplier = std::max(0.0, trial - cone.strength * modulus) /
                                (3 * mu + 9 * bulk * cone.pressure * cone.pressure +
                                 cone.hardening * modulus);
      const double stress = (trial - 3 * mu * multiplier) / std::sqrt(3.0);
      CHECK(*step.response->force == Approx(stress * edge * edge).epsilon(2e-6));
      CHECK(step.energy_error() < 1e-5);
    }
  }
}

OSSATURA_BACKEND_TEST("Bone that yielded unloads with the elastic stiffness, and loads again to "
                      "where it was",
                      "[strength]") {
  const TestType exec;
  auto model = reference::homogeneous({4, 4, 5}, modulus, poisson, edge);
  for (const int hole : {5, 21, 25, 42, 47})
    model.modulus[std::size_t(hole)] = 0;
  MechanicalTest test;
  test.strain = -0.015;
  LoadedSpecimen<TestType> bone(exec, model, test, with_law(YieldCriterion::drucker_prager, 0.05));
  bone.run(exec, 4);
  const StrengthStep top = bone.solver.present();
  CHECK(top.changed_fraction > 0.5);
  const StrengthStep below = bone.solver.advance(exec, 0.9), twice = bone.solver.advance(exec, 0.8);
  const double elastic = *bone.solver.elastic_response()->stiffness;
  const auto slope = [](const StrengthStep& a, const StrengthStep& b) {
    return (*b.response->force - *a.response->force) /
           (*b.response->displacement - *a.response->displacement);
  };
  CHECK(slope(top, below) == Approx(elastic).epsilon(1e-5));
  CHECK(slope(below, twice) == Approx(elastic).epsilon(1e-5));
  CHECK(twice.dissipation == Approx(top.dissipation).epsilon(1e-6));
  const StrengthStep back = bone.solver.advance(exec, 1);
  CHECK(*back.response->force == Approx(*top.response->force).epsilon(1e-5));
  CHECK(bone.solver.advance(exec, 1.2).dissipation > 1.1 * top.dissipation);
}

OSSATURA_BACKEND_TEST("Newton's method converges quadratically, and work is accounted for",
                      "[strength]") {
  const TestType exec;
  const auto model = reference::random_model({5, 5, 5}, 0.85, 3, 0.3, 0.3, 11, edge);
  StrengthOptions options = with_law(YieldCriterion::drucker_prager, 0.05);
  options.tolerance = 1e-13;
  options.linear_tolerance = 1e-11;
  MechanicalTest test;
  test.strain = -0.015;
  LoadedSpecimen<TestType> bone(exec, ossatura::test::keep_supported(model), test, options);
  int quadratic = 0;
  for (const StrengthStep& step : bone.run(exec, 6)) {
    CHECK(step.converged);
    CHECK(step.num_halvings == 0);
    CHECK(step.newton_iterations <= 10);
    CHECK(step.energy_error() < 1e-5);
    // Residuals are of order one where a step starts, so that the constant is not large.
    const std::vector<double>& r = step.residuals;
    for (std::size_t i = 0; i + 1 < r.size(); ++i)
      if (r[i] < 2e-3 && r[i + 1] > 1e-14) {
        CHECK(r[i + 1] < 300 * r[i] * r[i]);
        ++quadratic;
      }
  }
  CHECK(quadratic >= 4);
}

OSSATURA_BACKEND_TEST(
    "Another solver goes on from a state with the same bits, or a step that was interrupted",
    "[strength]") {
  const TestType exec;
  const auto model = ossatura::test::keep_supported(
      reference::random_model({4, 4, 5}, 0.85, 3, 0.3, 0.3, 11, edge));
  for (const bool breaks : {false, true}) {
    StrengthOptions options = with_law(YieldCriterion::drucker_prager, 0.05);
    options.keeps_state = true;
    options.tolerance = 1e-8;
    if (breaks) {
      options.law.criterion = YieldCriterion::damage;
      options.law.hardening = 0;
      options.law.fracture_energy = 20 * least_fracture_energy(options.law, edge, modulus);
    }
    LoadedSpecimen<TestType> bone(exec, model, axial(-0.02), options);
    bone.solver.advance(exec, 0.3);
    bone.solver.advance(exec, 0.5);
    const StrengthState half = bone.solver.state(exec);
    struct Stop {};
    int calls = 0;
    CHECK_THROWS_AS(bone.solver.advance(exec, 0.7,
                                        [&](int, double) {
                                          if (++calls == 3)
                                            throw Stop();
                                        }),
                    Stop);
    const StrengthStep then = bone.solver.advance(exec, 0.7);
    const StrengthState end = bone.solver.state(exec);
    CHECK(end.present.dissipation > half.present.dissipation);

    FreshSpecimen<TestType> of_other(exec, model, axial(-0.02), options);
    StrengthSolver<TestType>& other = of_other.solver;
    CHECK(other.set_state(exec, half) == 1);
    const StrengthStep again = other.advance(exec, 0.7);
    CHECK(again.residuals == then.residuals);
    CHECK(*again.response->force == *then.response->force);
    CHECK(again.dissipation == then.dissipation);
    CHECK(again.external_work == then.external_work);
    const StrengthState same = other.state(exec);
    CHECK(same.u == end.u);
    CHECK(same.before == end.before);
    CHECK(same.voxels.flag == end.voxels.flag);
    CHECK(same.voxels.value == end.voxels.value);

    // Twice the displacements: what was half of them is a quarter.
    FreshSpecimen<TestType> of_farther(exec, model, axial(-0.04), options);
    StrengthSolver<TestType>& farther = of_farther.solver;
    CHECK(farther.set_state(exec, half) == Approx(0.5).epsilon(1e-12));
    const StrengthStep near = farther.advance(exec, 0.35);
    CHECK(near.factor == Approx(0.35));
    CHECK(*near.response->force == Approx(*then.response->force).epsilon(1e-6));
    CHECK(*near.response->strain == Approx(-0.014));
    CHECK(near.external_work == Approx(then.external_work).epsilon(1e-6));
    CHECK(near.energy_error() < 1e-5);
    CHECK(*farther.elastic_response()->force ==
          Approx(2 * *bone.solver.elastic_response()->force).epsilon(1e-6));

    MechanicalTest sideways;
    sideways.kind = TestKind::shear;
    sideways.direction = 0;
    FreshSpecimen<TestType> sheared(exec, model, sideways, options);
    CHECK_THROWS_AS(sheared.solver.set_state(exec, half), std::invalid_argument);
    StrengthState damaged = half;
    damaged.voxels.value.pop_back();
    CHECK_THROWS_AS(other.set_state(exec, damaged), std::invalid_argument);
  }
}

OSSATURA_BACKEND_TEST("A plate with a hole agrees with the oracle's Newton solver", "[strength]") {
  const TestType exec;
  for (const double tension : {0.0081, 0.0033}) {
    auto model = reference::homogeneous({6, 1, 8}, modulus, poisson, edge);
    for (const int z : {3, 4})
      for (const int x : {2, 3})
        model.modulus[std::size_t(model.voxel(x, 0, z))] = 0;
    model.modulus[std::size_t(model.voxel(5, 0, 6))] = 400;
    ossatura::test::BoundaryProblem plate(model);
    plate.clamp_plane(2, 0);
    for (int c = 0; c < 3; ++c)
      plate.hold_plane(2, 8, c, c == 2 ? 0.012 * 8 * edge : 0);

    StrengthOptions options = with_law(YieldCriterion::drucker_prager, 0.02);
    options.law.tension = tension;
    const VoxelProblem<TestType> problem = ossatura::test::upload_problem(exec, plate);
    BoneLoad<TestType> load;
    load.u = ossatura::test::to_compact(exec, problem.grid, model, plate.u);
    StrengthSolver<TestType> solver(exec, problem, load, options, tight_solver());
    CHECK(solver.solve_elastic(exec).converged);

    const YieldCone cone = make_yield_cone(options.law);
    reference::PlasticBody oracle(model, {cone.pressure, cone.strength, cone.hardening},
                                  plate.held);
    for (const double factor : {0.3, 0.6, 1.0, 0.7}) {
      CHECK(solver.advance(exec, factor).converged);
      std::vector<double> u = plate.u;
      for (double& value : u)
        value *= factor;
      oracle.load(u);
      const BoneSolution<TestType> solution = solver.evaluate(exec);
      CHECK(reference::relative_difference(
                ossatura::test::to_lattice(problem.grid, model, solution.displacement),
                oracle.u()) < 1e-5);
      CHECK(ossatura::test::sum_plane(
                model, ossatura::test::to_lattice(problem.grid, model, solution.force), 2, 8, 2) ==
            Approx(ossatura::test::sum_plane(model, oracle.force(), 2, 8, 2)).epsilon(1e-5));
    }
    CHECK(solver.present().changed_fraction > 0.2);
  }
}

OSSATURA_BACKEND_TEST("Without hardening a body reaches its limit load, in any precision",
                      "[strength]") {
  const TestType exec;
  auto model = reference::homogeneous({4, 4, 8}, modulus, poisson, edge);
  for (int i = 0; i < 16; ++i) // a neck
    for (const int z : {2, 3, 4, 5})
      if (i % 4 == 0 || i % 4 == 3)
        model.modulus[std::size_t(16 * z + i)] = 0;
  for (const Precision precision : {Precision::lean, Precision::mixed, Precision::fp64}) {
    VoxelSolverOptions linear = fastest_voxel_options<TestType>();
    linear.precision = precision;
    StrengthOptions options = with_law(YieldCriterion::von_mises, 0);
    options.tolerance = 1e-6;
    LoadedSpecimen<TestType> bone(exec, model, axial(-0.03), options, linear);
    const auto steps = bone.run(exec, 12);
    for (const StrengthStep& step : steps)
      CHECK(step.converged);
    const auto found = find_strength(*bone.solver.elastic_response(), steps);
    REQUIRE(found);
    CHECK_FALSE(found->still_rises);
    // The neck is half of the section: bounds of limit analysis around it.
    const double section = 0.0081 * modulus * 8 * edge * edge;
    CHECK(-found->ultimate.force > section * 0.99);
    CHECK(-found->ultimate.force < section * 2 / std::sqrt(3.0) * 1.05);
    REQUIRE(found->yield);
    CHECK(-found->yield->force < -found->ultimate.force * 1.001);
    CHECK(-found->yield->strain > 0.002);
  }
}

OSSATURA_BACKEND_TEST("Voxels that stay elastic are in series with those that yield",
                      "[strength]") {
  // Confined, each layer is strained along the axis alone. Beyond yield a layer of von Mises'
  // criterion without hardening has the slope of its bulk modulus.
  const TestType exec;
  const double mu = modulus / (2 * (1 + poisson)), bulk = modulus / (3 * (1 - 2 * poisson)),
               confined = bulk + 4 * mu / 3;
  const auto model = reference::homogeneous({2, 2, 5}, modulus, poisson, edge);
  MechanicalTest test;
  test.kind = TestKind::confined;
  test.strain = -0.03;
  const StrengthOptions options = with_law(YieldCriterion::von_mises, 0);
  VoxelProblem<TestType> problem =
      make_voxel_problem(exec, ossatura::test::upload_material(exec, model), edge);
  const BoneLoad<TestType> load = load_by_test(exec, test, problem);
  std::vector<std::uint8_t> elastic(std::size_t(problem.grid.num_nodes), 0);
  const auto sites = ossatura::test::host_sites(problem.grid);
  for (std::size_t n = 0; n < sites.size(); ++n)
    elastic[n] = std::get<2>(sites[n]) >= 3;
  StrengthSolver<TestType> solver(exec, problem, load, options, tight_solver(),
                                  upload(exec, "test::elastic", elastic));
  CHECK(solver.solve_elastic(exec).converged);
  const double stress_at_yield = options.law.compression * modulus,
               strain_at_yield = stress_at_yield / (2 * mu);
  for (int k = 1; k <= 6; ++k) {
    const StrengthStep step = solver.advance(exec, k / 6.0);
    CHECK(step.converged);
    const double mean = 0.03 * k / 6; // of five layers, two of which are elastic
    double stress = confined * mean;
    if (mean > strain_at_yield) // 5 mean = 3 (stress - 2/3 Y) / K + 2 stress / M
      stress = (5 * mean + 2 * stress_at_yield / bulk) / (3 / bulk + 2 / confined);
    REQUIRE(step.response);
    CHECK(-*step.response->force == Approx(stress * 4 * edge * edge).epsilon(1e-6));
    CHECK(step.changed_fraction == (mean > strain_at_yield));
    CHECK(step.energy_error() < 1e-4);
  }
  const BoneSolution<TestType> solution = solver.evaluate(exec);
  const auto plastic = ossatura::test::host_values(solution.fields.plastic_strain);
  const auto element = ossatura::test::host_values(solution.fields.element);
  for (std::size_t e = 0; e < element.size(); ++e)
    CHECK((plastic[e] > 0) == (elastic[std::size_t(element[e])] == 0));
  std::fill(elastic.begin(), elastic.end(), std::uint8_t(1));
  CHECK_THROWS(StrengthSolver<TestType>(exec, problem, load, options, tight_solver(),
                                        upload(exec, "test::elastic", elastic)));
}

OSSATURA_BACKEND_TEST("What cannot be loaded to its strength is refused", "[strength]") {
  const TestType exec;
  const auto model = reference::homogeneous({2, 2, 2}, modulus, poisson, edge);
  VoxelProblem<TestType> problem =
      make_voxel_problem(exec, ossatura::test::upload_material(exec, model), edge);
  BoneLoad<TestType> load = load_by_test(exec, axial(-0.01), problem);
  StrengthOptions options;
  options.law.tension = 0.0027; // the cone would never close
  CHECK_THROWS(StrengthSolver<TestType>(exec, problem, load, options));
  options.law.tension = 0.0028;
  options.law.hardening = 1;
  CHECK_THROWS(StrengthSolver<TestType>(exec, problem, load, options));
  options.law.hardening = 0;
  StrengthSolver<TestType> solver(exec, problem, load, options);
  CHECK_THROWS(solver.advance(exec, 1)); // not solved without yield yet
  load.force = make_zeros<double>(exec, problem.grid.num_dofs(), "test::force");
  CHECK_THROWS(StrengthSolver<TestType>(exec, problem, load, options));
}

OSSATURA_BACKEND_TEST("A step that is interrupted leaves the step before", "[strength]") {
  const TestType exec;
  LoadedSpecimen<TestType> bone(exec, reference::homogeneous({4, 4, 4}, modulus, poisson, edge),
                                axial(-0.02), with_law(YieldCriterion::von_mises, 0.05));
  bone.solver.advance(exec, 0.3);
  const StrengthStep before = bone.solver.advance(exec, 0.35);
  struct Stop {};
  CHECK_THROWS_AS(bone.solver.advance(exec, 0.9, [](int, double) { throw Stop(); }), Stop);
  CHECK(bone.solver.present().factor == before.factor);
  CHECK(*bone.solver.evaluate(exec).response->force ==
        Approx(*before.response->force).epsilon(1e-6));
  const StrengthStep after = bone.solver.advance(exec, 0.9);
  CHECK(after.converged);
  CHECK(*after.response->force ==
        Approx(bar(with_law(YieldCriterion::von_mises, 0.05).law, -0.018) * 4).epsilon(1e-5));
}

} // namespace
