// SPDX-License-Identifier: Apache-2.0
// Strength with damage: closed forms of one voxel and of bars with a weak layer, the fracture
// energy, energies, snap-back, and a plate with a notch against an oracle.
#include "tests/backend_test.hpp"
#include "tests/reference/damaged_voxels.hpp"
#include "tests/solvers/bone/boundary_problem.hpp"
#include <ossatura/solvers/bone/strength.hpp>

#include <cmath>

namespace {

using namespace ossatura;

constexpr double young = 1000, cube = 0.5, section_area = cube * cube; // MPa, mm, mm2

VoxelSolverOptions exact_solver() {
  VoxelSolverOptions options;
  options.cg.tolerance = 1e-11;
  options.precision = Precision::fp64;
  return options;
}

/// Of a voxel that breaks in tension at `broken` times the strain at which damage begins.
StrengthOptions with_damage(double broken, double h = cube) {
  StrengthOptions options;
  options.law.criterion = YieldCriterion::damage;
  options.law.hardening = 0;
  options.law.fracture_energy = broken * least_fracture_energy(options.law, h, young);
  options.tolerance = 1e-8;
  return options;
}

template<class Exec>
struct DamagedSpecimen {
  VoxelProblem<Exec> problem;
  BoneLoad<Exec> load;
  StrengthSolver<Exec> solver;

  DamagedSpecimen(const Exec& exec, const reference::Model& model, double strain,
                  const StrengthOptions& options, const VoxelSolverOptions& linear = exact_solver())
      : problem(make_voxel_problem(exec, ossatura::test::upload_material(exec, model), model.edge))
      , load(load_by_test(exec, axial_test(strain), problem))
      , solver(exec, problem, load, options, linear) {
    CHECK(solver.solve_elastic(exec).converged);
  }

  static MechanicalTest axial_test(double strain) {
    MechanicalTest test;
    test.lateral_free = true;
    test.strain = strain;
    return test;
  }
};

OSSATURA_BACKEND_TEST("A voxel softens, unloads to the origin, loads again and breaks as its law "
                      "says",
                      "[damage]") {
  const TestType exec;
  const double broken = 5;
  const StrengthOptions options = with_damage(broken);
  for (const bool pulls : {true, false}) {
    const double begin = pulls ? options.law.tension : -options.law.compression;
    DamagedSpecimen<TestType> bone(exec, reference::homogeneous({1, 1, 1}, young, 0.3, cube), begin,
                                   options);
    double most = 1;
    for (const double r : {0.5, 1.0, 2.0, 1.2, 0.1, -0.3, 1.9, 3.0, 0.5, 4.5, 5.0, 6.0, 1.0}) {
      // Beyond zero the cone has another strain, far from here.
      const StrengthStep step = bone.solver.advance(exec, r);
      CHECK(step.converged);
      most = std::max(most, r);
      const double left = std::max(broken_stiffness, (broken / most - 1) / (broken - 1));
      CHECK(*step.response->force == Approx(left * r * young * begin * section_area).epsilon(2e-6));
      CHECK(step.changed_fraction == (most > 1));
      CHECK(step.broken_fraction == (most >= broken));
      CHECK(step.mean_change == Approx(1 - left).epsilon(1e-6));
      CHECK(step.energy_error() < 1e-6);
      const BoneSolution<TestType> solution = bone.solver.evaluate(exec);
      CHECK(*solution.response->force == Approx(*step.response->force).epsilon(1e-6));
      CHECK(solution.strain_energy == Approx(step.elastic_energy).epsilon(1e-6));
      CHECK(double(ossatura::test::host_values(solution.fields.damage)[0]) ==
            Approx(1 - left).epsilon(1e-6));
      CHECK(double(ossatura::test::host_values(solution.fields.stress)[2]) ==
            Approx(left * r * young * begin).epsilon(1e-5));
      CHECK(double(ossatura::test::host_values(solution.fields.effective_strain)[0]) ==
            Approx(std::abs(r * begin)).epsilon(1e-5));
    }
  }
}

OSSATURA_BACKEND_TEST("A voxel of any edge takes the fracture energy by its section in tension",
                      "[damage]") {
  const TestType exec;
  for (const double h : {0.1, 0.5})
    for (const double stiff : {500.0, 1000.0}) {
      StrengthOptions options = with_damage(4, 0.5);
      const double energy = options.law.fracture_energy;
      const double broken = 2 * energy / (h * stiff * std::pow(options.law.tension, 2));
      DamagedSpecimen<TestType> bone(exec, reference::homogeneous({1, 1, 1}, stiff, 0.2, h),
                                     options.law.tension, options);
      bone.solver.advance(exec, 1); // the curve is straight from here on, almost to its end
      bone.solver.advance(exec, broken * (1 - 2 * broken_stiffness * (broken - 1)));
      const StrengthStep end = bone.solver.advance(exec, broken);
      CHECK(end.broken_fraction == 1);
      CHECK(end.external_work == Approx(energy * h * h).epsilon(1e-6));
      // What is left of the stiffness holds some energy yet.
      CHECK(end.dissipation + end.elastic_energy == Approx(energy * h * h).epsilon(1e-6));
      CHECK(end.elastic_energy < 1e-3 * energy * h * h);
    }
}

/// A bar along z of 4 mm with one layer of nine tenths of the modulus, at the middle, and so of the
/// strength. The force of the closed form at a displacement, with the layer in series.
struct WeakBar {
  static constexpr double soft = 0.9 * young;
  double h, energy, tension, length = 4, section = 1;

