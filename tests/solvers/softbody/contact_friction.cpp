// SPDX-License-Identifier: Apache-2.0
// A stiff block on a plane: what it weighs, when it slides, and what warm starts and corrections
// do.
#include "tests/backend_test.hpp"
#include "tests/solvers/softbody/stiff_block.hpp"
#include <ossatura/kernels/algebra/upload.hpp>

namespace {

using namespace ossatura;

constexpr double step = 0.01, gravity = 10, mass = 2;

SoftScene block_on_plane(double friction) {
  SoftScene scene;
  scene.objects.push_back(test::block_object({2, 2, 1}, {1, 1, 0.4}, {0, 0, 0}));
  SoftObstacle plane;
  plane.friction = friction;
  plane.normal[2] = 7; // any length
  scene.obstacles.push_back(plane);
  return scene;
}

/// Where gravity on a plane of this slope, downhill along x, takes nodes at rest.
std::vector<double> fallen(const std::vector<double>& x, double tangent) {
  std::vector<double> free = x;
  const double cosine = 1 / std::sqrt(1 + tangent * tangent);
  for (std::size_t i = 0; i < x.size(); i += 3) {
    free[i] += step * step * gravity * cosine * tangent;
    free[i + 2] -= step * step * gravity * cosine;
  }
  return free;
}

struct Outcome {
  ContactResult result;
  std::vector<double> position, force, on_plane;
};

template<class Exec>
Outcome solve_on_plane(const Exec& exec, ContactSolver<Exec>& contact,
                       const test::BlockSystem& system, const InverseFactor<Exec, double>& factor,
                       const std::vector<double>& x_free) {
  const auto x = upload(exec, "test::x", system.x), free = upload(exec, "test::x_free", x_free);
  const auto force = make_zeros<double>(exec, x.extent(0), "test::force");
  contact.detect(exec, x, free);
  Outcome outcome;
  outcome.result = contact.solve(exec, factor, step * step, x, free, force);
  outcome.force = ossatura::download(exec, force);
  outcome.position = test::corrected(system, x_free, step * step, outcome.force);
  outcome.on_plane = contact.obstacle_forces(exec);
  return outcome;
}

} // namespace

OSSATURA_BACKEND_TEST("A block on a slope sticks below tan(theta) = mu and slides above",
                      "[contact_friction]") {
  const TestType exec;
  const double friction = 0.5;
  const SoftScene scene = block_on_plane(friction);
  const test::BlockSystem system(scene, mass, 1000);
  const auto factor = test::make_dense_factor<double>(exec, system.matrix,
                                                      test::panel_chain(system.num_nodes(), 5));
  const double weight = mass * gravity * system.num_nodes();
  SoftOptions options;
  options.contact_iterations = 2000;
  options.contact_tolerance = 1e-11;
  for (const double tangent : {0.49, 0.51, 0.8}) {
    ContactSolver<TestType> contact(exec, scene, system.node_of, options);
    const Outcome outcome =
        solve_on_plane(exec, contact, system, factor, fallen(system.x, tangent));
    CAPTURE(tangent, outcome.result.iterations);
    CHECK(outcome.result.converged);
    CHECK(outcome.result.residual < 1e-9);
    CHECK(outcome.result.num_contacts == 9);
    const double cosine = 1 / std::sqrt(1 + tangent * tangent);
    const double normal = -outcome.on_plane[2], along = outcome.on_plane[0];
    double total[3] = {0, 0, 0}, moved = 0, least_gap = 1, most_pressed = 0, most_slid = 0;
    for (int i = 0; i < system.num_nodes(); ++i) {
      const double* p = &outcome.position[3 * i];
      const double* f = &outcome.force[3 * i];
      const double u = p[0] - system.x[3 * i], v = p[1] - system.x[3 * i + 1];
      moved += u / system.num_nodes();
      for (int d = 0; d < 3; ++d)
        total[d] += f[d];
      if (system.x[3 * i + 2] > 0) {
        CHECK(f[2] == 0);
        continue;
      }
      least_gap = std::min(least_gap, p[2]);
      most_slid = std::max(most_slid, std::hypot(u, v));
      if (f[2] > 0)
        most_pressed = std::max(most_pressed, p[2]);
      CHECK(std::hypot(f[0], f[1]) <= friction * f[2] * (1 + 1e-12));
      CHECK(f[0] * u + f[1] * v <= 1e-12);
    }
    CHECK(least_gap > -1e-12);
    CHECK(most_pressed < 1e-12);
    for (int d = 0; d < 3; ++d)
      CHECK(total[d] == Approx(-outcome.on_plane[d]).margin(1e-10 * weight));
    CHECK(normal == Approx(weight * cosine).epsilon(1e-3));
    if (tangent < friction) {
      // A node that presses little may give, as far as the block does.
      CHECK(most_slid < 2e-3 * step * step * gravity * cosine * tangent);
      CHECK(along == Approx(weight * cosine * tangent).epsilon(2e-3));
    } else { // free acceleration less friction
      CHECK(moved == Approx(step * step * gravity * cosine * (tangent - friction)).epsilon(0.03));
      CHECK(along == Approx(friction * normal).epsilon(1e-3));
    }
    // The same again starts from these forces.
    const Outcome again = solve_on_plane(exec, contact, system, factor, fallen(system.x, tangent));
    CHECK(again.result.iterations <= 2);
    contact.forget();
    CHECK(solve_on_plane(exec, contact, system, factor, fallen(system.x, tangent)).force ==
          outcome.force);
  }
}

