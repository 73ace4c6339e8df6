// SPDX-License-Identifier: Apache-2.0
// A point's star lists its neighbours, each once, and the tetrahedra around the point in terms of
// that list: an update reads few numbers, and each of them once.
#pragma once

#include <ossatura/kernels/eikonal/gray_code.hpp>
#include <ossatura/kernels/eikonal/packed_face.hpp>
#include <ossatura/kernels/eikonal/tetra_topology.hpp>

#include <type_traits>

namespace ossatura {

/// As many places as a face can name.
inline constexpr int max_star_points = 128;

/// Points of more neighbours than max_star_points have none here; whoever meets one goes to the
/// tetrahedra.
template<class Exec>
struct PointStars {
  Array<int, Exec> begin;     ///< [num_points + 1]
  Array<int, Exec> neighbour; ///< those of point i from begin(i) to begin(i + 1), ascending
  /// [4 num_tetra] by ring entry: the places of the face's a, b, c among the neighbours, 7 bits
  /// each, and above them room for 11 bits of a height
  Array<std::uint32_t, Exec> face;
};

namespace detail {

/// Points around one, each once, by bisection: for devices, whose threads have little memory.
struct NeighbourList {
  int point[max_star_points];
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
    if (size == max_star_points) {
      full = true;
      return;
    }
    for (int i = size; i > place; --i)
      point[i] = point[i - 1];
    point[place] = p;
    ++size;
  }
  KOKKOS_INLINE_FUNCTION void sort() {} // it is
};

/// The same by a table of hashes: for cores, which guess the branches of bisection wrong.
struct NeighbourTable {
  static constexpr int num_slots = 2 * max_star_points;
  int point[max_star_points];
  int key[num_slots]; ///< a point, or -1
  std::uint8_t place[num_slots];
  int size = 0;
  bool full = false;

  KOKKOS_INLINE_FUNCTION NeighbourTable() {
    for (int& k : key)
      k = -1;
  }
  /// Where a point is, or an empty slot.
  KOKKOS_INLINE_FUNCTION int slot_of(int p) const {
    int slot = int(std::uint32_t(p) * 2654435769u >> 24);
    while (key[slot] != p && key[slot] >= 0)
      slot = (slot + 1) % num_slots;
    return slot;
  }
  KOKKOS_INLINE_FUNCTION int place_of(int p) const { return place[slot_of(p)]; }
  KOKKOS_INLINE_FUNCTION void insert(int p) {
    const int slot = slot_of(p);
    if (key[slot] == p)
      return;
    if (size == max_star_points) {
      full = true;
      return;
    }
    key[slot] = p;
    point[size++] = p;
  }
  /// Points ascend, and places are known, from now on.
  KOKKOS_INLINE_FUNCTION void sort() {
    for (int i = 1; i < size; ++i) {
      const int moved = point[i];
      int k = i;
      for (; k > 0 && point[k - 1] > moved; --k)
        point[k] = point[k - 1];
      point[k] = moved;
    }
    for (int i = 0; i < size; ++i)
      place[slot_of(point[i])] = std::uint8_t(i);
  }
};

template<class Exec>
using Neighbours =
    std::conditional_t<BackendTraits<Exec>::is_device, NeighbourList, NeighbourTable>;

/// The points around point i; none where they are too many.
template<class Exec>
KOKKOS_INLINE_FUNCTION void list_neighbours(const TetraTopology<Exec>& topology, int i,
                                            Neighbours<Exec>& list) {
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
    Neighbours<Exec> list;
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
    Neighbours<Exec> list;
    list_neighbours(topology, int(i), list);
    list.sort();
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
