// SPDX-License-Identifier: Apache-2.0
// These generators make meshes of soft bodies, which need no file.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>

namespace ossatura {

/// A rectangle of columns x rows nodes in the plane z = 0 from the origin to (width, height); each
/// cell is two triangles, seen turning counter-clockwise from z > 0, the diagonals alternate. 70 x
/// 70 is the cloth of Zeng and Courtecuisse (arXiv 2306.05893): 4900 nodes, 9522 triangles. Throws
/// std::invalid_argument for fewer than two nodes a side or a size that is not positive.
ElementMesh make_cloth(int columns, int rows, double width, double height);

/// A box of cells[0] x cells[1] x cells[2] hexahedra from the origin to `size`. 19^3 cells are the
/// cube of the same paper. Throws for fewer than one cell a side or a size that is not positive.
ElementMesh make_hexa_box(const int (&cells)[3], const double (&size)[3]);

/// The box of hexahedra without the cells from first[axis] to last[axis] - 1 along each axis, and
/// without the points that these alone have; the others keep their order. An L is a box without a
/// quarter: make_hexa_box_without({3 n, n, 3 n}, {3, 1, 3}, {n, 0, n}, {3 n, n, 3 n}). Throws as
/// the box does, and for cells outside it, or none left.
ElementMesh make_hexa_box_without(const int (&cells)[3], const double (&size)[3],
                                  const int (&first)[3], const int (&last)[3]);

/// The box of tetrahedra, each cell five tetrahedra that mirror their neighbours'.
ElementMesh make_tetra_box(const int (&cells)[3], const double (&size)[3]);

/// An ellipsoid about the origin with the given semi-axes, of tetrahedra: the image of a cube of
/// `cells`^3 cells, six tetrahedra each, whose surface is on the ellipsoid. No tetrahedron is flat:
/// of a ball, angles between faces are 25 to 120 degrees for any number of cells. Throws for fewer
/// than two or more than 1000 cells and for a semi-axis that is not positive.
ElementMesh make_tetra_ellipsoid(const double (&semi_axes)[3], int cells);

} // namespace ossatura
