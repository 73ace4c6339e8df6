// SPDX-License-Identifier: Apache-2.0
// SoftInput holds the arrays that elements of a soft body are evaluated from. Every shape has a
// matrix of edges, Ds, whose product with the rest shape's inverse is the deformation gradient F.
//
//   tetra     edges from node 0 to 1, 2, 3
//   triangle  edges from node 0 to 1 and 2, and the unit normal, so that F takes normal to normal
//   hexa      d x / d xi at the centre, xi in [-1, 1]^3
#pragma once

#include <ossatura/core/mesh/element_mesh.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/softbody/elements/material.hpp>
#include <ossatura/kernels/softbody/elements/polar_rotation.hpp>

#include <cstdint>

namespace ossatura {

/// Pairs (a, b), a <= b, of nodes of an element, row by row: the number of pair (a, b) is
/// a nodes_per_elem - a (a - 1) / 2 + b - a.
constexpr int pairs_per_elem(ElementShape shape) {
  const int n = nodes_per_elem(shape);
  return n * (n + 1) / 2;
}

namespace detail {

/// nodes_per_elem where device code may not call it.
template<ElementShape shape>
inline constexpr int soft_element_nodes = nodes_per_elem(shape);

/// Arrays of a group of elements, and what is asked for. `rest` has one row of num_elem values for
/// each number an element keeps.
struct SoftInput {
  int num_elem = 0;
  ArrayPointer<const int> node;    ///< [num_elem, nodes_per_elem]
  ArrayPointer<const double> rest; ///< [numbers, num_elem]
  ArrayPointer<const double> x;    ///< [num_points, 3]
  ArrayPointer<const double> v;    ///< [num_points, 3], read for force_scale and last_step
  double coefficient[3] = {0, 0, 0};
  double force_scale = 0, stiffness_scale = 1;
  double spared_tension = 0; ///< Pa / m^2, see turning_stiffness.hpp
  double last_step = 0;      ///< s, likewise

  template<ElementShape shape>
  KOKKOS_FORCEINLINE_FUNCTION const int* nodes_of(int elem) const {
    return node.data + std::int64_t(elem) * soft_element_nodes<shape>;
  }

  KOKKOS_FORCEINLINE_FUNCTION double rest_value(int elem, int k) const {
    return rest(k * std::int64_t(num_elem) + elem);
  }

  KOKKOS_FORCEINLINE_FUNCTION Matrix3 rest_matrix(int elem) const {
    Matrix3 a;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        a(i, j) = rest_value(elem, 3 * i + j);
    return a;
  }
};

KOKKOS_FORCEINLINE_FUNCTION Vector3 load_vector(const ArrayPointer<const double>& x, int node) {
  const std::int64_t i = 3 * std::int64_t(node);
  return {{x(i), x(i + 1), x(i + 2)}};
}

/// Edges of a tetrahedron or the two of a triangle as columns; the third is then zero.
template<ElementShape shape>
KOKKOS_FORCEINLINE_FUNCTION Matrix3 simplex_edges(const ArrayPointer<const double>& x,
                                                  const int* node) {
  const Vector3 origin = load_vector(x, node[0]);
  const Vector3 a = load_vector(x, node[1]) - origin, b = load_vector(x, node[2]) - origin;
  if constexpr (shape == ElementShape::tetra)
    return from_columns(a, b, load_vector(x, node[3]) - origin);
  else
    return from_columns(a, b, Vector3{{0, 0, 0}});
}

/// The unit normal of a triangle with these edges as the third column.
KOKKOS_FORCEINLINE_FUNCTION Matrix3 with_normal(const Matrix3& edges) {
  const Vector3 a = edges.column(0), b = edges.column(1);
  return from_columns(a, b, edge_frame(a, b).column(2));
}

/// The rotation from rest to the edges ds. The rows of dm_inverse are gradients: its last is normal
/// to the first two rest edges, and the first edge is along (row 1) x (row 2).
template<SoftRotation rotation>
KOKKOS_INLINE_FUNCTION Matrix3 element_rotation(const Matrix3& ds, const Matrix3& dm_inverse,
                                                const Matrix3& f) {
  if constexpr (rotation == SoftRotation::polar) {
    return polar_rotation(f);
  } else {
    const Matrix3 to = edge_frame(ds.column(0), ds.column(1));
    const Vector3 a = cross(dm_inverse.row[1], dm_inverse.row[2]);
    const Vector3 b = cross(dm_inverse.row[2], dm_inverse.row[0]);
    return times_transposed(to, edge_frame(a, b));
  }
}

} // namespace detail

} // namespace ossatura
