// SPDX-License-Identifier: Apache-2.0
// The solver of soft bodies: all its ways agree, factors are as old as it says, runs are resumed.
#include "tests/backend_test.hpp"
#include "tests/solvers/softbody/soft_bodies.hpp"
#include <ossatura/solvers/softbody/published/kokkos_kernels_product.hpp>

#include <chrono>
#include <thread>
#include <utility>

namespace {

using namespace ossatura;
using namespace ossatura::test;

struct Run {
  bool converged = true;
  std::vector<double> position, velocity;
};

template<class Exec>
Run simulate(const Exec& exec, const SoftScene& scene, const SoftOptions& options, int steps) {
  SoftSolver<Exec> solver(exec, scene, options);
  Run result;
  for (int step = 0; step < steps; ++step)
    result.converged = solver.step(exec).converged && result.converged;
  result.position = solver.positions(exec);
  result.velocity = solver.velocities(exec);
  return result;
}

/// Every way of solving the systems, with its name.
template<class Exec>
std::vector<std::pair<std::string, SoftOptions>> ways() {
  std::vector<std::pair<std::string, SoftOptions>> all;
  SoftOptions options;
  options.tolerance = 1e-11;
  const auto add = [&](const std::string& name) { all.push_back({name, options}); };
  for (const FactorRefresh refresh :
       {FactorRefresh::sync, FactorRefresh::every, FactorRefresh::background}) {
    options.refresh = refresh;
    for (const FactorApply apply : {FactorApply::levels, FactorApply::dissection,
                                    FactorApply::supernodes, FactorApply::inverse}) {
      options.apply = apply;
      add(std::string(name_of(refresh)) + ", " + name_of(apply));
    }
    for (const FactorStorage storage :
         {FactorStorage::fp64, FactorStorage::fp32, FactorStorage::fp16}) {
      options.storage = storage;
      add(std::string(name_of(refresh)) + ", inverse in " + name_of(storage));
    }
    options.storage = FactorStorage::automatic;
    for (const int bands : {1, 3}) {
      options.bands = bands;
      add(std::string(name_of(refresh)) + ", bands of the inverse: " + std::to_string(bands));
    }
    options.bands = 0;
    if (refresh == FactorRefresh::background)
      continue;
    for (const FactorPlace place : {FactorPlace::host, FactorPlace::device}) {
      options.place = place;
      add(std::string(name_of(refresh)) + ", made on the " + name_of(place));
    }
    options.place = FactorPlace::automatic;
  }
  options.refresh = FactorRefresh::every;
  options.apply = FactorApply::automatic;
  options.warp = false;
  add("no warp");
  options.warp = true;
  options.assembly = SoftAssembly::triplets;
  add("triplets");
  options.assembly = SoftAssembly::elements;
  if (has_kokkos_kernels()) {
    options.product = SoftProduct::kokkos_kernels;
    add("Kokkos Kernels");
    options.product = SoftProduct::blocks;
  }
  options.batch = 8;
  add("batches of 8");
  for (const SoftPreconditioner preconditioner :
       {SoftPreconditioner::none, SoftPreconditioner::jacobi, SoftPreconditioner::block_jacobi}) {
    options.preconditioner = preconditioner;
    add(name_of(preconditioner));
  }
  return all;
}

OSSATURA_BACKEND_TEST("All ways to solve the systems give the same motion", "[soft_stepping]") {
  const TestType exec;
  const SoftScene scene = mixed_scene();
  const Run exact = simulate(exec, scene, exact_options(), 5);
  REQUIRE(exact.converged);
  std::vector<double> start;
  for (const SoftObject& body : scene.objects)
    start.insert(start.end(), body.mesh.point.begin(), body.mesh.point.end());
  const double way = max_norm(minus(exact.position, start));
  REQUIRE(way > 1e-3);
  for (const auto& [name, options] : ways<TestType>()) {
    INFO(name);
    const Run other = simulate(exec, scene, options, 5);
    CHECK(other.converged);
    CHECK(max_norm(minus(other.position, exact.position)) < 1e-7 * way);
    CHECK(max_norm(minus(other.velocity, exact.velocity)) < 1e-7 * max_norm(exact.velocity));
  }
}

OSSATURA_BACKEND_TEST("Bodies that do not touch move as each does alone", "[soft_stepping]") {
  const TestType exec;
  const SoftScene scene = mixed_scene();
  const Run together = simulate(exec, scene, exact_options(), 4);
  std::vector<double> position;
  for (const SoftObject& body : scene.objects) {
    SoftScene alone = scene;
    alone.objects = {body};
    const Run own = simulate(exec, alone, exact_options(), 4);
    position.insert(position.end(), own.position.begin(), own.position.end());
  }
  CHECK(max_norm(minus(together.position, position)) < 1e-11);
}

OSSATURA_BACKEND_TEST("Factors multiply the moduli", "[soft_stepping]") {
  const TestType exec;
  SoftScene scene;
  scene.gravity[2] = -10;
  scene.objects = {soft_body(ElementShape::hexa)};
  hold(scene.objects[0]);
  const Run soft = simulate(exec, scene, exact_options(), 3);
  scene.objects[0].factor.assign(scene.objects[0].mesh.num_elem(), 2.5);
  const Run by_factor = simulate(exec, scene, exact_options(), 3);
  scene.objects[0].factor.clear();
  scene.objects[0].material.young *= 2.5;
  const Run by_modulus = simulate(exec, scene, exact_options(), 3);
  CHECK(max_norm(minus(by_factor.position, by_modulus.position)) < 1e-12);
  CHECK(max_norm(minus(by_factor.position, soft.position)) > 1e-4);
}

OSSATURA_BACKEND_TEST("Steps are the same on every run, timed or not", "[soft_stepping]") {
  const TestType exec;
  SoftOptions options;
  options.apply = FactorApply::inverse;
  const Run first = simulate(exec, mixed_scene(), options, 5);
  const Run second = simulate(exec, mixed_scene(), options, 5);
  CHECK((first.position == second.position));
  CHECK((first.velocity == second.velocity));
  SoftSolver<TestType> timed(exec, mixed_scene(), options);
  for (int step = 0; step < 5; ++step) {
    const SoftStep report = timed.step(exec, true);
    const double phases = report.collect + report.compress + report.factor + report.solve;
    CHECK(report.collect > 0);
    CHECK(report.solve > 0);
    CHECK(report.apply > 0);
    CHECK(phases <= report.total);
  }
  CHECK((timed.positions(exec) == first.position));
}

OSSATURA_BACKEND_TEST("Factors are as old as the policy says", "[soft_stepping]") {
  const TestType exec;
  const SoftScene scene = mixed_scene();
  SoftOptions options;
  for (const int every : {1, 3}) {
    options.refresh_every = every;
    SoftSolver<TestType> solver(exec, scene, options);
    for (int step = 0; step < 7; ++step) {
      const SoftStep report = solver.step(exec);
      CHECK(report.staleness == step % every);
      CHECK(report.refreshed == (step % every == 0));
    }
  }
  options.refresh_every = 4;
  options.newton_iterations = 2; // systems count, not steps
  options.newton_tolerance = 0;
  SoftSolver<TestType> newton(exec, scene, options);
  CHECK(newton.step(exec).staleness == 1);
  CHECK(newton.step(exec).staleness == 3);
  CHECK(newton.step(exec).refreshed);
  options.newton_iterations = 1;
  options.refresh = FactorRefresh::sync;
  SoftSolver<TestType> sync(exec, scene, options);
  for (int step = 0; step < 3; ++step) {
    const SoftStep report = sync.step(exec);
    CHECK(report.staleness == 0);
    CHECK(report.refreshed);
    CHECK(report.iterations <= 6);
  }
}

OSSATURA_BACKEND_TEST("A factor that does not help is made anew", "[soft_stepping]") {
  const TestType exec;
  SoftOptions options;
  options.refresh_every = 1000;
  options.refresh_after = 0; // no iterations are few enough
  SoftSolver<TestType> solver(exec, mixed_scene(), options);
  for (int step = 0; step < 3; ++step) {
    const SoftStep report = solver.step(exec);
    CHECK(report.converged);
    CHECK(report.refreshed);
    CHECK(report.staleness == 0);
  }
}

OSSATURA_BACKEND_TEST("The background brings factors that are younger than the run",
                      "[soft_stepping]") {
  const TestType exec;
  const SoftScene scene = mixed_scene();
  SoftOptions options;
  options.refresh = FactorRefresh::background;
  options.tolerance = 1e-11;
  SoftSolver<TestType> solver(exec, scene, options);
  SoftStep report = solver.step(exec);
  CHECK(report.refreshed);
  CHECK(report.staleness == 0);
  report = solver.step(exec);
  CHECK(!report.refreshed); // the second has only been started
  CHECK(report.staleness == 1);
  int steps = 2;
  do {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    report = solver.step(exec);
    CHECK(report.converged);
    ++steps;
  } while (!report.refreshed && steps < 200);
  CHECK(report.refreshed);
  CHECK(report.staleness >= 1);
  CHECK(report.staleness == steps - 2); // made for the matrix of the second step
  SoftOptions sync = exact_options();
  const Run exact = simulate(exec, scene, sync, steps);
  CHECK(max_norm(minus(solver.positions(exec), exact.position)) < 1e-7);
}

OSSATURA_BACKEND_TEST("A run that is resumed goes on as if it had not stopped", "[soft_stepping]") {
  const TestType exec;
  const SoftScene scene = mixed_scene();
  const SoftOptions options = exact_options();
  SoftSolver<TestType> whole(exec, scene, options);
  for (int step = 0; step < 3; ++step)
    whole.step(exec);
  SoftSolver<TestType> resumed(exec, scene, options);
  resumed.set_state(exec, whole.positions(exec), whole.velocities(exec), whole.time());
  CHECK((resumed.positions(exec) == whole.positions(exec)));
  CHECK((resumed.velocities(exec) == whole.velocities(exec)));
  for (int step = 0; step < 3; ++step)
    CHECK((resumed.step(exec).time == whole.step(exec).time));
  CHECK((resumed.positions(exec) == whole.positions(exec)));
  CHECK((resumed.velocities(exec) == whole.velocities(exec)));
  const SoftEnergy a = resumed.energy(exec), b = whole.energy(exec);
  CHECK(a.kinetic == b.kinetic);
  CHECK(a.elastic == b.elastic);
  CHECK(a.potential == b.potential); // counted from the scene's start

  SoftSolver<TestType> every(exec, scene, SoftOptions());
  every.step(exec);
  every.set_state(exec, whole.positions(exec), whole.velocities(exec), 2);
  const SoftStep report = every.step(exec);
  CHECK(report.staleness == 0);
  CHECK(report.refreshed);
  CHECK(report.time == Approx(2.01));
  CHECK_THROWS_AS(every.set_state(exec, {1, 2, 3}, whole.velocities(exec), 0),
                  std::invalid_argument);
}

OSSATURA_BACKEND_TEST("Tolerances with which nothing would move are refused", "[soft_stepping]") {
  const TestType exec;
  SoftOptions options;
  for (const double tolerance : {0.0, 1.0}) {
    options.tolerance = tolerance;
    CHECK_THROWS_AS(SoftSolver<TestType>(exec, mixed_scene(), options), std::invalid_argument);
  }
}

OSSATURA_BACKEND_TEST("Sizes are those of the scene", "[soft_stepping]") {
  const TestType exec;
  SoftScene scene = mixed_scene();
  SoftOptions options;
  options.apply = FactorApply::inverse;
  const SoftSolver<TestType> solver(exec, scene, options);
  CHECK(solver.num_nodes() == 36 * 3 + 20);
  CHECK(solver.num_elem() == 12 + 60 + 60 + 24);
  CHECK(solver.num_blocks() > solver.num_nodes());
  CHECK(solver.num_factor_entries() > 9 * solver.num_blocks() / 2 - 1);
  CHECK(solver.num_inverse_entries() > 0);
  CHECK(solver.apply() == FactorApply::inverse);
  CHECK(solver.num_inverse_bands() > 0);
  CHECK(solver.place() ==
        (BackendTraits<TestType>::is_device ? FactorPlace::device : FactorPlace::host));
  options.apply = FactorApply::levels;
  CHECK(SoftSolver<TestType>(exec, scene, options).num_inverse_entries() == 0);
  options.preconditioner = SoftPreconditioner::none;
  CHECK(SoftSolver<TestType>(exec, scene, options).num_factor_entries() == 0);
}

} // namespace
