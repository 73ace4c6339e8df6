// SPDX-License-Identifier: Apache-2.0
// The solver's view of a scene puts all objects into one numbering of nodes, in the order of
// elimination.
#pragma once

#include <ossatura/kernels/factor/pattern.hpp>
#include <ossatura/kernels/softbody/assembly/element_map.hpp>
#include <ossatura/kernels/softbody/assembly/make_element_map.hpp>
#include <ossatura/kernels/softbody/elements/evaluate.hpp>
#include <ossatura/solvers/softbody/scene.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// Host memory. "Points" are those of the scene, objects one after the other; "nodes" the same in
/// the order of elimination.
struct SoftNumbering {
  int num_nodes = 0;
  std::vector<int> node_of_point;          ///< [num_nodes]
  std::vector<std::vector<int>> node_of;   ///< by object: its points' nodes
  std::vector<ElementMesh> mesh;           ///< by object: all nodes' points; its elements in nodes
  std::vector<std::vector<double>> factor; ///< by object: [num_elem] of the moduli, or empty
  std::vector<std::uint8_t> fixed;         ///< [num_nodes]
  std::vector<double> point, velocity;     ///< [num_nodes, 3], at the start
  std::vector<double> mass;                ///< [num_nodes], kg
  std::vector<double> load;                ///< [num_nodes, 3], N, with gravity
  FactorPattern pattern;
};

/// Checks the scene and numbers it. Throws std::invalid_argument naming the object.
SoftNumbering number_scene(const SoftScene& scene);

} // namespace ossatura
