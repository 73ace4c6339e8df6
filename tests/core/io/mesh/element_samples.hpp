// SPDX-License-Identifier: Apache-2.0
// Small meshes of hexahedra and triangles in the formats that are read, made by hand, for tests of
// the readers, the damaged-file corpus and the seeds of the fuzz targets. Shares nothing with the
// readers.
#pragma once

#include "tests/core/io/mesh/tetra_samples.hpp"

#include <cstdint>
#include <vector>

namespace ossatura_test {

/// 12 points, x fastest, and two unit cubes side by side.
struct TwoHexa {
  std::vector<double> point{0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 1, 1, 0, 2, 1, 0,
                            0, 0, 1, 1, 0, 1, 2, 0, 1, 0, 1, 1, 1, 1, 1, 2, 1, 1};
  std::vector<std::int32_t> hexa{0, 1, 4, 3, 6, 7, 10, 9, 1, 2, 5, 4, 7, 8, 11, 10};
};

/// With a point, a line, a quadrangle and an unused node. Nodes 1 to 12 and 99, the first.
inline Bytes sample_gmsh_2_hexa() {
  return "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n13\n99 9 9 9\n"
         "1 0 0 0\n2 1 0 0\n3 2 0 0\n4 0 1 0\n5 1 1 0\n6 2 1 0\n"
         "7 0 0 1\n8 1 0 1\n9 2 0 1\n10 0 1 1\n11 1 1 1\n12 2 1 1\n$EndNodes\n$Elements\n5\n"
         "1 15 2 0 1 1\n2 1 2 0 1 1 2\n3 3 2 0 1 1 2 5 4\n"
         "4 5 2 0 1 1 2 5 4 7 8 11 10\n5 5 2 0 1 2 3 6 5 8 9 12 11\n$EndElements\n";
}

/// One triangle and its mirror image, and a line, in blocks of format 4.1.
inline Bytes sample_gmsh_4_triangles() {
  return "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
         "$Nodes\n1 4 1 4\n2 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n1 1 0.5\n$EndNodes\n"
         "$Elements\n2 3 1 3\n1 1 1 1\n1 1 2\n2 1 2 2\n2 1 2 3\n3 4 3 2\n$EndElements\n";
}

/// A voxel, a hexahedron, a quadrilateral and an unused point at the end.
inline Bytes sample_vtk_hexa() {
  return "# vtk DataFile Version 3.0\ntwo cubes\nASCII\nDATASET UNSTRUCTURED_GRID\n"
         "POINTS 13 float\n0 0 0 1 0 0 2 0 0\n0 1 0 1 1 0 2 1 0\n"
         "0 0 1 1 0 1 2 0 1\n0 1 1 1 1 1 2 1 1\n9 9 9\n"
         "CELLS 3 23\n8 0 1 3 4 6 7 9 10\n4 0 1 4 3\n8 1 2 5 4 7 8 11 10\n"
         "CELL_TYPES 3\n11\n9\n12\nCELL_DATA 3\nSCALARS quality float 1\n"
         "LOOKUP_TABLE default\n1\n1\n1\n";
}

inline Bytes sample_vtu_hexa(const VtuKind& kind) {
  const TwoHexa mesh;
  VtuWriter out(kind);
  const Bytes points = out.array("Float64", "Points", 3, mesh.point);
  Bytes cells = out.array("Int32", "connectivity", 1, mesh.hexa);
  cells += out.array("Int64", "offsets", 1, std::vector<std::int64_t>{8, 16});
  cells += out.array("UInt8", "types", 1, std::vector<std::uint8_t>{12, 12});
  return out.file(points, cells, "", 12, 2);
}

} // namespace ossatura_test
