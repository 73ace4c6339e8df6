// SPDX-License-Identifier: Apache-2.0
// Soft bodies that cannot be stepped: halved, reported or refused.
#include "tests/backend_test.hpp"
#include "tests/solvers/softbody/soft_bodies.hpp"
#include <ossatura/solvers/softbody/published/kokkos_kernels_product.hpp>

#include <limits>
#include <string>

namespace {

using namespace ossatura;
using namespace ossatura::test;

/// A block pressed to a part of its length, so that its stiffness is indefinite.
struct Pressed {
  SoftScene scene;
  std::vector<double> position, velocity;

  explicit Pressed(double density, double part = 0.4) {
    scene.objects = {soft_body(ElementShape::tetra, SoftLaw::stvk)};
    hold(scene.objects[0]);
    scene.objects[0].density = density;
    position = scene.objects[0].mesh.point;
    velocity.assign(position.size(), 0.0);
    for (std::size_t i = 0; i < position.size(); ++i) {
      if (i % 3 == 0)
        position[i] *= part;
      else
        velocity[i] = position[i / 3 * 3] == 0 ? 0 : 0.01 * std::sin(double(i));
    }
  }
};

OSSATURA_BACKEND_TEST("Steps with indefinite matrices are halved", "[soft_breakdown]") {
  const TestType exec;
  const Pressed pressed(1000);
  SoftOptions options = exact_options();
  for (const bool by_factor : {true, false}) {
    INFO((by_factor ? "found by the factor" : "found by conjugate gradients"));
    if (!by_factor)
      options.preconditioner = SoftPreconditioner::block_jacobi;
    options.time_step = 0.02;
    options.max_halvings = 6;
    SoftSolver<TestType> solver(exec, pressed.scene, options);
    solver.set_state(exec, pressed.position, pressed.velocity, 1);
    const SoftStep report = solver.step(exec);
    CHECK(report.halvings > 0);
    CHECK(report.converged);
    CHECK(report.time == Approx(1.02));
    options.max_halvings = 0;
    SoftSolver<TestType> whole(exec, pressed.scene, options);
    whole.set_state(exec, pressed.position, pressed.velocity, 1);
    CHECK_THROWS_AS(whole.step(exec), SoftBreakdown);
    CHECK((whole.positions(exec) == pressed.position));
    CHECK((whole.velocities(exec) == pressed.velocity));
    CHECK(whole.time() == 1);
    CHECK_THROWS_AS(whole.step(exec), SoftBreakdown); // again
    whole.set_state(exec, pressed.scene.objects[0].mesh.point, pressed.velocity, 0);
    CHECK(whole.step(exec).halvings == 0); // from another state it goes on
  }
}

OSSATURA_BACKEND_TEST("A step that fails half-way leaves the state of its start",
                      "[soft_breakdown]") {
  const TestType exec;
  Pressed pressed(1000, 0.8);
  for (std::size_t i = 0; i < pressed.position.size(); i += 3)
    pressed.velocity[i] = -50 * pressed.position[i]; // on its way to be pressed further
  SoftOptions options = exact_options();
  const auto breaks = [&](double time_step, int max_halvings) {
    options.time_step = time_step;
    options.max_halvings = max_halvings;
    SoftSolver<TestType> solver(exec, pressed.scene, options);
    solver.set_state(exec, pressed.position, pressed.velocity, 1);
    try {
      solver.step(exec);
    } catch (const SoftBreakdown&) {
      CHECK((solver.positions(exec) == pressed.position));
      CHECK((solver.velocities(exec) == pressed.velocity));
      CHECK(solver.time() == 1);
      return true;
    }
    return false;
  };
  CHECK(breaks(0.04, 0));
  CHECK(!breaks(0.02, 0)); // the first half
  CHECK(breaks(0.04, 1));
}

OSSATURA_BACKEND_TEST("What no step is short enough for is reported, the state kept",
                      "[soft_breakdown]") {
  const TestType exec;
  const Pressed pressed(0);
  for (const FactorRefresh refresh : {FactorRefresh::sync, FactorRefresh::background}) {
    SoftOptions options = exact_options();
    options.refresh = refresh;
    SoftSolver<TestType> massless(exec, pressed.scene, options);
    massless.step(exec); // at rest
    massless.set_state(exec, pressed.position, pressed.velocity, 0.5);
    CHECK_THROWS_WITH(massless.step(exec), ContainsSubstring("not positive definite"));
    CHECK((massless.positions(exec) == pressed.position));
    CHECK((massless.velocities(exec) == pressed.velocity));
    CHECK(massless.time() == 0.5);
  }
  for (const double bad : {1e160, std::nan(""), std::numeric_limits<double>::infinity()})
    for (const SoftPreconditioner preconditioner :
         {SoftPreconditioner::ldlt, SoftPreconditioner::jacobi}) {
      SoftOptions options;
      options.preconditioner = preconditioner;
      SoftSolver<TestType> solver(exec, mixed_scene(), options);
      const auto position = solver.positions(exec);
      auto velocity = solver.velocities(exec);
      velocity[3 * 72 - 1] = bad; // of the tetrahedra in flight
      solver.set_state(exec, position, velocity, 0);
      CAPTURE(bad, name_of(preconditioner));
      CHECK_THROWS_AS(solver.step(exec), SoftBreakdown);
      CHECK((solver.positions(exec) == position));
      solver.set_state(exec, position, std::vector<double>(velocity.size(), 0.0), 0);
      CHECK(solver.step(exec).converged);
    }
}

/// The message of what a scene is refused with.
template<class Exec, class Change>
std::string refusal(const Exec& exec, const Change& change) {
  SoftScene scene = mixed_scene();
  change(scene, scene.objects[1]);
  try {
    SoftSolver<Exec>(exec, scene, SoftOptions());
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

OSSATURA_BACKEND_TEST("Scenes without a motion are refused with the name of the object",
                      "[soft_breakdown]") {
  const TestType exec;
  const auto refused = [&](const std::string& why, const auto& change) {
    const std::string message = refusal(exec, change);
    CHECK_THAT(message, ContainsSubstring("object 'tetra corotational'"));
    CHECK_THAT(message, ContainsSubstring(why));
  };
  using Body = SoftObject;
  refused("no mass", [](SoftScene&, Body& body) { body.density = 0; });
  refused("no mass", [](SoftScene&, Body& body) {
    body.density = 0;
    body.fixed = {0, 1};
  });
  refused("no mass", [](SoftScene&, Body& body) {
    body.density = 0;
    body.fixed = {0, 1, 2, 0}; // on a line
  });
  refused("no mass", [](SoftScene&, Body& body) {
    const std::string name = body.name;
    body = soft_body(ElementShape::triangle); // held, but it may bend
    body.name = name;
    hold(body);
    body.density = 0;
  });
  refused("belongs to no element", [](SoftScene&, Body& body) {
    body.mesh.point.insert(body.mesh.point.end(), {1, 2, 3});
    body.velocity.clear();
  });
  refused("no element", [](SoftScene&, Body& body) { body.mesh.node.clear(); });
  refused("of 36", [](SoftScene&, Body& body) { body.mesh.node[5] = 36; });
  refused("has point -1", [](SoftScene&, Body& body) { body.mesh.node[5] = -1; });
  refused("to be fixed", [](SoftScene&, Body& body) { body.fixed = {36}; });
  refused("to be fixed", [](SoftScene&, Body& body) { body.fixed = {-1}; });
  refused("not finite", [](SoftScene&, Body& body) { body.mesh.point[4] = std::nan(""); });
  refused("velocity has 3 entries for 36", [](SoftScene&, Body& body) { body.velocity.resize(3); });
  refused("load has 107 entries", [](SoftScene&, Body& body) { body.load.resize(107); });
  refused("load is not finite", [](SoftScene&, Body& body) {
    body.load.assign(108, std::numeric_limits<double>::infinity());
  });
  refused("2 factors", [](SoftScene&, Body& body) { body.factor.resize(2); });
  refused("mass", [](SoftScene&, Body& body) { body.density = -1; });
  refused("mass", [](SoftScene&, Body& body) { body.node_mass = std::nan(""); });
  CHECK_THAT(refusal(exec, [](SoftScene& scene, Body&) { scene.objects.clear(); }),
             ContainsSubstring("without an object"));
  CHECK(refusal(exec, [](SoftScene&, Body& body) {
          body.density = 0;
          hold(body); // nothing can move without stretching
        }) == "none");
}

OSSATURA_BACKEND_TEST("Options that do not go together are refused", "[soft_breakdown]") {
  const TestType exec;
  SoftScene scene = mixed_scene();
  SoftOptions options;
  options.refresh = FactorRefresh::background;
  options.place = FactorPlace::device;
  options.apply = FactorApply::supernodes;
  CHECK_THROWS_AS(SoftSolver<TestType>(exec, scene, options), std::invalid_argument);
  options = SoftOptions();
  options.bands = max_inverse_bands + 1;
  CHECK_THROWS_WITH((SoftSolver<TestType>(exec, scene, options)), ContainsSubstring("9 bands"));
  options = SoftOptions();
  options.product = SoftProduct::kokkos_kernels;
  if (has_kokkos_kernels())
    CHECK_NOTHROW(SoftSolver<TestType>(exec, scene, options));
  else
    CHECK_THROWS_AS(SoftSolver<TestType>(exec, scene, options), UsageError);
  options = SoftOptions();
  options.preconditioner = SoftPreconditioner::jacobi;
  scene.obstacles.resize(1);
  CHECK_THROWS_WITH((SoftSolver<TestType>(exec, scene, options)), ContainsSubstring("ldlt"));
}

} // namespace
