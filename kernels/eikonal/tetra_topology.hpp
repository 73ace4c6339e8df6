// SPDX-License-Identifier: Apache-2.0
// A TetraTopology is a tetrahedral mesh on a backend, ordered for the memory: points along a
// space-filling curve, tetrahedra by their first point, and for each point the tetrahedra around
// it.
#pragma once

#include <ossatura/core/base/morton.hpp>
#include <ossatura/core/mesh/tetra_mesh.hpp>
#include <ossatura/kernels/algebra/sorting/keys.hpp>
#include <ossatura/kernels/algebra/sparse/inverse_map.hpp>
#include <ossatura/kernels/algebra/upload.hpp>

#include <limits>

namespace ossatura {

/// Points of one tetrahedron, read at once.
struct alignas(16) TetraPoints {
  int point[4];
};

/// Numbers are those of the new order, unless said otherwise.
template<class Exec>
struct TetraTopology {
  Array<int, Exec> point_order;   ///< [num_points] number in the mesh of each point
  Array<int, Exec> tetra_order;   ///< [num_tetra] number in the mesh of each tetrahedron
  Array<TetraPoints, Exec> tetra; ///< [num_tetra]
  /// Around point i: ring(begin(i)) .. ring(begin(i + 1) - 1), ascending; an entry is 4 times the
  /// tetrahedron plus the place of i in it.
  InverseMap<Exec> ring;

  std::int64_t num_points() const { return point_order.extent(0); }
  std::int64_t num_tetra() const { return tetra.extent(0); }
};

namespace detail {

template<class Exec>
struct PointBounds {
  Array<double, Exec> point;
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& x0, double& y0, double& z0, double& x1,
                                  double& y1, double& z1) const {
    double* lower[3] = {&x0, &y0, &z0};
    double* upper[3] = {&x1, &y1, &z1};
    for (int d = 0; d < 3; ++d) {
      const double x = point(3 * i + d);
      *lower[d] = x < *lower[d] ? x : *lower[d];
      *upper[d] = x > *upper[d] ? x : *upper[d];
    }
  }
};

/// Keys of 10 bits an axis.
template<class Exec>
struct CurveKeys {
  double lower[3];
  double scale; ///< the same for all axes: cubes of the curve are cubes in space
  Array<double, Exec> point;
  Array<std::uint32_t, Exec> key;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    int cell[3];
    for (int d = 0; d < 3; ++d) {
      const int c = int((point(3 * i + d) - lower[d]) * scale);
      cell[d] = Kokkos::clamp(c, 0, 1023);
    }
    key(i) = std::uint32_t(morton_key(cell[0], cell[1], cell[2]));
  }
};

template<class Exec>
struct InvertOrder {
  Array<int, Exec> order;
  Array<int, Exec> place;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { place(order(i)) = int(i); }
};

/// tetra [num_tetra, 4] of the mesh in the new point numbers, in place, and the least of each.
template<class Exec>
struct RenumberPoints {
  Array<int, Exec> place;
  Array<int, Exec> tetra;
  Array<int, Exec> first;
  KOKKOS_FUNCTION void operator()(std::int64_t t) const {
    int least = 0x7fffffff;
    for (int k = 0; k < 4; ++k) {
      const int p = place(tetra(4 * t + k));
      tetra(4 * t + k) = p;
      least = Kokkos::min(least, p);
    }
    first(t) = least;
  }
};

template<class Exec>
struct GatherTetra {
  Array<int, Exec> order;
  Array<int, Exec> source;
  Array<TetraPoints, Exec> tetra;
  Array<int, Exec> corner; ///< [4 num_tetra] the same as flat list

  KOKKOS_FUNCTION void operator()(std::int64_t t) const {
    TetraPoints points;
    for (int k = 0; k < 4; ++k) {
      points.point[k] = source(4 * std::int64_t(order(t)) + k);
      corner(4 * t + k) = points.point[k];
    }
    tetra(t) = points;
  }
};

} // namespace detail

