// SPDX-License-Identifier: Apache-2.0
// Soft bodies in contact, in time: they land and rest, slide where friction says, and keep their
// momentum when they meet.
#include "tests/backend_test.hpp"
#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/solvers/softbody/solver.hpp>

#include <algorithm>
#include <cmath>

namespace {

using namespace ossatura;

SoftObject soft_box(const int (&cells)[3], const double (&size)[3], const double (&corner)[3]) {
  SoftObject object;
  object.name = "box";
  object.mesh = make_hexa_box(cells, size);
  for (std::size_t i = 0; i < object.mesh.point.size(); ++i)
    object.mesh.point[i] += corner[i % 3];
  object.material.young = 1e5;
  object.material.poisson = 0.3;
  return object;
}

/// A flat box above a plane that slopes along x.
SoftScene box_on_slope(double height, double tangent) {
  SoftScene scene;
  scene.objects.push_back(soft_box({2, 2, 1}, {0.2, 0.2, 0.1}, {0, 0, height}));
  scene.obstacles.resize(1);
  scene.obstacles[0].friction = 0.5;
  const double cosine = 1 / std::sqrt(1 + tangent * tangent);
  scene.gravity[0] = 10 * cosine * tangent;
  scene.gravity[2] = -10 * cosine;
  return scene;
}

SoftOptions fresh_factors() {
  SoftOptions options;
  options.refresh = FactorRefresh::sync;
  options.apply = FactorApply::inverse;
  options.storage = FactorStorage::fp64;
  return options;
}

double mean(const std::vector<double>& values, int component) {
  double sum = 0;
  for (std::size_t i = std::size_t(component); i < values.size(); i += 3)
    sum += values[i];
  return 3 * sum / double(values.size());
}

double lowest(const std::vector<double>& position) {
  double least = position[2];
  for (std::size_t i = 2; i < position.size(); i += 3)
    least = std::min(least, position[i]);
  return least;
}

/// Of the nodes from 18 on, above the plane of the corners 9, 11 and 15 of a box of 18 nodes.
double least_height(const std::vector<double>& position) {
  const auto edge = [&](int to, int d) { return position[3 * to + d] - position[27 + d]; };
  double normal[3], length = 0, least = 1;
  for (int d = 0; d < 3; ++d) {
    const int e = (d + 1) % 3, f = (d + 2) % 3;
    normal[d] = edge(11, e) * edge(15, f) - edge(11, f) * edge(15, e);
    length += normal[d] * normal[d];
  }
  for (int i = 18; i < int(position.size() / 3); ++i) {
    double height = 0;
    for (int d = 0; d < 3; ++d)
      height += normal[d] * edge(i, d) / std::sqrt(length);
    least = std::min(least, height);
  }
  return least;
}

template<class Exec>
void drop(const Exec& exec, const SoftOptions& options, double tolerance) {
  SoftSolver<Exec> solver(exec, box_on_slope(0.02, 0), options);
  double energy = 1e300, deepest = 0;
  bool converged = true, falls = true;
  SoftStep last;
  for (int step = 0; step < 60; ++step) {
    last = solver.step(exec);
    converged = converged && last.converged;
    const SoftEnergy e = solver.energy(exec);
    falls = falls && e.kinetic + e.elastic + e.potential < energy + 1e-6;
    energy = e.kinetic + e.elastic + e.potential;
    deepest = std::min(deepest, lowest(solver.positions(exec)));
  }
  CHECK(converged);
  CHECK(falls);
  CHECK(last.contacts == 9);
  CHECK(last.contact_residual < 1e-7);
  CHECK(deepest > -tolerance);
  CHECK(lowest(solver.positions(exec)) < 1e-4);
  CHECK(solver.energy(exec).kinetic < 1e-9);
  CHECK(solver.energy(exec).elastic > 1e-4); // under its weight
}

} // namespace

OSSATURA_BACKEND_TEST("A soft box falls on a plane and rests there", "[soft_contact]") {
  drop(TestType(), fresh_factors(), 1e-9);
  drop(TestType(), SoftOptions(), 1e-5); // factors are some steps old and in single precision
  SoftOptions in_bands;
  in_bands.apply = FactorApply::inverse;
  in_bands.bands = 2; // contact has an inverse of its own
  drop(TestType(), in_bands, 1e-5);
}

OSSATURA_BACKEND_TEST("A soft box on a slope sticks below tan(theta) = mu and slides above",
                      "[soft_contact]") {
  const TestType exec;
  for (const double tangent : {0.48, 0.52}) {
    SoftSolver<TestType> solver(exec, box_on_slope(0, tangent), fresh_factors());
    double x[3];
    bool converged = true;
    for (double& position : x) {
      for (int step = 0; step < 20; ++step)
        converged = solver.step(exec).converged && converged;
      position = mean(solver.positions(exec), 0);
    }
    CAPTURE(tangent);
    CHECK(converged);
    if (tangent < 0.5) {
      CHECK(x[0] - 0.1 < 2e-3); // leans
      CHECK(std::abs(x[2] - x[1]) < 1e-6);
    } else {
      const double acceleration = 10 * (tangent - 0.5) / std::sqrt(1 + tangent * tangent);
      CHECK((x[2] - 2 * x[1] + x[0]) / (0.2 * 0.2) == Approx(acceleration).epsilon(0.02));
    }
  }
}

OSSATURA_BACKEND_TEST("Soft boxes that meet in flight keep their momentum", "[soft_contact]") {
  const TestType exec;
  SoftScene scene;
  scene.objects.push_back(soft_box({2, 2, 1}, {0.2, 0.2, 0.1}, {0, 0, 0}));
  scene.objects.push_back(soft_box({1, 1, 1}, {0.1, 0.1, 0.1}, {0.06, 0.03, 0.12}));
  scene.contact_between_objects = true;
  scene.contact_friction = 0.3;
  for (SoftObject& object : scene.objects) {
    object.material.young = 1e6;
    object.node_mass = 0.1;
    object.velocity.assign(object.mesh.point.size(), 0);
    for (std::size_t i = 0; i < object.velocity.size(); i += 3) {
      object.velocity[i] = &object == &scene.objects[1] ? 0.2 : 0;
      object.velocity[i + 2] = &object == &scene.objects[1] ? -1 : 0.1;
    }
  }
  SoftSolver<TestType> solver(exec, scene, fresh_factors());
  const std::vector<double> before = solver.velocities(exec);
  int contacts = 0;
  double deepest = 1;
  bool converged = true;
  for (int step = 0; step < 20; ++step) {
    const SoftStep done = solver.step(exec);
    contacts = std::max(contacts, done.contacts);
    deepest = std::min(deepest, least_height(solver.positions(exec)));
    converged = converged && done.converged;
  }
  CHECK(converged);
  CHECK(contacts >= 4);
  CHECK(deepest > -2e-3);
  CHECK(deepest < 2e-3);
  const std::vector<double> after = solver.velocities(exec);
  for (int d = 0; d < 3; ++d)
    CHECK(mean(after, d) == Approx(mean(before, d)).margin(1e-9));
  // Sideways the upper one has been slowed by friction, downwards stopped by the lower one.
  const auto part = [&](std::size_t first, std::size_t last, int d) {
    return mean(
        {after.begin() + std::ptrdiff_t(3 * first), after.begin() + std::ptrdiff_t(3 * last)}, d);
  };
  CHECK(part(18, 26, 0) < 0.15);
  CHECK(part(18, 26, 2) > -0.4);
  CHECK(part(0, 18, 2) < -0.05);
}
