// SPDX-License-Identifier: Apache-2.0
// Gradients of steps against central differences of whole motions, for every law and parameter, and
// what is refused by name.
#include "tests/backend_test.hpp"
#include "tests/solvers/softbody/soft_bodies.hpp"
#include <ossatura/core/base/require.hpp>

#include <random>
#include <utility>

namespace {

using namespace ossatura;
using namespace ossatura::test;

constexpr int num_steps = 2;

/// A held body that is shaken at its support, and a free one that flies; loads on both.
SoftScene shaken_scene(SoftLaw law) {
  SoftScene scene;
  scene.gravity[2] = -10;
  scene.objects = {soft_body(ElementShape::tetra, law), soft_body(ElementShape::tetra, law)};
  hold(scene.objects[0]);
  scene.objects[1].factor.assign(scene.objects[1].mesh.num_elem(), 1.5);
  for (SoftObject& object : scene.objects) {
    set_velocity(object, [](double x, double y, double z, int c) {
      return c == 0 ? 0.8 * z - y : c == 1 ? 3 * x * x : 0.5 * x;
    });
    object.load.assign(object.mesh.point.size(), 0.02);
  }
  return scene;
}

SoftOptions shaken_options(double damping) {
  SoftOptions options = exact_options();
  options.preconditioner = SoftPreconditioner::block_jacobi;
  options.time_step = 0.02;
  options.newton_iterations = 60;
  options.newton_tolerance = 1e-13;
  options.rayleigh_mass = 2;
  options.rayleigh_stiffness = damping;
  return options;
}

std::vector<double> random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<double> numbers(count);
  for (double& x : numbers)
    x = random() / 2147483648. - 1;
  return numbers;
}

double inner(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

std::vector<double> moved(std::vector<double> values, double step,
                          const std::vector<double>& direction) {
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] += step * direction[i];
  return values;
}

/// A motion of the scene from a state, with the weights of its end.
template<class Exec>
struct Motion {
  const Exec& exec;
  SoftScene scene;
  SoftOptions options;
  std::vector<double> positions, velocities;
  SoftWeights weights;

  Motion(const Exec& space, const SoftScene& shaken, const SoftOptions& given)
      : exec(space)
      , scene(shaken)
      , options(given) {
    const SoftSolver<Exec> solver(exec, scene, options);
    positions = solver.positions(exec);
    velocities = solver.velocities(exec);
    weights = {random_numbers(positions.size(), 1), random_numbers(positions.size(), 2)};
  }

  double objective() const {
    SoftSolver<Exec> solver(exec, scene, options);
    solver.set_state(exec, positions, velocities, 0);
    for (int k = 0; k < num_steps; ++k)
      REQUIRE(solver.step(exec).converged);
    return inner(weights.positions, solver.positions(exec)) +
           inner(weights.velocities, solver.velocities(exec));
  }

  /// By the start, and by constant loads and parameters: sums over the steps.
  SoftStepGradient gradient() const {
    SoftSolver<Exec> solver(exec, scene, options);
    solver.set_state(exec, positions, velocities, 0);
    std::vector<SoftRecord> records;
    for (int k = 0; k < num_steps; ++k) {
      SoftRecord record{solver.velocities(exec), {}, {}};
      const SoftStep step = solver.step(exec);
      REQUIRE((step.converged && step.halvings == 0));
      record.positions = solver.positions(exec);
      record.velocities = solver.velocities(exec);
      records.push_back(record);
    }
    SoftStepGradient sum;
    sum.start = weights;
    for (int k = num_steps; k-- > 0;) {
      SoftStepGradient step = solver.pull_back(exec, records[std::size_t(k)],
                                               {sum.start.positions, sum.start.velocities});
      CHECK(step.converged);
      if (!sum.loads.empty()) {
        step.loads = moved(step.loads, 1, sum.loads);
        for (std::size_t i = 0; i < step.objects.size(); ++i)
          for (double SoftObjectGradient::*value :
               {&SoftObjectGradient::young, &SoftObjectGradient::poisson, &SoftObjectGradient::c1,
                &SoftObjectGradient::c2, &SoftObjectGradient::bulk, &SoftObjectGradient::density})
            step.objects[i].*value += sum.objects[i].*value;
      }
      sum = step;
    }
    CHECK(solver.positions(exec) == records.back().positions); // the state stays
    return sum;
  }
};

/// `found` against the central difference of the objective by what set(motion, +-1) changes.
template<class Exec, class Set>
void check_derivative(const char* what, const Motion<Exec>& motion, double found, const Set& set) {
  INFO(what);
  Motion<Exec> plus = motion, minus = motion;
  set(plus, 0.1);
  set(minus, -0.1);
  const double expected = (plus.objective() - minus.objective()) / 0.2;
  CHECK(std::fabs(found - expected) < 1e-6 * std::fabs(expected));
}

using Parameter = double SoftMaterial::*;
using Derivative = double SoftObjectGradient::*;
constexpr std::pair<Parameter, Derivative> parameters[] = {
    {&SoftMaterial::young, &SoftObjectGradient::young},
    {&SoftMaterial::poisson, &SoftObjectGradient::poisson},
    {&SoftMaterial::c1, &SoftObjectGradient::c1},
    {&SoftMaterial::c2, &SoftObjectGradient::c2},
    {&SoftMaterial::bulk, &SoftObjectGradient::bulk}};