/// Orders points [num_points, 3] along a Morton curve through cubes of a 1024th of the largest
/// extent, each cube's points as in the mesh. Fences.
template<class Exec>
Array<int, Exec> space_filling_order(const Exec& exec, const Array<double, Exec>& point) {
  const std::int64_t n = point.extent(0) / 3;
  detail::CurveKeys<Exec> keys;
  using Min = Kokkos::Min<double>;
  using Max = Kokkos::Max<double>;
  double* lower = keys.lower;
  double upper[3];
  Kokkos::parallel_reduce("ossatura::space_filling_order::bounds", range(exec, n),
                          detail::PointBounds<Exec>{point}, Min(lower[0]), Min(lower[1]),
                          Min(lower[2]), Max(upper[0]), Max(upper[1]), Max(upper[2]));
  fence(exec, "ossatura::space_filling_order::bounds");
  double extent = 0;
  for (int d = 0; d < 3; ++d)
    extent = upper[d] - lower[d] > extent ? upper[d] - lower[d] : extent;
  keys.scale = extent > 0 ? 1023.999 / extent : 0;
  keys.point = point;
  keys.key = make_uninitialized<std::uint32_t>(exec, n, "ossatura::space_filling_order::key");
  Kokkos::parallel_for("ossatura::space_filling_order::keys", range(exec, n), keys);
  return sorted_order(exec, keys.key, 30);
}

/// The topology of a mesh with its points in an order [num_points] of their numbers, each once; the
/// mesh may be empty. The result does not depend on the threads. Fences. Throws
/// std::invalid_argument for more than 2^29 tetrahedra and for entries out of range.
template<class Exec>
TetraTopology<Exec> make_tetra_topology(const Exec& exec, const TetraMesh& mesh,
                                        const Array<int, Exec>& order) {
  const std::int64_t num_points = mesh.num_points(), num_tetra = mesh.num_tetra();
  OSSATURA_REQUIRE(num_tetra < std::int64_t(1) << 29 && num_points < std::int64_t(1) << 31,
                   num_tetra << " tetrahedra, " << num_points << " points: too many for 32 bits");
  check_points_of_tetra(mesh);
  TetraTopology<Exec> topology;
  topology.point_order = order;

  Array<int, Exec> source = upload(exec, "ossatura::tetra_topology::source", mesh.tetra);
  auto first = make_uninitialized<int>(exec, num_tetra, "ossatura::tetra_topology::first");
  {
    const auto place = make_uninitialized<int>(exec, num_points, "ossatura::tetra_topology::place");
    Kokkos::parallel_for("ossatura::tetra_topology::place", range(exec, num_points),
                         detail::InvertOrder<Exec>{topology.point_order, place});
    Kokkos::parallel_for("ossatura::tetra_topology::renumber", range(exec, num_tetra),
                         detail::RenumberPoints<Exec>{place, source, first});
  }
  topology.tetra_order = invert_map(exec, first, num_points).member;
  first = {};
  topology.tetra = make_uninitialized<TetraPoints>(exec, num_tetra, "ossatura::tetra_topology");
  const auto corner =
      make_uninitialized<int>(exec, 4 * num_tetra, "ossatura::tetra_topology::corner");
  Kokkos::parallel_for(
      "ossatura::tetra_topology::gather", range(exec, num_tetra),
      detail::GatherTetra<Exec>{topology.tetra_order, source, topology.tetra, corner});
  topology.ring = invert_map(exec, corner, num_points);
  fence(exec, "ossatura::make_tetra_topology");
  return topology;
}

/// The same with the points along a curve through their coordinates `point` [num_points, 3], which
/// are on the backend already, and at least one tetrahedron.
template<class Exec>
TetraTopology<Exec> make_tetra_topology(const Exec& exec, const TetraMesh& mesh,
                                        const Array<double, Exec>& point) {
  OSSATURA_REQUIRE(mesh.num_tetra() > 0, "the mesh has no tetrahedra");
  return make_tetra_topology(exec, mesh, space_filling_order(exec, point));
}

} // namespace ossatura
