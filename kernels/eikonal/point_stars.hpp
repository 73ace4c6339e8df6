// SPDX-License-Identifier: Apache-2.0
// A point's star lists its neighbours, each once, and the tetrahedra around the point in terms of
// that list: an update reads few numbers, and each of them once.
#pragma once

#include <ossatura/kernels/eikonal/gray_code.hpp>
#include <ossatura/kernels/eikonal/packed_face.hpp>
#include <ossatura/kernels/eikonal/tetra_topology.hpp>

namespace ossatura {

/// Points of more neighbours than `max_neighbours` have none here; whoever meets one goes to the
/// tetrahedra.
template<class Exec>
struct PointStars {
  static constexpr int max_neighbours = 128;

  Array<int, Exec> begin;     ///< [num_points + 1]
  Array<int, Exec> neighbour; ///< those of point i from begin(i) to begin(i + 1), ascending
  /// [4 num_tetra] by ring entry: the places of the face's a, b, c among the neighbours, 7 bits
  /// each, and above them room for 11 bits of a height
  Array<std::uint32_t, Exec> face;
};

namespace detail {

/// Points around one, ascending, each once.
struct NeighbourList {
  int point[PointStars<Kokkos::DefaultHostExecutionSpace>::max_neighbours];
  int size = 0;
  bool full = false;

  KOKKOS_INLINE_FUNCTION int place_of(int p) const {
    int low = 0, high = size;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (point[middle] < p)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  KOKKOS_INLINE_FUNCTION void insert(int p) {
    const int place = place_of(p);
    if (place < size && point[place] == p)
      return;
    if (size == int(sizeof(point) / sizeof(point[0]))) {
      full = true;
      return;
    }
    for (int i = size; i > place; --i)
      point[i] = point[i - 1];
    point[place] = p;
    ++size;
  }
};

template<class Exec>
KOKKOS_INLINE_FUNCTION void list_neighbours(const TetraTopology<Exec>& topology, int i,
                                            NeighbourList& list) {
  for (int e = topology.ring.begin(i); e < topology.ring.begin(i + 1) && !list.full; ++e) {
    const int entry = topology.ring.member(e);
    const TetraPoints points = topology.tetra(entry >> 2);
    for (int k = 0; k < 4; ++k)
      if (k != (entry & 3))
        list.insert(points.point[k]);
  }
  if (list.full)
    list.size = 0;
}

template<class Exec>
struct CountNeighbours {
  TetraTopology<Exec> topology;
  Array<int, Exec> begin;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    NeighbourList list;
    list_neighbours(topology, int(i), list);
    begin(i) = list.size;
  }
};

/// Counts become beginnings, in place.
template<class Exec>
struct BeginOfStar {
  Array<int, Exec> begin;
  KOKKOS_FUNCTION void operator()(std::int64_t i, int& sum, bool final) const {
    const int count = begin(i);
    if (final)
      begin(i) = sum;
    sum += count;
  }
};

template<class Exec>
struct FillStars {
  TetraTopology<Exec> topology;
  PointStars<Exec> stars;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    NeighbourList list;
    list_neighbours(topology, int(i), list);
    for (int k = 0; k < list.size; ++k)
      stars.neighbour(stars.begin(i) + k) = list.point[k];
    for (int e = topology.ring.begin(i); e < topology.ring.begin(i + 1); ++e) {
      const int entry = topology.ring.member(e);
      const TetraPoints points = topology.tetra(entry >> 2);
      std::uint32_t face = 0;
      for (int which = 0; which < 3 && list.size > 0; ++which)
        face |= std::uint32_t(list.place_of(points.point[face_vertex(entry & 3, which)]))
                << 7 * which;
      stars.face(e) = face;
    }
  }
};

} // namespace detail

/// Does not depend on the threads. Fences.
template<class Exec>
PointStars<Exec> make_point_stars(const Exec& exec, const TetraTopology<Exec>& topology) {
  const std::int64_t n = topology.num_points();
  PointStars<Exec> stars;
  stars.begin = make_zeros<int>(exec, n + 1, "ossatura::point_stars::begin");
  Kokkos::parallel_for("ossatura::point_stars::count", range(exec, n),
                       detail::CountNeighbours<Exec>{topology, stars.begin});
  int total = 0;
  Kokkos::parallel_scan("ossatura::point_stars::begin", range(exec, n + 1),
                        detail::BeginOfStar<Exec>{stars.begin}, total);
  fence(exec, "ossatura::make_point_stars");
  stars.neighbour = make_uninitialized<int>(exec, total, "ossatura::point_stars::neighbour");
  stars.face = make_uninitialized<std::uint32_t>(exec, 4 * topology.num_tetra(),
                                                 "ossatura::point_stars::face");
  Kokkos::parallel_for("ossatura::point_stars::fill", range(exec, n),
                       detail::FillStars<Exec>{topology, stars});
  fence(exec, "ossatura::make_point_stars");
  return stars;
}

} // namespace ossatura
