// SPDX-License-Identifier: Apache-2.0
// SolidArrays hold a mesh of solid elements of any kinds in the memory of a backend, with what
// their stiffness is made of: the gradients of the shape functions at the quadrature points, formed
// once. An element of n nodes and q points keeps (3 n + 1) q numbers: 13 of C3D4, 124 of C3D10, 488
// of C3D20R and 1647 of C3D20, against 78, 465, 1830 and 1830 of the upper half of its matrix.
#pragma once

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/solids/shape.hpp>
#include <ossatura/kernels/algebra/sparse/inverse_map.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <cmath>
#include <limits>

namespace ossatura {

/// A *slot* begin(e) + a is node a of element e.
template<class Exec>
struct SolidArrays {
  int num_nodes = 0, num_elem = 0;
  Array<int, Exec> begin;                ///< [num_elem + 1] of slots
  Array<int, Exec> node;                 ///< [num_slots]
  Array<int, Exec> elem;                 ///< [num_slots] whose slot it is
  Array<double, Exec> point;             ///< [num_nodes, 3]
  Array<int, Exec> around_begin;         ///< [num_nodes + 1] into the next
  Array<int, Exec> around;               ///< [num_slots] slots of each node, ascending
  Array<std::int64_t, Exec> point_begin; ///< [num_elem + 1] of quadrature points
  Array<double, Exec> weight;            ///< [num quadrature points], m^3
  /// Of each element [points, nodes, 3] from slope_begin(e), 1 / m.
  Array<double, Exec> slope;
  Array<std::int64_t, Exec> slope_begin; ///< [num_elem + 1]

  KOKKOS_FORCEINLINE_FUNCTION int num_points(std::int64_t e) const {
    return int(point_begin(e + 1) - point_begin(e));
  }
  KOKKOS_FORCEINLINE_FUNCTION int num_slots(std::int64_t e) const {
    return begin(e + 1) - begin(e);
  }
};

/// Sizes of each element, in m.
template<class Exec>
struct SolidGeometry {
  Array<double, Exec> volume;   ///< [num_elem], m^3, by the quadrature of the stiffness
  Array<double, Exec> centroid; ///< [num_elem, 3], the mean of the corners
  double total_volume = 0;
  double mean_edge = 0; ///< between corners, over all edges of all elements
};

namespace detail {

/// The slopes of shape functions by r, s, t at the quadrature points of each kind.
struct SolidReference {
  std::int64_t slope_begin[num_solid_kinds], weight_begin[num_solid_kinds];
};

/// Turns slopes by r, s, t into those by x, y, z. Finds the first element with a Jacobian that is
/// not positive.
template<class Exec>
struct FormSolidSlopes {
  SolidArrays<Exec> arrays;
  SolidReference place;
  Array<double, Exec> slope, weight; ///< of reference elements
  Array<std::uint8_t, Exec> kind;

