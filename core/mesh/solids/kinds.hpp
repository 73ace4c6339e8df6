// SPDX-License-Identifier: Apache-2.0
// The kinds of solid elements that engineers' meshes have, by the names that Abaqus [1] and
// CalculiX give them. Nodes, faces and edges are in the order of [1].
//
// [1] Abaqus Analysis User's Guide, "Three-dimensional solid element library".
#pragma once

#include <ossatura/core/base/names.hpp>

#include <cstdint>

namespace ossatura {

enum class SolidKind : std::uint8_t {
  tetra4,
  tetra10,
  prism6,
  prism15,
  hexa8,
  hexa20,
  hexa20r ///< 2 x 2 x 2 quadrature points instead of 3 x 3 x 3
};
inline constexpr int num_solid_kinds = 7;
inline constexpr int most_solid_nodes = 20, most_solid_faces = 6;

constexpr Names<SolidKind> names_of(SolidKind) {
  return {{SolidKind::tetra4, "C3D4"},   {SolidKind::tetra10, "C3D10"},
          {SolidKind::prism6, "C3D6"},   {SolidKind::prism15, "C3D15"},
          {SolidKind::hexa8, "C3D8"},    {SolidKind::hexa20, "C3D20"},
          {SolidKind::hexa20r, "C3D20R"}};
}

/// What elements with the same corners have in common.
struct SolidShape {
  const char* noun;
  int num_corners, num_faces, num_edges;
  /// Corners of faces, counter-clockwise seen from outside; -1 behind the last of a triangle.
  int face[most_solid_faces][4];
  /// Corners of edges, in the order of the mid-nodes of second-order elements, which follow the
  /// corners.
  int edge[12][2];
};

inline constexpr SolidShape tetra_shape{
    "tetrahedron",
    4,
    4,
    6,
    {{0, 2, 1, -1}, {0, 1, 3, -1}, {1, 2, 3, -1}, {2, 0, 3, -1}},
    {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}}};
inline constexpr SolidShape prism_shape{
    "prism",
    6,
    5,
    9,
    {{0, 2, 1, -1}, {3, 4, 5, -1}, {0, 1, 4, 3}, {1, 2, 5, 4}, {2, 0, 3, 5}},
    {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}, {0, 3}, {1, 4}, {2, 5}}};
inline constexpr SolidShape hexa_shape{
    "hexahedron",
    8,
    6,
    12,
    {{0, 3, 2, 1}, {4, 5, 6, 7}, {0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}},
    {{0, 1},
     {1, 2},
     {2, 3},
     {3, 0},
     {4, 5},
     {5, 6},
     {6, 7},
     {7, 4},
     {0, 4},
     {1, 5},
     {2, 6},
     {3, 7}}};

constexpr const SolidShape& shape_of(SolidKind kind) {
  return kind == SolidKind::tetra4 || kind == SolidKind::tetra10   ? tetra_shape
         : kind == SolidKind::prism6 || kind == SolidKind::prism15 ? prism_shape
                                                                   : hexa_shape;
}
constexpr bool is_second_order(SolidKind kind) {
  return kind != SolidKind::tetra4 && kind != SolidKind::prism6 && kind != SolidKind::hexa8;
}
constexpr int nodes_per_elem(SolidKind kind) {
  const SolidShape& shape = shape_of(kind);
  return shape.num_corners + (is_second_order(kind) ? shape.num_edges : 0);
}
/// Of quadrature.
constexpr int points_per_elem(SolidKind kind) {
  switch (kind) {
  case SolidKind::tetra4:
    return 1;
  case SolidKind::prism6:
    return 2;
  case SolidKind::tetra10:
    return 4;
  case SolidKind::prism15:
    return 9;
  case SolidKind::hexa20:
    return 27;
  default:
    return 8;
  }
}

/// The nodes of a face as a polygon, corners and the mid-nodes between them by turns,
/// counter-clockwise seen from outside.
struct SolidFaceNodes {
  int num_nodes = 0, num_corners = 0;
  int node[8] = {}; ///< of the element
};
constexpr SolidFaceNodes face_nodes(SolidKind kind, int face) {
  const SolidShape& shape = shape_of(kind);
  const int(&corner)[4] = shape.face[face];
  SolidFaceNodes nodes;
  nodes.num_corners = corner[3] < 0 ? 3 : 4;
  for (int k = 0; k < nodes.num_corners; ++k) {
    const int a = corner[k], b = corner[(k + 1) % nodes.num_corners];
    nodes.node[nodes.num_nodes++] = a;
    for (int e = 0; is_second_order(kind) && e < shape.num_edges; ++e)
      if ((shape.edge[e][0] == a && shape.edge[e][1] == b) ||
          (shape.edge[e][0] == b && shape.edge[e][1] == a))
        nodes.node[nodes.num_nodes++] = shape.num_corners + e;
  }
  return nodes;
}

} // namespace ossatura
