// SPDX-License-Identifier: Apache-2.0
// read_surface reads triangle surfaces from .off and .stl files.
#pragma once

#include <ossatura/core/mesh/triangle_surface.hpp>

#include <string>

namespace ossatura {

/// Reads a surface: ASCII OFF (polygons are cut into fans), ASCII STL, binary STL; told apart by
/// content. STL corners at exactly equal positions become one vertex; triangles with a repeated
/// vertex are dropped. Throws InputError naming the line or triangle for anything malformed, not
/// finite or out of range. Whether the surface is closed is not looked at.
TriangleSurface read_surface(const std::string& path);

/// Empty if the surface is closed: every edge belongs to exactly two triangles, which pass it in
/// opposite directions. Otherwise a sentence about the first edge (in the order of its lower
/// vertex) that is not so, with its end points.
std::string describe_first_open_edge(const TriangleSurface& surface);

/// Throws InputError, starting with `source`, unless the surface has triangles and is closed.
void require_closed(const TriangleSurface& surface, const std::string& source);

} // namespace ossatura