/// Along one direction of all that the motion depends on.
template<class Exec>
void check_law(const Exec& exec, SoftLaw law, double damping) {
  CAPTURE(name_of(law), damping);
  using Changed = Motion<Exec>;
  const Changed motion(exec, shaken_scene(law), shaken_options(damping));
  const SoftStepGradient gradient = motion.gradient();
  const std::vector<double> of_positions = random_numbers(motion.positions.size(), 3),
                            of_velocities = random_numbers(motion.positions.size(), 4),
                            of_load = random_numbers(motion.scene.objects[1].load.size(), 5);
  const auto positions = [&](Changed& m, double s) {
    m.positions = moved(m.positions, 1e-4 * s, of_positions);
  };
  const auto velocities = [&](Changed& m, double s) {
    m.velocities = moved(m.velocities, 1e-2 * s, of_velocities);
  };
  const auto load = [&](Changed& m, double s) {
    m.scene.objects[1].load = moved(m.scene.objects[1].load, 1e-2 * s, of_load);
  };
  // Differently for the two objects, and for each parameter.
  const auto moduli = [&](Changed& m, double s) {
    double part = 1e-3 * s;
    for (SoftObject& object : m.scene.objects)
      for (const auto& [value, by] : parameters)
        object.material.*value *= 1 + (part *= -1.1);
  };
  const auto density = [&](Changed& m, double s) {
    m.scene.objects[0].density += s;
    m.scene.objects[1].density -= 3 * s;
  };
  const double by_positions = 1e-4 * inner(gradient.start.positions, of_positions),
               by_velocities = 1e-2 * inner(gradient.start.velocities, of_velocities),
               by_density = gradient.objects[0].density - 3 * gradient.objects[1].density;
  const double by_load =
      1e-2 *
      inner({gradient.loads.end() - std::ptrdiff_t(of_load.size()), gradient.loads.end()}, of_load);
  double by_moduli = 0, part = 1e-3;
  for (std::size_t k = 0; k < 2; ++k)
    for (const auto& [value, by] : parameters)
      by_moduli +=
          (part *= -1.1) * motion.scene.objects[k].material.*value * gradient.objects[k].*by;
  check_derivative<Exec>("positions", motion, by_positions, positions);
  check_derivative<Exec>("velocities", motion, by_velocities, velocities);
  check_derivative<Exec>("loads", motion, by_load, load);
  check_derivative<Exec>("moduli", motion, by_moduli, moduli);
  check_derivative<Exec>("density", motion, by_density, density);
}

OSSATURA_BACKEND_TEST("Gradients of motions are those of differences", "[step_gradients]") {
  const TestType exec;
  check_law(exec, SoftLaw::stvk, 0);
  check_law(exec, SoftLaw::neo_hookean, 0.01);
  check_law(exec, SoftLaw::mooney_rivlin, 0.01);
}

OSSATURA_BACKEND_TEST("Moduli set anew are those of a new scene", "[step_gradients]") {
  const TestType exec;
  SoftScene scene = shaken_scene(SoftLaw::neo_hookean);
  SoftSolver<TestType> changed(exec, scene, shaken_options(0));
  const std::vector<double> start = changed.positions(exec), velocities = changed.velocities(exec);
  changed.step(exec);
  scene.objects[1].material.young = 3e4;
  scene.objects[1].material.poisson = 0.2;
  changed.set_moduli(exec, 1, scene.objects[1].material);
  changed.set_state(exec, start, velocities, 0);
  changed.step(exec);
  SoftSolver<TestType> made(exec, scene, shaken_options(0));
  made.step(exec);
  const std::vector<double> x = changed.positions(exec), y = made.positions(exec);
  for (std::size_t i = 0; i < x.size(); ++i)
    CHECK(std::fabs(x[i] - y[i]) < 1e-12);
  scene.objects[1].material.poisson = 0.5;
  CHECK_THROWS_WITH(changed.set_moduli(exec, 1, scene.objects[1].material),
                    ContainsSubstring("less than 0.5"));
}

OSSATURA_BACKEND_TEST("A motion goes on after a gradient as from its state", "[step_gradients]") {
  const TestType exec;
  const SoftScene scene = shaken_scene(SoftLaw::neo_hookean);
  SoftOptions options = shaken_options(0);
  options.preconditioner = SoftPreconditioner::ldlt;
  options.refresh = FactorRefresh::every;
  SoftSolver<TestType> one(exec, scene, options), other(exec, scene, options);
  const std::vector<double> start = one.velocities(exec);
  one.step(exec);
  const std::vector<double> x = one.positions(exec), v = one.velocities(exec);
  CHECK(one.pull_back(exec, {start, x, v}, {x, v}).converged);
  other.set_state(exec, one.state(exec));
  one.step(exec);
  other.step(exec);
  CHECK(one.positions(exec) == other.positions(exec));
}

OSSATURA_BACKEND_TEST("Gradients that steps do not have are refused", "[step_gradients]") {
  const TestType exec;
  const auto refusal = [&](const SoftScene& scene, const SoftOptions& options) {
    SoftSolver<TestType> solver(exec, scene, options);
    const std::vector<double> x = solver.positions(exec), v = solver.velocities(exec);
    try {
      solver.pull_back(exec, {v, x, v}, {x, v});
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  SoftScene scene = shaken_scene(SoftLaw::stvk);
  CHECK(refusal(scene, shaken_options(0)) == "taken");
  SoftOptions options = shaken_options(0);
  options.newton_iterations = 1;
  CHECK_THAT(refusal(scene, options), ContainsSubstring("one Newton iteration"));
  scene.contact_between_objects = true;
  options = shaken_options(0);
  options.preconditioner = SoftPreconditioner::ldlt; // which contact needs
  CHECK_THAT(refusal(scene, options), ContainsSubstring("contact"));
  CHECK_THAT(refusal(mixed_scene(), shaken_options(0)),
             ContainsSubstring("'hexa corotational': the corotational law"));
}

} // namespace
