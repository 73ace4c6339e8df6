// SPDX-License-Identifier: Apache-2.0
// boundary_triangles finds the surface of a mesh of elements, for contact and for pictures.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// Triangles [num, 3] of the boundary: the faces that one element alone has, by element. Seen from
/// outside they turn counter-clockwise, where the elements are not inside out. A face of a
/// hexahedron gives two, cut from its node of the lowest number. A mesh of triangles is its own
/// surface. Entries of mesh.node are in [0, num_points).
std::vector<std::int32_t> boundary_triangles(const ElementMesh& mesh);

} // namespace ossatura