OSSATURA_BACKEND_TEST("Forces from a stale factor become exact by refinement",
                      "[contact_friction]") {
  const TestType exec;
  const SoftScene scene = block_on_plane(0.3);
  const test::BlockSystem system(scene, mass, 100), stale(scene, 1.1 * mass, 90);
  const test::PanelTree chain = test::panel_chain(system.num_nodes(), 4);
  SoftOptions options;
  options.contact_iterations = 2000;
  options.contact_tolerance = 1e-12;
  const std::vector<double> free = fallen(system.x, 0.4);
  ContactSolver<TestType> exact(exec, scene, system.node_of, options);
  const Outcome expected = solve_on_plane(
      exec, exact, system, test::make_dense_factor<double>(exec, system.matrix, chain), free);
  ContactSolver<TestType> contact(exec, scene, system.node_of, options);
  Outcome outcome = solve_on_plane(
      exec, contact, system, test::make_dense_factor<double>(exec, stale.matrix, chain), free);
  const auto error = [&] {
    double most = 0;
    for (std::size_t i = 0; i < free.size(); ++i)
      most = std::max(most, std::abs(outcome.position[i] - expected.position[i]));
    return most;
  };
  const double first = error();
  CHECK(first > 1e-6);
  const auto x = upload(exec, "test::x", system.x);
  const auto force = make_zeros<double>(exec, x.extent(0), "test::force");
  double last = first;
  for (int round = 0; round < 12; ++round) {
    contact.refine(exec, x, upload(exec, "test::x_new", outcome.position), force);
    outcome.position = test::corrected(system, free, step * step, ossatura::download(exec, force));
    if (round == 0)
      CHECK(error() < 0.3 * first);
    last = error();
  }
  CHECK(last < 1e-5 * first);
}

OSSATURA_BACKEND_TEST("Without pairs there are no contact forces", "[contact_friction]") {
  const TestType exec;
  const SoftScene scene = block_on_plane(0.3);
  const test::BlockSystem system(scene, mass, 100);
  const auto factor =
      test::make_dense_factor<float>(exec, system.matrix, test::panel_chain(system.num_nodes(), 4));
  ContactSolver<TestType> contact(exec, scene, system.node_of, {});
  std::vector<double> above = system.x;
  for (std::size_t i = 2; i < above.size(); i += 3)
    above[i] += 1;
  const auto x = upload(exec, "test::x", above);
  const auto force = make_zeros<double>(exec, x.extent(0), "test::force");
  Kokkos::deep_copy(exec, force, 7.);
  CHECK(contact.detect(exec, x, x) == 0);
  const ContactResult result = contact.solve(exec, factor, 1., x, x, force);
  CHECK(result.num_contacts == 0);
  CHECK(result.converged);
  CHECK(ossatura::download(exec, force) == std::vector<double>(above.size(), 0.));
  CHECK(contact.obstacle_forces(exec) == std::vector<double>{0, 0, 0});
}

OSSATURA_BACKEND_TEST("Contact refuses what it cannot work with", "[contact_friction]") {
  const TestType exec;
  const SoftScene good = block_on_plane(0.3);
  const test::BlockSystem system(good, mass, 100);
  using Contact = ContactSolver<TestType>;
  const auto refuses = [&](auto&& change, const char* text) {
    SoftScene scene = good;
    auto node_of = system.node_of;
    SoftOptions options;
    change(scene, node_of, options);
    CHECK_THROWS_WITH(Contact(exec, scene, node_of, options), ContainsSubstring(text));
  };
  refuses([](auto&, auto& nodes, auto&) { nodes[0][1] = nodes[0][0]; }, "node number 0 twice");
  refuses([](auto&, auto& nodes, auto&) { nodes[0][1] = 18; }, "not below 18");
  refuses([](auto&, auto& nodes, auto&) { nodes[0].pop_back(); }, "17 node numbers");
  refuses([](auto& scene, auto&, auto&) { scene.obstacles[0].normal[2] = 0; }, "length 0");
  refuses([](auto& scene, auto&, auto&) { scene.obstacles[0].friction = -1; }, "friction -1");
  refuses([](auto& scene, auto&, auto&) { scene.obstacles[0].point[1] = NAN; }, "not finite");
  refuses(
      [](auto& scene, auto&, auto&) {
        scene.obstacles[0].kind = SoftObstacle::Kind::sphere;
        scene.obstacles[0].radius = 0;
      },
      "radius 0");
  refuses([](auto& scene, auto&, auto&) { scene.contact_distance = -1; }, "distance -1");
  refuses([](auto& scene, auto&, auto&) { scene.objects[0].fixed = {18}; }, "fixed point 18");
  refuses([](auto&, auto&, auto& options) { options.contact_iterations = 0; }, "0 sweeps");
  refuses([](auto&, auto&, auto& options) { options.contact_tolerance = 0; }, "tolerance 0");

  Contact contact(exec, good, system.node_of, {});
  const auto x = upload(exec, "test::x", system.x);
  const auto shorter = make_zeros<double>(exec, 3, "test::short");
  const auto factor =
      test::make_dense_factor<double>(exec, {1, 0, 0, 0, 1, 0, 0, 0, 1}, test::panel_chain(1, 1));
  CHECK_THROWS_WITH(contact.detect(exec, shorter, x), ContainsSubstring("3 entries of x"));
  contact.detect(exec, x, x);
  CHECK_THROWS_WITH(contact.solve(exec, factor, 1., x, x, x),
                    ContainsSubstring("a factor of 1 nodes"));
  CHECK_THROWS_WITH(contact.refine(exec, x, x, x), ContainsSubstring("before they are solved"));
}