  reference::Model model() const {
    const int across = int(std::lround(1 / h)), along = int(std::lround(length / h));
    auto bar = reference::homogeneous({across, across, along}, young, 0, h);
    for (int i = 0; i < across * across; ++i)
      bar.modulus[std::size_t(along / 2 * across * across + i)] = soft;
    return bar;
  }
  double force(double displacement) const {
    const double rest = (length - h) / young;
    const double broken = 2 * energy / (h * soft * tension * tension);
    const double elastic = displacement / (rest + h / soft);
    if (elastic <= soft * tension)
      return section * elastic;
    // stress = soft tension (broken - r) / (broken - 1), displacement = stress rest + r tension h
    const double slope = soft * tension / (broken - 1);
    const double r = (displacement - slope * broken * rest) / (tension * h - slope * rest);
    return section * std::max(0.0, slope * (broken - r));
  }
};

OSSATURA_BACKEND_TEST("A bar with a weak layer has the curve of the closed form, which voxels of "
                      "any size share",
                      "[damage]") {
  const TestType exec;
  StrengthOptions options = with_damage(1);
  options.law.fracture_energy = 8 * least_fracture_energy(options.law, 1, young);
  std::vector<double> coarse;
  for (const double h : {1.0, 0.5}) {
    const WeakBar bar{h, options.law.fracture_energy, options.law.tension};
    DamagedSpecimen<TestType> bone(exec, bar.model(), 0.008, options);
    for (int k = 1; k <= 16; ++k) {
      const StrengthStep step = bone.solver.advance(exec, k / 16.0);
      CHECK(step.converged);
      CHECK(step.num_halvings == 0);
      CHECK(step.energy_error() < 1e-5);
      const double force = *step.response->force, top = WeakBar::soft * bar.tension;
      CHECK(std::abs(force - bar.force(*step.response->displacement)) < 3e-4 * top);
      if (h == 1)
        coarse.push_back(force);
      else // the layer is thinner, and less soft in all
        CHECK(std::abs(force - coarse[std::size_t(k - 1)]) < 0.03 * top);
    }
    const StrengthStep& end = bone.solver.present();
    CHECK(end.broken_fraction == Approx(h / 4));
    CHECK(end.dissipation == Approx(options.law.fracture_energy).epsilon(0.02));
  }
}

OSSATURA_BACKEND_TEST("A long bar snaps back: a step ends beyond it, with work accounted for",
                      "[damage]") {
  const TestType exec;
  StrengthOptions options = with_damage(1);
  options.law.fracture_energy = 1.5 * least_fracture_energy(options.law, 1, young);
  const WeakBar bar{1, options.law.fracture_energy, options.law.tension};
  DamagedSpecimen<TestType> bone(exec, bar.model(), 0.0036, options);
  double most = 0;
  for (int k = 1; k <= 20; ++k) {
    const StrengthStep step = bone.solver.advance(exec, k / 20.0);
    CHECK(step.converged);
    CHECK(step.energy_error() < 1e-5);
    most = std::max(most, *step.response->force);
  }
  CHECK(bone.solver.present().broken_fraction == 0.25);
  CHECK(most > 0.94 * WeakBar::soft * bar.tension);
  CHECK(*bone.solver.present().response->force < 1e-3 * most);
  // More than the crack takes: what would fly off.
  CHECK(bone.solver.present().dissipation > options.law.fracture_energy);
}

OSSATURA_BACKEND_TEST("A notched plate breaks as the oracle's does", "[damage]") {
  const TestType exec;
  auto model = reference::homogeneous({5, 1, 6}, young, 0.3, cube);
  for (const int x : {0, 1})
    model.modulus[std::size_t(model.voxel(x, 0, 3))] = 0;
  model.modulus[std::size_t(model.voxel(4, 0, 4))] = 400;
  ossatura::test::BoundaryProblem plate(model);
  plate.clamp_plane(2, 0);
  for (int c = 0; c < 3; ++c)
    plate.hold_plane(2, 6, c, c == 2 ? 0.006 * 6 * cube : 0);
  const StrengthOptions options = with_damage(12);
  const VoxelProblem<TestType> problem = ossatura::test::upload_problem(exec, plate);
  BoneLoad<TestType> load;
  load.u = ossatura::test::to_compact(exec, problem.grid, model, plate.u);
  StrengthSolver<TestType> solver(exec, problem, load, options, exact_solver());
  CHECK(solver.solve_elastic(exec).converged);
  reference::DamagedBody oracle(
      model, {options.law.tension, options.law.compression, options.law.fracture_energy},
      broken_stiffness, plate.held);
  double before = 0;
  for (const double factor : {0.2, 0.4, 0.7, 1.0, 0.5}) {
    CHECK(solver.advance(exec, factor).converged);
    std::vector<double> u = plate.u;
    for (double& value : u)
      value *= factor;
    oracle.load(u, before == 0 ? 0 : factor / before);
    before = factor;
    const BoneSolution<TestType> solution = solver.evaluate(exec);
    CHECK(reference::relative_difference(
              ossatura::test::to_lattice(problem.grid, model, solution.displacement), oracle.u()) <
          1e-5);
    CHECK(ossatura::test::sum_plane(
              model, ossatura::test::to_lattice(problem.grid, model, solution.force), 2, 6, 2) ==
          Approx(ossatura::test::sum_plane(model, oracle.force(), 2, 6, 2)).epsilon(1e-5));
    CHECK(solver.present().energy_error() < 1e-5);
  }
  CHECK(solver.present().changed_fraction > 0.1);
  CHECK(solver.present().mean_change > 0.03);
}

OSSATURA_BACKEND_TEST("Porous bone is crushed to nothing, in any precision", "[damage]") {
  const TestType exec;
  const auto model = ossatura::test::keep_supported(
      reference::random_model({5, 5, 6}, 0.75, 1, 0.3, 0.3, 11, 0.06));
  StrengthOptions options = with_damage(1);
  options.law.fracture_energy = 8 * least_fracture_energy(options.law, 0.06, 1);
  options.tolerance = 1e-6;
  double most[2] = {}, work[2] = {};
  for (const bool is_lean : {false, true}) {
    VoxelSolverOptions linear;
    linear.precision = is_lean ? Precision::lean : Precision::fp64;
    DamagedSpecimen<TestType> bone(exec, model, -0.04, options, linear);
    for (int k = 1; k <= 8; ++k) {
      const StrengthStep step = bone.solver.advance(exec, k / 8.0);
      CHECK(step.converged);
      CHECK(step.energy_error() < 1e-4);
      most[is_lean] = std::max(most[is_lean], -*step.response->force);
    }
    const StrengthStep& end = bone.solver.present();
    CHECK(end.broken_fraction > 0.01);
    CHECK(-*end.response->force < 0.5 * most[is_lean]);
    work[is_lean] = end.dissipation;
  }
  CHECK(most[1] == Approx(most[0]).epsilon(1e-4));
  CHECK(work[1] == Approx(work[0]).epsilon(0.02));
}

OSSATURA_BACKEND_TEST("A step with damage that is interrupted leaves the step before", "[damage]") {
  const TestType exec;
  auto model = reference::homogeneous({3, 3, 4}, young, 0.3, cube);
  model.modulus[13] = 0;
  DamagedSpecimen<TestType> bone(exec, model, 0.01, with_damage(40));
  bone.solver.advance(exec, 0.3);
  const StrengthStep before = bone.solver.advance(exec, 0.4);
  CHECK(before.changed_fraction > 0);
  struct Stop {};
  int calls = 0;
  CHECK_THROWS_AS(bone.solver.advance(exec, 1,
                                      [&](int, double) {
                                        if (++calls == 10)
                                          throw Stop();
                                      }),
                  Stop);
  CHECK(bone.solver.present().factor == before.factor);
  const BoneSolution<TestType> solution = bone.solver.evaluate(exec);
  CHECK(*solution.response->force == Approx(*before.response->force).epsilon(1e-6));
  CHECK(solution.strain_energy == Approx(before.elastic_energy).epsilon(1e-6));
  CHECK(bone.solver.advance(exec, 0.5).converged);
}

OSSATURA_BACKEND_TEST("Moduli that are given stay as they are, and voxels that are too large are "
                      "refused",
                      "[damage]") {
  const TestType exec;
  const auto model = reference::homogeneous({2, 2, 3}, young, 0.3, cube);
  DamagedSpecimen<TestType> bone(exec, model, 0.01, with_damage(3));
  const auto before = download(exec, bone.problem.lame.mu_value);
  CHECK(bone.solver.advance(exec, 1).mean_change > 0.5);
  CHECK(download(exec, bone.problem.lame.mu_value) == before);
  CHECK_THROWS(StrengthSolver<TestType>(exec, bone.problem, bone.load, with_damage(0.99)));
}

} // namespace
