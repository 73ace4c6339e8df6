// SPDX-License-Identifier: Apache-2.0
// A HexaModel is a finite-element model of hexahedra as engineers' programs write it: mesh, named
// sets, supports and loads. Host memory, no Kokkos.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/mesh/solids/mesh.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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

/// A displacement that a held component of a node is given.
struct NodeDisplacement {
  std::int32_t node;
  int component; ///< 0, 1, 2
  double value;  ///< m
};

/// A force on all mass: on each kg at x, in N, acceleration + square_speed * (arm from the axis to
/// x). Gravity has the one, rotation the other.
struct BodyLoad {
  std::array<double, 3> acceleration{}; ///< m / s^2
  double square_speed = 0;              ///< rad^2 / s^2
  std::array<double, 3> origin{};       ///< a point on the axis, m
  std::array<double, 3> axis{};         ///< its direction, of length 1
};

/// Loads that act together: a step of Abaqus, a load step of Ansys. A node may come up more than
/// once; its forces add up.
/// A pressure into the body on a face of a hexahedron, N / m^2.
struct FacePressure {
  std::array<std::int32_t, 4> node; ///< around the face
  double pressure;
};

struct NodeLoads {
  std::string name;
  std::vector<NodeForce> forces; ///< those of pressures, too, consistent with trilinear elements
  std::vector<NodeDisplacement> displacements{}; ///< each component once; others are held at zero

  std::vector<BodyLoad> body{}; ///< on all elements; they add up
  /// [num_nodes] by how much each node is warmer than where nothing is strained, K; empty: none is.
  std::vector<double> warming{};
  /// On faces of hexahedra of eight nodes, as a file has them, for elements of higher order; then
  /// `point_forces` are those of `forces` that are of no pressure.
  std::vector<FacePressure> pressures{};
  std::vector<NodeForce> point_forces{};

  bool empty() const {
    return forces.empty() && displacements.empty() && body.empty() && warming.empty();
  }
  /// Calls visit(node) for each force and displacement.
  template<class Visit>
  void for_nodes(const Visit& visit) const {
    for (const NodeForce& one : forces)
      visit(one.node);
    for (const NodeDisplacement& one : displacements)
      visit(one.node);
  }
};

/// Isotropic material.
struct HexaMaterial {
  std::string name;
  double young = 0, poisson = 0; ///< N / m^2
  double density = 0;            ///< kg / m^3; 0: not known
  double expansion = 0;          ///< strain for each K that it is warmer
};

/// A step that asks for natural frequencies.
struct FrequencyRequest {
  std::string step;
  int count = 0;    ///< of the lowest, at most
  double below = 0; ///< Hz; 0: any
};

/// Corners of a face, ascending.
using FaceCorners = std::array<std::int32_t, 4>;

/// Ends of an edge, ascending.
using EdgeEnds = std::array<std::int32_t, 2>;

/// Nodes that one row of a file holds: with elements of high order it holds the faces and edges
/// whose nodes are all among them.
struct HeldPart {
  std::uint8_t components = 0;     ///< of those that HexaModel::held has
  std::vector<std::int32_t> nodes; ///< ascending
};

struct HexaModel {
  ElementMesh mesh; ///< of ElementShape::hexa
  /// In the place of the mesh, which is empty then, where some elements are of other kinds.
  std::shared_ptr<const SolidMesh> solids;
  std::map<std::string, std::vector<std::int32_t>> node_sets, elem_sets; ///< numbers ascend
  /// Of node sets that the file has as surfaces, curves or points: their faces and their edges,
  /// ascending. Where a set is here, nothing else lies between its nodes.
  std::map<std::string, std::vector<FaceCorners>> face_sets{};
  std::map<std::string, std::vector<EdgeEnds>> edge_sets{};
  std::vector<HeldComponents> held;               ///< nodes ascend
  std::vector<HeldPart> held_parts{};             ///< of these, what belongs together; in any order
  std::vector<std::vector<std::int32_t>> rigid{}; ///< nodes of bodies that move as a whole, free
  std::vector<NodeLoads> loads;
  std::optional<FrequencyRequest> frequencies{};
  double young = 0, poisson = 0;         ///< of the first material; 0 where the file gives none
  std::vector<HexaMaterial> materials{}; ///< of elements; empty: young and poisson are of all
  std::vector<std::uint8_t> material{};  ///< [num_elem] numbers of these; empty: all the first

  /// Whether all elements have the same modulus and Poisson's ratio.
  bool is_uniform() const {
    for (const HexaMaterial& one : materials)
      if (one.young != young || one.poisson != poisson)
        return false;
    return true;
  }
};

} // namespace ossatura