  KOKKOS_FUNCTION void operator()(std::int64_t e, std::int64_t& first_bad) const {
    const int n = arrays.num_slots(e), points = arrays.num_points(e), own = kind(e);
    const std::int64_t first_slot = arrays.begin(e);
    for (int q = 0; q < points; ++q) {
      const std::int64_t from = place.slope_begin[own] + 3 * std::int64_t(n) * q;
      double j[3][3] = {}; // dx_i / dr_d
      const std::int64_t origin = 3 * std::int64_t(arrays.node(first_slot));
      for (int a = 0; a < n; ++a) {
        const std::int64_t x = 3 * std::int64_t(arrays.node(first_slot + a));
        for (int i = 0; i < 3; ++i)
          for (int d = 0; d < 3; ++d)
            j[i][d] += (arrays.point(x + i) - arrays.point(origin + i)) * slope(from + 3 * a + d);
      }
      double cofactor[3][3]; // of j, which is determinant times the inverse, transposed
      for (int i = 0; i < 3; ++i)
        for (int d = 0; d < 3; ++d) {
          const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, d1 = (d + 1) % 3, d2 = (d + 2) % 3;
          cofactor[i][d] = j[i1][d1] * j[i2][d2] - j[i1][d2] * j[i2][d1];
        }
      const double determinant =
          j[0][0] * cofactor[0][0] + j[0][1] * cofactor[0][1] + j[0][2] * cofactor[0][2];
      if (!(determinant > 0) && e < first_bad)
        first_bad = e;
      arrays.weight(arrays.point_begin(e) + q) = determinant * weight(place.weight_begin[own] + q);
      const std::int64_t to = arrays.slope_begin(e) + 3 * std::int64_t(n) * q;
      for (int a = 0; a < n; ++a)
        for (int i = 0; i < 3; ++i) {
          double sum = 0;
          for (int d = 0; d < 3; ++d)
            sum += cofactor[i][d] * slope(from + 3 * a + d);
          arrays.slope(to + 3 * a + i) = sum / determinant;
        }
    }
  }
};

template<class Exec>
struct SumSolidWeights {
  SolidArrays<Exec> arrays;
  Array<double, Exec> volume;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    double sum = 0;
    for (std::int64_t q = arrays.point_begin(e); q < arrays.point_begin(e + 1); ++q)
      sum += arrays.weight(q);
    volume(e) = sum;
  }
};

template<class Exec>
void form_solid_slopes(const Exec& exec, const SolidMesh& mesh, const SolidArrays<Exec>& arrays) {
  SolidReference place{};
  std::vector<double> slope, weight;
  for (int k = 0; k < num_solid_kinds; ++k) {
    const SolidKind kind = SolidKind(k);
    place.slope_begin[k] = std::int64_t(slope.size());
    place.weight_begin[k] = std::int64_t(weight.size());
    for (const SolidQuadraturePoint& at : quadrature_of(kind)) {
      const SolidShapeValues shape = evaluate_shape(kind, at.at);
      for (std::size_t a = 0; a < std::size_t(nodes_per_elem(kind)); ++a)
        slope.insert(slope.end(), shape.slope[a].begin(), shape.slope[a].end());
      weight.push_back(at.weight);
    }
  }
  std::vector<std::uint8_t> kind;
  for (const SolidKind one : mesh.kind)
    kind.push_back(std::uint8_t(one));
  std::int64_t bad = arrays.num_elem;
  Kokkos::parallel_reduce("ossatura::form_solid_slopes", range(exec, arrays.num_elem),
                          FormSolidSlopes<Exec>{arrays, place,
                                                upload(exec, "ossatura::solids::reference", slope),
                                                upload(exec, "ossatura::solids::rule", weight),
                                                upload(exec, "ossatura::solids::kind", kind)},
                          Kokkos::Min<std::int64_t>(bad));
  OSSATURA_REQUIRE(bad >= arrays.num_elem,
                   "element " << bad << " is inside out: its Jacobian is not positive");
}

inline void require_solid_mesh(const SolidMesh& mesh) {
  OSSATURA_REQUIRE(mesh.num_elem() > 0 && mesh.num_elem() < 1u << 28 &&
                       mesh.num_points() < 1u << 28 &&
                       mesh.node.size() < std::size_t(std::numeric_limits<int>::max()),
                   mesh.num_elem() << " elements with " << mesh.node.size() << " nodes, of "
                                   << mesh.num_points());
  OSSATURA_REQUIRE(mesh.begin.size() == mesh.num_elem() + 1 && mesh.begin[0] == 0 &&
                       std::size_t(mesh.begin.back()) == mesh.node.size(),
                   "elements begin at other places than their nodes");
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    const NodeRange nodes = mesh.nodes_of(e);
    OSSATURA_REQUIRE(nodes.size() == std::size_t(nodes_per_elem(mesh.kind[e])),
                     "element " << e << " has " << nodes.size() << " nodes of "
                                << nodes_per_elem(mesh.kind[e]));
    for (const std::int32_t n : nodes)
      OSSATURA_REQUIRE(n >= 0 && std::size_t(n) < mesh.num_points(),
                       "element " << e << " has node " << n);
  }
}

} // namespace detail

