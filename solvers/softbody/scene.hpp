// SPDX-License-Identifier: Apache-2.0
// A SoftScene holds what users simulate: soft bodies with supports and loads, and obstacles. Host
// memory, SI units.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/kernels/softbody/elements/material.hpp>

#include <string>
#include <vector>

namespace ossatura {

struct SoftObject {
  std::string name;
  ElementMesh mesh; ///< m; every point belongs to an element
  SoftMaterial material;
  std::vector<double> factor;      ///< [num_elem] times the moduli, or empty
  double density = 1000;           ///< kg/m^3; the mass is lumped at the nodes
  double node_mass = 0;            ///< kg of every node, instead of the density, where positive
  std::vector<std::int32_t> fixed; ///< nodes that do not move
  std::vector<double> load;        ///< [num_points, 3], N, or empty
  std::vector<double> velocity;    ///< [num_points, 3] at the start, m/s, or empty
};

/// A plane through `point` with the unit normal `normal`, outside where it points; or a sphere
/// about `point`. Neither moves.
struct SoftObstacle {
  enum class Kind { plane, sphere } kind = Kind::plane;
  double point[3] = {0, 0, 0};
  double normal[3] = {0, 0, 1}; ///< of a plane
  double radius = 1;            ///< of a sphere, m
  double friction = 0;          ///< Coulomb's coefficient
};

struct SoftScene {
  std::vector<SoftObject> objects;
  std::vector<SoftObstacle> obstacles;
  double gravity[3] = {0, 0, 0};        ///< m/s^2
  bool contact_between_objects = false; ///< nodes of each against the surfaces of all others
  double contact_friction = 0;          ///< between objects
  double contact_distance = 0.01;       ///< m: nearer pairs are watched in a step
};

} // namespace ossatura
