// SPDX-License-Identifier: Apache-2.0
// A HexaModel is a finite-element model of hexahedra as engineers' programs write it: mesh, named
// sets, supports and loads. Host memory, no Kokkos.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/mesh/solids/mesh.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ossatura {

/// Components of a node held at zero: bit c set for component c.
struct HeldComponents {
  std::int32_t node;
  std::uint8_t components;
};

/// A spring from a component of a node to the ground.
struct NodeSpring {
  std::int32_t node;
  int component;    ///< 0, 1, 2
  double stiffness; ///< N / m
};

/// A force on a node, in N.
struct NodeForce {
  std::int32_t node;
  double force[3];
};

/// Forces that act together: a step of Abaqus, a load step of Ansys. A node may come up more than
/// once; its forces add up.
struct NodeLoads {
  std::string name;
  std::vector<NodeForce> forces;
};

struct HexaModel {
  ElementMesh mesh; ///< of ElementShape::hexa
  /// In the place of the mesh, which is empty then, where some elements are of other kinds.
  std::shared_ptr<const SolidMesh> solids;
  std::map<std::string, std::vector<std::int32_t>> node_sets, elem_sets; ///< numbers ascend
  std::vector<HeldComponents> held;                                      ///< nodes ascend
  std::vector<NodeLoads> loads;
  double young = 0, poisson = 0; ///< of all elements; 0 where the file gives none
};

} // namespace ossatura
