// SPDX-License-Identifier: Apache-2.0
// These functions number the edges and faces of hexahedra in a mesh. Host memory, no Kokkos.
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// A vertex, an edge, a face or the interior.
struct HexaEntity {
  int dimension; ///< 0 vertex, 1 edge, 2 face, 3 the interior
  int number;    ///< among those of that dimension: vertices in the order of ElementShape::hexa,
                 ///< edges and faces in that of hexa_edge and hexa_face_frame
};

/// The entity that is at the lower (0) or the upper (1) end of each axis, or between them (2 and
/// more).
HexaEntity hexa_entity(const std::uint8_t (&index)[3]);

/// An edge of the reference hexahedron runs along `axis` from `node[0]` (at -1) to `node[1]` (+1).
struct HexaEdge {
  int axis;
  int node[2];
};

/// Ascending by axis, then by the places of the edge along the two other axes, the higher axis
/// fastest.
inline constexpr HexaEdge hexa_edge[12] = {{0, {0, 1}}, {0, {4, 5}}, {0, {3, 2}}, {0, {7, 6}},
                                           {1, {0, 3}}, {1, {4, 7}}, {1, {1, 2}}, {1, {5, 6}},
                                           {2, {0, 4}}, {2, {3, 7}}, {2, {1, 5}}, {2, {2, 6}}};

/// A face of the reference hexahedron is where coordinate `axis` is -1 (side 0) or +1 (side 1).
/// node[a][b] is at the ends a and b of the two other axes, the lower axis first.
struct HexaFace {
  int axis, side;
  int node[2][2];
};

/// Ascending by axis, then side.
inline constexpr HexaFace hexa_face_frame[6] = {{0, 0, {{0, 4}, {3, 7}}}, {0, 1, {{1, 5}, {2, 6}}},
                                                {1, 0, {{0, 4}, {1, 5}}}, {1, 1, {{3, 7}, {2, 6}}},
                                                {2, 0, {{0, 3}, {1, 2}}}, {2, 1, {{4, 7}, {5, 6}}}};

/// The view of an element on one of its faces: the frame of the face starts at the lowest of its
/// four numbers, at the ends origin[0] and origin[1] of the element's two axes, and goes first
/// along the second of these if `swapped`, towards the lower neighbour.
struct FaceView {
  int origin[2];
  bool swapped;
};

/// `node`: the 8 of an element.
FaceView view_of_face(const std::int32_t* node, const HexaFace& face);

/// Numbers are those of first occurrence, element by element. Two elements have a face in common
/// if it has the same four vertices and the same diagonals.
struct HexaEntities {
  std::int32_t num_edges = 0, num_faces = 0;
  std::vector<std::int32_t> edge; ///< [num_elem, 12]
  std::vector<std::int32_t> face; ///< [num_elem, 6]
};

/// Throws std::invalid_argument unless the mesh is of hexahedra, for nodes that are none of its
/// points, elements with a node twice and faces of more than two elements, naming the element.
HexaEntities make_hexa_entities(const ElementMesh& mesh);

} // namespace ossatura
