// SPDX-License-Identifier: Apache-2.0
// Congruent elements of a mesh of hexahedra have the same shape up to translation, and so the same
// stiffness matrix. Meshes from boxes and sweeps have few shapes.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

struct CongruenceClasses {
  std::vector<int> first;               ///< [num_classes] the first element of each
  std::vector<std::int32_t> first_node; ///< [num_classes, 8] its nodes in the order of the class
  std::vector<int> of_elem;             ///< [num_elem]
  /// [num_elem, 8] in the order of the class: an element's nodes may be counted from another corner
  /// than in the mesh. Empty where none are.
  std::vector<std::int32_t> turned_node;

  int num_classes() const { return int(first.size()); }
  /// Of the elements of `mesh`, whose classes these are, in the order of the class.
  const std::vector<std::int32_t>& node(const ElementMesh& mesh) const {
    return turned_node.empty() ? mesh.node : turned_node;
  }
};

/// Shapes agree where the positions of nodes do to 1e-10 of the longest edge of the mesh. Gives up,
/// with no class at all, when there are more than `max_classes`.
CongruenceClasses find_congruence_classes(const ElementMesh& mesh, int max_classes);

} // namespace ossatura