/// Throws std::invalid_argument unless there is an element, nodes are in range, there are fewer
/// than 2^28 of either, and Jacobians are positive at quadrature points, naming the first element
/// where one is not. Fences.
template<class Exec>
SolidArrays<Exec> make_solid_arrays(const Exec& exec, const SolidMesh& mesh) {
  detail::require_solid_mesh(mesh);
  SolidArrays<Exec> arrays;
  arrays.num_nodes = int(mesh.num_points());
  arrays.num_elem = int(mesh.num_elem());
  std::vector<std::int32_t> elem;
  std::vector<std::int64_t> point_begin{0}, slope_begin{0};
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    const int nodes = nodes_per_elem(mesh.kind[e]), points = points_per_elem(mesh.kind[e]);
    elem.insert(elem.end(), std::size_t(nodes), std::int32_t(e));
    point_begin.push_back(point_begin.back() + points);
    slope_begin.push_back(slope_begin.back() + 3 * nodes * points);
  }
  arrays.begin = upload(exec, "ossatura::solids::begin", mesh.begin);
  arrays.node = upload(exec, "ossatura::solids::node", mesh.node);
  arrays.elem = upload(exec, "ossatura::solids::elem", elem);
  arrays.point = upload(exec, "ossatura::solids::point", mesh.point);
  arrays.point_begin = upload(exec, "ossatura::solids::point_begin", point_begin);
  arrays.slope_begin = upload(exec, "ossatura::solids::slope_begin", slope_begin);
  arrays.weight = make_uninitialized<double>(exec, point_begin.back(), "ossatura::solids::weight");
  arrays.slope = make_uninitialized<double>(exec, slope_begin.back(), "ossatura::solids::slope");
  const InverseMap<Exec> slots = invert_map(exec, arrays.node, arrays.num_nodes);
  arrays.around_begin = slots.begin;
  arrays.around = slots.member;
  detail::form_solid_slopes(exec, mesh, arrays);
  fence(exec, "ossatura::make_solid_arrays");
  return arrays;
}

/// Fences.
template<class Exec>
SolidGeometry<Exec> measure_solids(const Exec& exec, const SolidMesh& mesh,
                                   const SolidArrays<Exec>& arrays) {
  SolidGeometry<Exec> geometry;
  geometry.volume = make_uninitialized<double>(exec, arrays.num_elem, "ossatura::solids::volume");
  Kokkos::parallel_for("ossatura::measure_solids", range(exec, arrays.num_elem),
                       detail::SumSolidWeights<Exec>{arrays, geometry.volume});
  std::vector<double> centroid;
  double length = 0, num_edges = 0;
  for (std::size_t e = 0; e < mesh.num_elem(); ++e) {
    const auto centre = centre_of(mesh, e);
    centroid.insert(centroid.end(), centre.begin(), centre.end());
    const SolidShape& shape = shape_of(mesh.kind[e]);
    const NodeRange nodes = mesh.nodes_of(e);
    for (int k = 0; k < shape.num_edges; ++k, ++num_edges) {
      const double* const a = &mesh.point[3 * std::size_t(nodes[std::size_t(shape.edge[k][0])])];
      const double* const b = &mesh.point[3 * std::size_t(nodes[std::size_t(shape.edge[k][1])])];
      length += std::hypot(b[0] - a[0], b[1] - a[1], b[2] - a[2]);
    }
  }
  geometry.centroid = upload(exec, "ossatura::solids::centroid", centroid);
  geometry.mean_edge = length / num_edges;
  for (const double volume : download(exec, geometry.volume))
    geometry.total_volume += volume;
  return geometry;
}

} // namespace ossatura
