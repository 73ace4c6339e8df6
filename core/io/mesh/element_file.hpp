// SPDX-License-Identifier: Apache-2.0
// read_element_mesh reads meshes of soft bodies from files of Gmsh and VTK.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>

#include <cstdint>
#include <string>

namespace ossatura {

struct ElementFileOptions {
  double unit = 1; ///< m per unit of length of the file
  /// Which elements the caller takes, and where from: the end of the message about others. Null:
  /// what the reader takes.
  const char* taken = nullptr;
};

struct ElementFile {
  ElementMesh mesh;
  std::int64_t unused_points = 0; ///< points of the file that no element has; they are left out
};

/// Reads the elements of the highest dimension of NAME.msh (Gmsh 2.2 or 4.1), NAME.vtk, NAME.vtu,
/// NAME.hdf or NAME.vtkhdf: tetrahedra, hexahedra, or triangles. Elements of lower dimension that
/// the file carries along are passed over; a mix of volume elements, and any other kind, is refused
/// by name. Tetrahedra and hexahedra that are inside out are turned. Throws InputError naming file,
/// element and remedy for damaged files, numbers that are not finite, repeated nodes and elements
/// without volume (area).
ElementFile read_element_mesh(const std::string& path, const ElementFileOptions& options = {});

} // namespace ossatura
