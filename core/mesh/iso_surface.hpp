// SPDX-License-Identifier: Apache-2.0
// iso_surface makes the surface of the part of a body where a field is above a value, for printing
// and CAD.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/mesh/solids/mesh.hpp>
#include <ossatura/core/mesh/triangle_surface.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// Nodal means [num_points] of element values, weighted by volume; 0 at points that no element has.
/// `mesh` is of hexahedra, value [num_elem].
std::vector<double> node_means(const ElementMesh& mesh, const std::vector<double>& value);
std::vector<double> node_means(const SolidMesh& mesh, const std::vector<double>& value);

/// The boundary of {field > level} in a mesh of hexahedra, field [num_points] finite and linear on
/// the 24 tetrahedra that the centres of a hexahedron and of its faces make with its edges (values
/// there: means of the corners). Parts of the body's own surface where field > level belong to it.
/// Closed, oriented outwards and a manifold: every edge is of exactly two triangles that pass it in
/// opposite directions, every vertex has one fan; triangles meet in nothing else where the
/// tetrahedra do not overlap. Vertices keep a hundredth of an edge from its ends, so that no
/// triangle vanishes, and so does the surface from nodes where parts of the body merely touch.
/// Depends on the numbering by nothing but the order of vertices and triangles. Empty where the
/// field is nowhere above the level. Throws std::invalid_argument for wrong sizes, a field that is
/// not finite and a face of more than two elements.
TriangleSurface iso_surface(const ElementMesh& mesh, const std::vector<double>& field,
                            double level);

/// The same, and what of it hangs together.
struct SolidParts {
  TriangleSurface surface;
  int num_parts = 0; ///< that no path in {field > level} joins, of the 24 tetrahedra's edges
  std::vector<std::int32_t> part_of_triangle; ///< shells of one part, cavities too, have its number
  std::vector<std::int32_t> part_of_node;     ///< [num_points], -1: not above
};

/// Numbers parts by their first nodes.
SolidParts solid_parts(const ElementMesh& mesh, const std::vector<double>& field, double level);
/// The same of elements of any kinds, each of the tetrahedra that the centres of the element and of
/// its faces make with the edges of the faces, which mid-nodes divide: of curved elements the
/// surface passes through these. Faces that two elements share have the same nodes in both.
SolidParts solid_parts(const SolidMesh& mesh, const std::vector<double>& field, double level);

} // namespace ossatura
