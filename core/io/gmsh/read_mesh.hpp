// SPDX-License-Identifier: Apache-2.0
// read_gmsh reads meshes of Gmsh in formats 2.2 and 4.1, text and binary.
//
// [1] Gmsh reference manual, "MSH file format" and "Legacy formats", gmsh.info.
#pragma once

#include <ossatura/core/io/mesh/element_file.hpp>
#include <ossatura/core/io/mesh/hexa_file.hpp>
#include <ossatura/core/mesh/tetra_mesh.hpp>
#include <ossatura/core/pfem/hexa_map.hpp>

#include <memory>
#include <string>

namespace ossatura {

/// Points (in mm, `unit` mm per unit of the file) and tetrahedra; the tag is the physical group,
/// the first of several, or the geometrical entity where that belongs to none. Elements of lower
/// dimension are passed over together with the points that only they have.
TetraMesh read_gmsh(const std::string& path, double unit);

/// The elements of the highest dimension, see read_element_mesh(); points in m.
ElementFile read_gmsh_elements(const std::string& path, const ElementFileOptions& options);

/// Hexahedra and sets of physical groups, see read_hexa_file(); points in m.
HexaFile read_gmsh_hexa(const std::string& path, double unit);

/// The same, also of second order, see read_curved_hexa_file(); `map` is theirs, null for hexahedra
/// of first order.
HexaFile read_gmsh_curved_hexa(const std::string& path, double unit,
                               std::shared_ptr<const HexaMap>& map);

} // namespace ossatura
