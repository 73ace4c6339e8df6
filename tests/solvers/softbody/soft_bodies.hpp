// SPDX-License-Identifier: Apache-2.0
// Small soft bodies in motion, for tests.
#pragma once

#include <ossatura/core/mesh/generators/element_meshes.hpp>
#include <ossatura/kernels/softbody/elements/lumped_mass.hpp>
#include <ossatura/solvers/softbody/solver.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace ossatura::test {

/// A box of 0.3 x 0.2 x 0.2 m, or a sheet of 0.4 x 0.3 m.
inline SoftObject soft_body(ElementShape shape, SoftLaw law = SoftLaw::corotational) {
  SoftObject body;
  body.name = std::string(name_of(shape)) + ' ' + name_of(law);
  body.mesh = shape == ElementShape::triangle ? make_cloth(5, 4, 0.4, 0.3)
              : shape == ElementShape::tetra  ? make_tetra_box({3, 2, 2}, {0.3, 0.2, 0.2})
                                              : make_hexa_box({3, 2, 2}, {0.3, 0.2, 0.2});
  body.material.law = law;
  body.material.young = 1e5;
  body.material.poisson = 0.3;
  body.material.c1 = 1e4;
  body.material.c2 = 5e3;
  body.material.bulk = 1e5;
  return body;
}

/// Fixes the points with x = 0.
inline void hold(SoftObject& body) {
  for (std::size_t i = 0; i < body.mesh.num_points(); ++i)
    if (body.mesh.point[3 * i] == 0)
      body.fixed.push_back(std::int32_t(i));
}

/// velocity = velocity(x, y, z, component) at all points.
template<class Velocity>
void set_velocity(SoftObject& body, const Velocity& velocity) {
  body.velocity.resize(body.mesh.point.size());
  for (std::size_t i = 0; i < body.velocity.size(); ++i) {
    const double* const x = &body.mesh.point[i / 3 * 3];
    body.velocity[i] = velocity(x[0], x[1], x[2], int(i % 3));
  }
}

/// Bodies of several shapes and laws beside each other, under gravity; some are held.
inline SoftScene mixed_scene() {
  SoftScene scene;
  scene.gravity[2] = -10;
  scene.objects = {soft_body(ElementShape::hexa), soft_body(ElementShape::tetra),
                   soft_body(ElementShape::tetra, SoftLaw::neo_hookean),
                   soft_body(ElementShape::triangle)};
  hold(scene.objects[0]);
  hold(scene.objects[2]);
  hold(scene.objects[3]);
  set_velocity(scene.objects[1], [](double x, double y, double, int c) {
    return c == 0 ? -3 * y : c == 1 ? 3 * x : 0.5;
  });
  scene.objects[1].factor.assign(scene.objects[1].mesh.num_elem(), 1.5);
  scene.objects[3].node_mass = 0.01;
  return scene;
}

/// Systems solved to rounding.
inline SoftOptions exact_options() {
  SoftOptions options;
  options.refresh = FactorRefresh::sync;
  options.apply = FactorApply::inverse;
  options.storage = FactorStorage::fp64;
  options.tolerance = 1e-13;
  options.batch = 2;
  return options;
}

/// The mass of each point.
inline std::vector<double> masses(const SoftObject& body) {
  if (body.node_mass > 0)
    return std::vector<double>(body.mesh.num_points(), body.node_mass);
  const bool flat = body.mesh.shape == ElementShape::triangle;
  return lumped_mass(body.mesh, body.density * (flat ? body.material.thickness : 1));
}

inline double max_norm(const std::vector<double>& x) {
  double size = 0;
  for (const double value : x)
    size = std::abs(value) <= size ? size : std::abs(value); // NaN too
  return size;
}

inline std::vector<double> minus(std::vector<double> x, const std::vector<double>& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] -= y[i];
  return x;
}

} // namespace ossatura::test
