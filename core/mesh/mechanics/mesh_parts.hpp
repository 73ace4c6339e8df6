// SPDX-License-Identifier: Apache-2.0
// The parts of a mesh are its elements that share nodes.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/mesh/solids/mesh.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// Each node belongs to one part, which its first node stands for.
struct MeshParts {
  std::vector<std::int32_t> part;  ///< [num_points], ascending with the first nodes
  std::vector<std::int32_t> first; ///< [num_parts] the first node of each
};

/// A point without an element is a part of its own.
MeshParts find_mesh_parts(const ElementMesh& mesh);
MeshParts find_mesh_parts(const SolidMesh& mesh);

} // namespace ossatura
