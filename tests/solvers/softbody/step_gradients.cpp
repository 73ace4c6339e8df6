// SPDX-License-Identifier: Apache-2.0
// Gradients of steps against central differences of whole motions, for every law and parameter, and
// what is refused by name.
#include "tests/backend_test.hpp"
#include "tests/solvers/softbody/soft_bodies.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

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

/// Derivatives by the start, loads [points, 3] and parameters. Host memory.
struct Gradient {
  std::vector<double> positions, velocities, loads;
  std::vector<SoftObjectGradient> objects;
};

/// SoftSolver::pull_back() by vectors; adds to `gradient` what is by loads and parameters.
template<class Exec>
SoftStepGradient pull_back(const Exec& exec, SoftSolver<Exec>& solver,
                           const SoftRecord<Exec>& record, Gradient& gradient) {
  const auto weights = [&](const std::vector<double>& values) {
    return upload(exec, "weights", values);
  };
  const SoftWeights<Exec> by{weights(gradient.positions), weights(gradient.velocities)};
  const auto by_loads = make_zeros<double>(exec, std::int64_t(gradient.positions.size()), "loads");
  SoftStepGradient step = solver.pull_back(exec, record, by, by_loads);
  gradient.positions = download(exec, by.positions);
  gradient.velocities = download(exec, by.velocities);
  gradient.loads.resize(gradient.positions.size());
  gradient.loads = moved(gradient.loads, 1, download(exec, by_loads));
  gradient.objects.resize(step.objects.size());
  for (std::size_t i = 0; i < step.objects.size(); ++i)
    for (double SoftObjectGradient::*value :
         {&SoftObjectGradient::young, &SoftObjectGradient::poisson, &SoftObjectGradient::c1,
          &SoftObjectGradient::c2, &SoftObjectGradient::bulk, &SoftObjectGradient::density})
      gradient.objects[i].*value += step.objects[i].*value;
  return step;
}

/// The present positions or velocities in an array of their own.
template<class Exec>
Array<double, Exec> kept(const Exec& exec, const std::vector<double>& values) {
  return upload(exec, "kept", values);
}

/// A motion of the scene from a state, with the weights of its end.
template<class Exec>
struct Motion {
  const Exec& exec;
  SoftScene scene;
  SoftOptions options;
  std::vector<double> positions, velocities;
  std::vector<double> by_positions, by_velocities; ///< of its end

  Motion(const Exec& space, const SoftScene& shaken, const SoftOptions& given)
      : exec(space)
      , scene(shaken)
      , options(given) {
    const SoftSolver<Exec> solver(exec, scene, options);
    positions = solver.positions(exec);
    velocities = solver.velocities(exec);
    by_positions = random_numbers(positions.size(), 1);
    by_velocities = random_numbers(positions.size(), 2);
  }

  double objective() const {
    SoftSolver<Exec> solver(exec, scene, options);
    solver.set_state(exec, positions, velocities, 0);
    for (int k = 0; k < num_steps; ++k)
      REQUIRE(solver.step(exec).converged);
    return inner(by_positions, solver.positions(exec)) +
           inner(by_velocities, solver.velocities(exec));
  }

  /// By the start, and by constant loads and parameters: sums over the steps.
  Gradient gradient() const {
    SoftSolver<Exec> solver(exec, scene, options);
    solver.set_state(exec, positions, velocities, 0);
    std::vector<SoftRecord<Exec>> records;
    for (int k = 0; k < num_steps; ++k) {
      SoftRecord<Exec> record{kept(exec, solver.velocities(exec)), {}, {}};
      const SoftStep step = solver.step(exec);
      REQUIRE((step.converged && step.halvings == 0));
      record.positions = kept(exec, solver.positions(exec));
      record.velocities = kept(exec, solver.velocities(exec));
      records.push_back(record);
    }
    Gradient sum{by_positions, by_velocities, {}, {}};
    for (int k = num_steps; k-- > 0;)
      CHECK(pull_back(exec, solver, records[std::size_t(k)], sum).converged);
    CHECK(solver.positions(exec) == download(exec, records.back().positions)); // the state stays
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
  const Gradient gradient = motion.gradient();
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
  const double by_positions = 1e-4 * inner(gradient.positions, of_positions),
               by_velocities = 1e-2 * inner(gradient.velocities, of_velocities),
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

OSSATURA_BACKEND_TEST("Loads, motions and states by arrays are those by vectors",
                      "[step_gradients]") {
  const TestType exec;
  const SoftScene scene = shaken_scene(SoftLaw::neo_hookean);
  SoftSolver<TestType> one(exec, scene, shaken_options(0)), other(exec, scene, shaken_options(0));
  const std::size_t n = one.positions(exec).size();
  const std::vector<double> load = random_numbers(n, 6), drive = random_numbers(n, 7);
  const std::vector<double> x = moved(one.positions(exec), 1e-3, random_numbers(n, 8));
  one.set_state(exec, x, drive, 0);
  one.set_loads(exec, load);
  one.set_fixed_velocities(exec, drive);
  other.set_state(exec, kept(exec, x), kept(exec, drive), 0);
  other.set_loads(exec, kept(exec, load));
  other.set_fixed_velocities(exec, kept(exec, drive));
  const auto out = make_zeros<double>(exec, std::int64_t(n), "out");
  other.positions(exec, out);
  CHECK(download(exec, out) == x);
  one.step(exec);
  other.step(exec);
  other.velocities(exec, out);
  CHECK(download(exec, out) == one.velocities(exec));
  std::vector<double> wrong = load;
  wrong[7] = std::nan("");
  CHECK_THROWS_WITH(one.set_loads(exec, wrong), ContainsSubstring("loads: that of point 2"));
  CHECK_THROWS_AS(one.set_state(exec, {1, 2, 3}, drive, 0), std::invalid_argument);
}

OSSATURA_BACKEND_TEST("A motion goes on after a gradient as from its state", "[step_gradients]") {
  const TestType exec;
  const SoftScene scene = shaken_scene(SoftLaw::neo_hookean);
  SoftOptions options = shaken_options(0);
  options.preconditioner = SoftPreconditioner::ldlt;
  options.refresh = FactorRefresh::every;
  SoftSolver<TestType> one(exec, scene, options), other(exec, scene, options);
  const auto start = kept(exec, one.velocities(exec));
  one.step(exec);
  Gradient weights{one.positions(exec), one.velocities(exec), {}, {}};
  const SoftRecord<TestType> taken{start, kept(exec, weights.positions),
                                   kept(exec, weights.velocities)};
  CHECK(pull_back(exec, one, taken, weights).converged);
  other.set_state(exec, one.state(exec));
  one.step(exec);
  other.step(exec);
  CHECK(one.positions(exec) == other.positions(exec));
}

OSSATURA_BACKEND_TEST("Gradients that steps do not have are refused", "[step_gradients]") {
  const TestType exec;
  const auto refusal = [&](const SoftScene& scene, const SoftOptions& options) {
    SoftSolver<TestType> solver(exec, scene, options);
    Gradient weights{solver.positions(exec), solver.velocities(exec), {}, {}};
    const auto x = kept(exec, weights.positions), v = kept(exec, weights.velocities);
    try {
      pull_back(exec, solver, {v, x, v}, weights);
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
