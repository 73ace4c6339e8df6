// SPDX-License-Identifier: Apache-2.0
// A mesh of equal cubes along the axes, as voxel images, boxes and many printers' files are, lies
// on a lattice: that of its cubes' corners.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>

#include <array>

namespace ossatura {

struct CubeLattice {
  std::array<int, 3> shape{};     ///< cubes along x, y, z of the smallest box around the mesh
  std::array<double, 3> origin{}; ///< its lower corner
  double edge = 0;
  std::vector<std::array<int, 3>> elem; ///< [num_elem] place of each cube
  std::vector<std::array<int, 3>> node; ///< [num_points] place of each corner
};

/// The lattice of a mesh of hexahedra. Corners may be off their places by 1e-5 edges, as in files
/// with few digits. Throws std::invalid_argument naming an element that is no cube like the first
/// one or lies between the places of others, two in one place, two nodes in one place (parts that
/// touch without being joined) and nodes without an element.
CubeLattice find_cube_lattice(const ElementMesh& mesh);

} // namespace ossatura
