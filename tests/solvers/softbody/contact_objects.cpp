// SPDX-License-Identifier: Apache-2.0
// Bodies in contact with each other: no force and no moment from nowhere, and no way through.
#include "tests/backend_test.hpp"
#include "tests/solvers/softbody/stiff_block.hpp"
#include <ossatura/kernels/algebra/upload.hpp>

#include <algorithm>

namespace {

using namespace ossatura;

constexpr double scale = 1e-4;

struct Meeting {
  std::vector<double> position, force;
  std::vector<ContactPair> pairs;
  ContactResult result;
};

/// The second block, a little above the first, comes down by `way`, and sideways.
template<class Exec>
Meeting meet(const Exec& exec, SoftScene scene, double way) {
  scene.contact_between_objects = true;
  scene.contact_distance = 0.02;
  const test::BlockSystem system(scene, 1, 60);
  SoftOptions options;
  options.contact_iterations = 3000;
  options.contact_tolerance = 1e-11;
  ContactSolver<Exec> contact(exec, scene, system.node_of, options);
  std::vector<double> free = system.x;
  for (std::size_t i = 3 * scene.objects[0].mesh.num_points(); i < free.size(); i += 3) {
    free[i] += 0.4 * way;
    free[i + 1] += 0.1 * way;
    free[i + 2] -= way;
  }
  const auto x = upload(exec, "test::x", system.x), x_free = upload(exec, "test::x_free", free);
  const auto force = make_zeros<double>(exec, x.extent(0), "test::force");
  contact.detect(exec, x, x_free);
  Meeting meeting;
  meeting.result = contact.solve(exec,
                                 test::make_dense_factor<double>(
                                     exec, system.matrix, test::panel_chain(system.num_nodes(), 7)),
                                 scale, x, x_free, force);
  meeting.force = ossatura::download(exec, force);
  meeting.position = test::corrected(system, free, scale, meeting.force);
  meeting.pairs = contact.pairs(exec);
  return meeting;
}

SoftScene two_blocks(double friction) {
  SoftScene scene;
  scene.objects.push_back(test::block_object({2, 2, 1}, {1, 1, 0.3}, {0, 0, 0}));
  scene.objects.push_back(test::block_object({2, 1, 1}, {0.6, 0.4, 0.3}, {0.17, 0.32, 0.301}));
  scene.contact_friction = friction;
  return scene;
}

} // namespace

OSSATURA_BACKEND_TEST("Bodies that meet keep their momentum and stay out of each other",
                      "[contact_objects]") {
  const TestType exec;
  for (const double friction : {0., 0.4}) {
    const SoftScene scene = two_blocks(friction);
    const Meeting meeting = meet(exec, scene, 0.01);
    CHECK(meeting.result.converged);
    CHECK(meeting.result.residual < 1e-9);
    CHECK(meeting.result.num_contacts >= 6);
    double total[3] = {0, 0, 0}, moment[3] = {0, 0, 0}, size = 0, pressing = 0;
    std::size_t i = 0;
    for (const SoftObject& object : scene.objects)
      for (std::size_t k = 0; k < object.mesh.num_points(); ++k, ++i) {
        const double* f = &meeting.force[3 * i];
        const double* q = &object.mesh.point[3 * k];
        for (int d = 0; d < 3; ++d) {
          total[d] += f[d];
          size += std::abs(f[d]);
          moment[d] += q[(d + 1) % 3] * f[(d + 2) % 3] - q[(d + 2) % 3] * f[(d + 1) % 3];
        }
        if (&object == &scene.objects[1])
          pressing += f[2];
      }
    CHECK(pressing > 0);
    for (int d = 0; d < 3; ++d) {
      CHECK(std::abs(total[d]) < 1e-14 * size);
      // Friction acts across the gap of 1 mm.
      CHECK(std::abs(moment[d]) < (friction > 0 ? 1e-3 * friction + 1e-14 : 1e-14) * size);
    }
    double least = 1;
    for (const ContactPair& pair : meeting.pairs) {
      double gap = -pair.offset;
      for (int k = 0; k < 4; ++k)
        for (int d = 0; d < 3 && pair.node[k] >= 0; ++d)
          gap += pair.weight[k] * pair.frame[d] * meeting.position[3 * pair.node[k] + d];
      least = std::min(least, gap);
    }
    CHECK(std::abs(least) < 1e-11);
  }
}

OSSATURA_BACKEND_TEST("Fixed nodes take no part in contact forces", "[contact_objects]") {
  const TestType exec;
  SoftScene scene = two_blocks(0.2);
  for (int i = 0; i < 18; ++i) // all of the lower block
    scene.objects[0].fixed.push_back(i);
  const Meeting held = meet(exec, scene, 0.01);
  CHECK(held.result.converged);
  double below = 0, pressing = 0;
  for (int i = 0; i < 18 * 3; ++i)
    below = std::max(below, std::abs(held.force[i]));
  for (std::size_t i = 18 * 3; i < held.force.size(); i += 3)
    pressing += held.force[i + 2];
  CHECK(below == 0);
  // Momentum of what comes to rest along z, from the motion per unit of force.
  CHECK(pressing == Approx(12 * 0.009 / scale).epsilon(0.05));
}
