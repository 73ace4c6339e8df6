// SPDX-License-Identifier: Apache-2.0
// These functions read meshes from the text and binary files of openCARP.
//
// [1] openCARP user manual, "File formats": .pts, .elem, .lon, .vtx.
// [2] The source of meshtool, openCARP's mesh program (io_utils.h): binary files begin with 1024
//     bytes of text, zeros after it: "count is_big_endian checksum", in .blon "axes count
//     is_big_endian checksum". Then come three floats per point; type, vertices and tag of an
//     element as 32-bit integers; the directions of an element as floats.
// [3] meshtools3d (github.com/OpenHeartDevelopers/meshtools3d): writes the same with a header that
//     is its line alone. Which it is, is told by the size of the file. It names the type codes.
#pragma once

#include <ossatura/core/mesh/tetra_mesh.hpp>

#include <string>

namespace ossatura {

/// Points (in mm, `unit` mm per unit of the file), tetrahedra and tags from a .pts and a .elem
/// file, or from .bpts and .belem. An element without a tag has tag 0.
TetraMesh read_opencarp_text(const std::string& points, const std::string& elements, double unit);
TetraMesh read_opencarp_binary(const std::string& points, const std::string& elements, double unit);

/// Sets mesh.fibre, and mesh.sheet where the file has two directions, from a .lon file, with or
/// without its header line, or from a .blon file.
void read_text_directions(const std::string& path, TetraMesh& mesh);
void read_binary_directions(const std::string& path, TetraMesh& mesh);

} // namespace ossatura
