// SPDX-License-Identifier: Apache-2.0
// The motion of soft bodies: every step satisfies the equation of backward Euler, momentum is kept,
// energy decays, the time step converges, Newton's method does.
#include "tests/backend_test.hpp"
#include "tests/kernels/softbody/elements/soft_cases.hpp"
#include "tests/solvers/softbody/soft_bodies.hpp"

namespace {

using namespace ossatura;
using namespace ossatura::test;

struct Kind {
  ElementShape shape;
  SoftLaw law;
};
const Kind kinds[] = {
    {ElementShape::triangle, SoftLaw::corotational}, {ElementShape::tetra, SoftLaw::corotational},
    {ElementShape::hexa, SoftLaw::corotational},     {ElementShape::tetra, SoftLaw::stvk},
    {ElementShape::tetra, SoftLaw::mooney_rivlin},   {ElementShape::tetra, SoftLaw::neo_hookean}};

/// A swinging, stretching motion.
double swing(double x, double y, double z, int c) {
  return c == 0   ? 0.5 * x - y + 0.3 * std::sin(20 * z)
         : c == 1 ? 1 + x - 0.2 * std::sin(15 * x)
                  : 0.4 * x * y + 0.2 * std::cos(9 * y);
}

/// f + scale K v at x, summed at the points of a body; K with all tension, or, in a step of one
/// iteration, with that of the step before, which ended with `last_v`, less what a step carries.
template<class Exec>
std::vector<double> point_forces(const Exec& exec, const SoftObject& body,
                                 const std::vector<double>& x, const std::vector<double>& v,
                                 double scale, double step = 0,
                                 const std::vector<double>& last_v = {}) {
  auto elements = make_soft_elements(exec, body.mesh, body.material, body.factor);
  if (step > 0)
    elements.spared_tension = body.density / (2 * step * scale);
  elements.last_step = step;
  SoftResult result = evaluate(exec, elements, x, step > 0 ? last_v : v);
  std::vector<double> slot_v;
  for (const std::int32_t node : body.mesh.node)
    slot_v.insert(slot_v.end(), v.begin() + 3 * node, v.begin() + 3 * node + 3);
  const std::vector<double> damping = result.times(slot_v);
  std::vector<double> sum(x.size(), 0.0);
  for (std::size_t i = 0; i < damping.size(); ++i)
    sum[3 * std::size_t(body.mesh.node[i / 3]) + i % 3] += result.force[i] + scale * damping[i];
  return sum;
}

/// What is left of m (v1 - v0) / h + alpha m v1 + (f + s K v1) - load at points that are free, in
/// parts of the largest inertia. `force`: f + s K v1.
double imbalance(const SoftScene& scene, const SoftOptions& options, const std::vector<double>& v0,
                 const std::vector<double>& v1, const std::vector<double>& force) {
  const SoftObject& body = scene.objects[0];
  const std::vector<double> mass = masses(body);
  double worst = 0, size = 0;
  for (std::size_t i = 0; i < v0.size(); ++i) {
    if (std::count(body.fixed.begin(), body.fixed.end(), int(i / 3)) > 0)
      continue;
    const double m = mass[i / 3], inertia = m * (v1[i] - v0[i]) / options.time_step;
    const double load = m * scene.gravity[i % 3] + (body.load.empty() ? 0 : body.load[i]);
    const double left = inertia + options.rayleigh_mass * m * v1[i] + force[i] - load;
    worst = std::abs(left) <= worst ? worst : std::abs(left);
    size = std::max({size, std::abs(inertia), std::abs(force[i]), std::abs(load)});
  }
  return worst / size;
}

SoftScene held_body(const Kind& kind) {
  SoftScene scene;
  scene.objects = {soft_body(kind.shape, kind.law)};
  hold(scene.objects[0]);
  set_velocity(scene.objects[0], swing);
  scene.objects[0].load.assign(scene.objects[0].mesh.point.size(), 0.0);
  scene.objects[0].load.back() = 0.1;
  scene.gravity[0] = 2;
  scene.gravity[2] = -9;
  return scene;
}

OSSATURA_BACKEND_TEST("Steps satisfy the linearised equation of motion", "[soft_motion]") {
  const TestType exec;
  for (const Kind& kind : kinds)
    for (const SoftAssembly assembly : {SoftAssembly::elements, SoftAssembly::triplets}) {
      const SoftScene scene = held_body(kind);
      const SoftObject& body = scene.objects[0];
      SoftOptions options = exact_options();
      options.assembly = assembly;
      options.rayleigh_mass = 0.7;
      options.rayleigh_stiffness = 0.003;
      INFO(body.name << ", " << name_of(assembly));
      SoftSolver<TestType> solver(exec, scene, options);
      for (int step = 0; step < 2; ++step) {
        const auto x0 = solver.positions(exec), v0 = solver.velocities(exec);
        const SoftStep report = solver.step(exec);
        REQUIRE(report.converged);
        REQUIRE(report.halvings == 0);
        const auto x1 = solver.positions(exec), v1 = solver.velocities(exec);
        const double scale = options.time_step + options.rayleigh_stiffness;
        CHECK(imbalance(scene, options, v0, v1,
                        point_forces(exec, body, x0, v1, scale, options.time_step, v0)) < 1e-10);
        double kept = 0, moved = 0;
        for (std::size_t i = 0; i < x0.size(); ++i)
          moved = std::max(moved, std::abs(x1[i] - x0[i] - options.time_step * v1[i]));
        for (const std::int32_t i : body.fixed)
          for (std::size_t c = 3 * std::size_t(i); c < 3 * std::size_t(i) + 3; ++c)
            kept = std::max({kept, std::abs(x1[c] - body.mesh.point[c]), std::abs(v1[c])});
        CHECK(moved < 1e-15);
        CHECK(kept == 0);
      }
    }
}

OSSATURA_BACKEND_TEST("Loads and fixed points change between steps", "[soft_motion]") {
  const TestType exec;
  SoftScene scene = held_body({ElementShape::tetra, SoftLaw::corotational});
  SoftObject& body = scene.objects[0];
  SoftOptions options = exact_options();
  options.rayleigh_mass = 0.7;
  options.rayleigh_stiffness = 0.003;
  SoftScene unloaded = scene;
  unloaded.objects[0].load.clear();
  SoftSolver<TestType> solver(exec, unloaded, options), loaded(exec, scene, options);
  solver.set_loads(exec, body.load);
  solver.step(exec);
  loaded.step(exec);
  CHECK(solver.velocities(exec) == loaded.velocities(exec));
  CHECK(solver.energy(exec).potential == loaded.energy(exec).potential);

  std::vector<double> driven(body.load.size(), 0.0);
  for (std::size_t i = 0; i < driven.size(); ++i)
    driven[i] = 0.1 * double(i % 3) - 0.2; // of points that are free, too: these do not count
  for (double& force : body.load)
    force += 0.05;
  solver.set_loads(exec, body.load);
  solver.set_fixed_velocities(exec, driven);
  for (int step = 0; step < 2; ++step) {
    const auto x0 = solver.positions(exec), v0 = solver.velocities(exec);
    REQUIRE(solver.step(exec).converged);
    const auto x1 = solver.positions(exec), v1 = solver.velocities(exec);
    const double scale = options.time_step + options.rayleigh_stiffness;
    CHECK(imbalance(scene, options, v0, v1,
                    point_forces(exec, body, x0, v1, scale, options.time_step, v0)) < 1e-10);
    for (const std::int32_t i : body.fixed)
      for (std::size_t c = 3 * std::size_t(i); c < 3 * std::size_t(i) + 3; ++c) {
        CHECK(v1[c] == driven[c]);
        CHECK(x1[c] == Approx(x0[c] + options.time_step * driven[c]).margin(1e-15));
      }
  }
  CHECK_THROWS_WITH(solver.set_loads(exec, {1, 2, 3}), ContainsSubstring("numbers of loads"));
  driven[4] = std::nan("");
  CHECK_THROWS_WITH(solver.set_fixed_velocities(exec, driven),
                    ContainsSubstring("that of point 1 is not finite"));
}

OSSATURA_BACKEND_TEST("Newton's method solves the equation of motion", "[soft_motion]") {
  const TestType exec;
  for (const SoftLaw law : name_table<SoftLaw>.without(SoftLaw::corotational)) {
    const SoftScene scene = held_body({ElementShape::tetra, law});
    const SoftObject& body = scene.objects[0];
    SoftOptions options = exact_options();
    options.rayleigh_mass = 0.7;
    options.time_step = 0.02;
    INFO(body.name);
    int iterations[3], k = 0;
    for (const double tolerance : {1e-3, 1e-6, 1e-11}) {
      options.newton_iterations = 30;
      options.newton_tolerance = tolerance;
      SoftSolver<TestType> solver(exec, scene, options);
      const auto v0 = solver.velocities(exec);
      const SoftStep report = solver.step(exec);
      REQUIRE(report.converged);
      REQUIRE(report.halvings == 0);
      iterations[k++] = report.newton_iterations;
      const auto x1 = solver.positions(exec), v1 = solver.velocities(exec);
      CHECK(imbalance(scene, options, v0, v1, point_forces(exec, body, x1, v1, 0)) <
            20 * tolerance);
    }
    CHECK(iterations[0] > 1);                  // the step is not a linear one
    CHECK(iterations[2] <= iterations[0] + 3); // digits double
    options.newton_iterations = iterations[2] - 1;
    CHECK(!SoftSolver<TestType>(exec, scene, options).step(exec).converged);
  }
}

OSSATURA_BACKEND_TEST("Damping by stiffness is implicit in Newton's method too", "[soft_motion]") {
  const TestType exec;
  const SoftScene scene = held_body({ElementShape::tetra, SoftLaw::stvk});
  SoftOptions options = exact_options();
  options.rayleigh_stiffness = 0.002;
  options.newton_iterations = 60; // the derivative of the damping is left out: linear convergence
  options.newton_tolerance = 1e-9;
  SoftSolver<TestType> solver(exec, scene, options);
  const auto v0 = solver.velocities(exec);
  REQUIRE(solver.step(exec).converged);
  const auto x1 = solver.positions(exec), v1 = solver.velocities(exec);
  const auto force = point_forces(exec, scene.objects[0], x1, v1, options.rayleigh_stiffness);
  CHECK(imbalance(scene, options, v0, v1, force) < 1e-7);
}

/// Sums over the points: momentum (3), angular momentum (3).
std::vector<double> momenta(const SoftObject& body, const std::vector<double>& x,
                            const std::vector<double>& v) {
  const std::vector<double> mass = masses(body);
  std::vector<double> sum(6, 0.0);
  for (std::size_t i = 0; i < mass.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t d = (c + 1) % 3, e = (c + 2) % 3;
      sum[c] += mass[i] * v[3 * i + c];
      sum[3 + c] += mass[i] * (x[3 * i + d] * v[3 * i + e] - x[3 * i + e] * v[3 * i + d]);
    }
  return sum;
}

OSSATURA_BACKEND_TEST("Bodies in free flight keep their momentum", "[soft_motion]") {
  const TestType exec;
  for (const Kind& kind : kinds) {
    SoftScene scene;
    scene.objects = {soft_body(kind.shape, kind.law)};
    set_velocity(scene.objects[0], [](double x, double y, double z, int c) {
      return (c == 0 ? -4 * y : c == 1 ? 4 * x + 1 : 0.3 * x) + 0.1 * std::sin(30 * (x + y + z));
    });
    INFO(scene.objects[0].name);
    double drift[2];
    for (const int halved : {0, 1}) {
      SoftOptions options = exact_options();
      options.time_step = 0.004 / (1 + halved);
      SoftSolver<TestType> solver(exec, scene, options);
      const auto before =
          momenta(scene.objects[0], solver.positions(exec), solver.velocities(exec));
      for (int step = 0; step < 15 * (1 + halved); ++step)
        solver.step(exec);
      const auto change =
          minus(momenta(scene.objects[0], solver.positions(exec), solver.velocities(exec)), before);
      for (int c = 0; c < 3; ++c)
        CHECK(std::abs(change[c]) < 1e-12 * max_norm(before));
      drift[halved] =
          std::hypot(change[3], change[4], change[5]) / std::hypot(before[3], before[4], before[5]);
    }
    // The angular momentum is kept as far as backward Euler keeps it, an error of first order.
    CHECK(drift[0] < 1e-3);
    CHECK(drift[1] < 0.85 * drift[0]);
  }
}

OSSATURA_BACKEND_TEST("A step carries slack tension, and with it free spin", "[soft_motion]") {
  const TestType exec;
  for (const ElementShape shape : {ElementShape::tetra, ElementShape::hexa}) {
    SoftScene scene;
    scene.objects = {soft_body(shape)};
    set_velocity(scene.objects[0], [](double x, double y, double, int c) {
      return c == 0 ? -10 * (y - 0.1) : c == 1 ? 10 * (x - 0.15) : 0.;
    });
    SoftOptions options;
    options.time_step = 0.01;
    options.rayleigh_mass = options.rayleigh_stiffness = 0;
    SoftSolver<TestType> solver(exec, scene, options);
    const auto spin = [&] {
      return momenta(scene.objects[0], solver.positions(exec), solver.velocities(exec))[5];
    };
    const double before = spin();
    for (int step = 0; step < 100; ++step)
      solver.step(exec);
    INFO(scene.objects[0].name);
    CHECK(spin() > 0.9 * before);
    CHECK(spin() < 1.0001 * before);
  }
}

OSSATURA_BACKEND_TEST("Bodies fall as backward Euler falls", "[soft_motion]") {
  const TestType exec;
  SoftScene scene = mixed_scene();
  for (SoftObject& body : scene.objects) {
    body.fixed.clear();
    body.velocity.clear();
  }
  scene.gravity[0] = 3;
  SoftOptions options = exact_options();
  options.rayleigh_mass = 0.5;
  SoftSolver<TestType> solver(exec, scene, options);
  const std::vector<double> start = solver.positions(exec);
  double v = 0, way = 0;
  for (int step = 1; step <= 10; ++step) {
    CHECK(solver.step(exec).time == Approx(step * options.time_step));
    v = (v + options.time_step) / (1 + options.time_step * options.rayleigh_mass);
    way += options.time_step * v;
  }
  const std::vector<double> position = solver.positions(exec), velocity = solver.velocities(exec);
  double error = 0;
  for (std::size_t i = 0; i < start.size(); ++i)
    error = std::max({error, std::abs(velocity[i] - v * scene.gravity[i % 3]),
                      std::abs(position[i] - start[i] - way * scene.gravity[i % 3])});
  CHECK(error < 1e-12);
  double mass = 0;
  for (const SoftObject& body : scene.objects)
    for (const double m : masses(body))
      mass += m;
  const SoftEnergy energy = solver.energy(exec);
  CHECK(energy.kinetic == Approx(0.5 * mass * v * v * 109));
  CHECK(energy.potential == Approx(-mass * way * 109));
  CHECK(energy.elastic < 1e-12 * energy.kinetic);
}

OSSATURA_BACKEND_TEST("Small vibrations lose energy in every step", "[soft_motion]") {
  const TestType exec;
  for (const Kind& kind : kinds) {
    SoftScene scene;
    scene.objects = {soft_body(kind.shape, kind.law)};
    hold(scene.objects[0]);
    const bool flat = kind.shape == ElementShape::triangle; // no stiffness across
    set_velocity(scene.objects[0], [&](double x, double y, double z, int c) {
      return flat && c == 2 ? 0 : 1e-5 * swing(x, y, z, c);
    });
    INFO(scene.objects[0].name);
    double left[2];
    for (const int damped : {0, 1}) {
      SoftOptions options = exact_options();
      options.time_step = 0.002;
      options.rayleigh_stiffness = damped * 0.002;
      SoftSolver<TestType> solver(exec, scene, options);
      SoftEnergy energy = solver.energy(exec);
      const double start = energy.kinetic;
      double before = start;
      bool falls = energy.elastic < 1e-12 * start && energy.potential == 0, stores = false;
      for (int step = 0; step < 25; ++step) {
        solver.step(exec);
        energy = solver.energy(exec);
        falls = falls && energy.kinetic + energy.elastic < before;
        before = energy.kinetic + energy.elastic;
        stores = stores || energy.elastic > 0.1 * start;
      }
      CHECK(falls);
      CHECK((stores || damped)); // it does vibrate
      left[damped] = before / start;
    }
    CHECK(left[0] > 1e-3);
    CHECK(left[1] < left[0]);
  }
}

OSSATURA_BACKEND_TEST("The motion converges with the time step, at first order", "[soft_motion]") {
  const TestType exec;
  for (const int newton_iterations : {1, 10}) {
    SoftScene scene = held_body({ElementShape::tetra, SoftLaw::stvk});
    scene.objects[0].velocity.clear();
    std::vector<double> end[3];
    for (const int k : {0, 1, 2}) {
      SoftOptions options = exact_options();
      options.time_step = 0.004 / (1 << k);
      options.newton_iterations = newton_iterations;
      SoftSolver<TestType> solver(exec, scene, options);
      for (int step = 0; step < 10 << k; ++step)
        solver.step(exec);
      CHECK(solver.time() == Approx(0.04));
      end[k] = solver.positions(exec);
    }
    const double coarse = max_norm(minus(end[0], end[1])), fine = max_norm(minus(end[1], end[2]));
    CHECK(coarse / fine > 1.7);
    CHECK(coarse / fine < 2.3);
    CHECK(fine > 1e-6);
  }
}

OSSATURA_BACKEND_TEST("Bodies without mass go where forces balance", "[soft_motion]") {
  const TestType exec;
  for (const Kind& kind : {kinds[1], kinds[3], kinds[5]}) {
    SoftScene scene = held_body(kind);
    scene.objects[0].density = 0;
    scene.objects[0].velocity.clear();
    SoftOptions options = exact_options();
    options.newton_iterations = 20;
    options.newton_tolerance = 1e-10;
    INFO(scene.objects[0].name);
    SoftSolver<TestType> solver(exec, scene, options);
    REQUIRE(solver.step(exec).converged);
    const auto x1 = solver.positions(exec), v1 = solver.velocities(exec);
    CHECK(max_norm(minus(x1, scene.objects[0].mesh.point)) > 1e-5);
    CHECK(imbalance(scene, options, v1, v1, point_forces(exec, scene.objects[0], x1, v1, 0)) <
          1e-8);
  }
}

} // namespace
