// SPDX-License-Identifier: Apache-2.0
// A ring update computes the earliest time at which waves arrive at a point through the tetrahedra
// around the point.
#pragma once

#include <ossatura/core/parallel/array_pointer.hpp>
#include <ossatura/kernels/eikonal/batches/ring_arrivals.hpp>
#include <ossatura/kernels/eikonal/gray_code.hpp>
#include <ossatura/kernels/eikonal/packed_face.hpp>
#include <ossatura/kernels/eikonal/tetra_topology.hpp>

#include <cmath>
#include <type_traits>

namespace ossatura {

namespace detail {

/// On cores, the function that updates a batch: an address, because kernels cannot ask for one.
template<class Metric>
struct CoreArrivals;
template<class Real>
struct CoreArrivals<TetraLengths<Real>> {
  LowerTimes<Real>* lower_times = ring_arrivals().of(Real()).lengths;
};
template<class Real>
struct CoreArrivals<TetraProducts<Real>> {
  LowerTimes<Real>* lower_times = ring_arrivals().of(Real()).products;
};
struct NoArrivals {};

template<class Exec, class Metric>
using ArrivalsOf =
    std::conditional_t<BackendTraits<Exec>::is_device, NoArrivals, CoreArrivals<Metric>>;

} // namespace detail

/// Arrays belong to whoever made them. Metric: TetraLengths<Real> or TetraProducts<Real>.
template<class Exec, class Metric>
struct RingUpdate : detail::ArrivalsOf<Exec, Metric> {
  ArrayPointer<const TetraPoints> tetra; ///< [num_tetra]
  ArrayPointer<Metric> metric;           ///< [num_tetra]
  struct {
    ArrayPointer<const int> begin, member;
  } ring; ///< of a TetraTopology
  struct {
    ArrayPointer<const int> begin, neighbour;
    ArrayPointer<std::uint32_t> face;
  } stars; ///< PointStars

  KOKKOS_FORCEINLINE_FUNCTION int begin(int point) const { return ring.begin(point); }
  KOKKOS_FORCEINLINE_FUNCTION int end(int point) const { return ring.begin(point + 1); }

  /// The other three points of the tetrahedron of a ring entry.
  KOKKOS_FORCEINLINE_FUNCTION void others(int entry, int* other) const {
    const TetraPoints points = tetra(entry >> 2);
    const int* p = points.point;
    // By two conditional turns: an index into registers would put them into memory.
    const bool once = (entry & 1) == 0, twice = ((entry + 1) & 2) != 0;
    const int p0 = once ? p[1] : p[0], p1 = once ? p[2] : p[1], p2 = once ? p[3] : p[2],
              p3 = once ? p[0] : p[3];
    other[0] = twice ? p2 : p0;
    other[1] = twice ? p3 : p1;
    other[2] = twice ? p0 : p2;
  }

  /// Whether a wave through `face`, of PointStars, at the earliest of its times `first`, can arrive
  /// before `current`: not where even one straight from the plane of the face is later, and never
  /// through a tetrahedron that does not conduct, whose heights are infinite. No rule that looks at
  /// times alone is safe: in the metric, tetrahedra may have any shape.
  /// `part`: of the height, for who does not trust it.
  template<class Real>
  KOKKOS_FORCEINLINE_FUNCTION bool may_lower(std::uint32_t face, Real first, Real current,
                                             Real part = Real(1)) const {
    return first + part * Real(unpack_height(face)) < current;
  }

  /// For the functions of batches.
  template<class Real>
  KOKKOS_FUNCTION detail::RingArrays<Real> arrays(const Real* time, int num_points) const {
    return {tetra.data->point, metric.data->number(), ring.begin.data, ring.member.data,
            stars.begin.data,  stars.neighbour.data,  stars.face.data, time,
            num_points};
  }

  KOKKOS_FORCEINLINE_FUNCTION bool conducts(int entry) const {
    return metric(entry >> 2).conducts();
  }

  /// The arrival through the tetrahedron of a ring entry, which conducts, from the times of its
  /// face.
  template<class Real>
  KOKKOS_FORCEINLINE_FUNCTION Real arrival(int entry, Real ta, Real tb, Real tc) const {
    return eikonal_update(face_products(metric(entry >> 2), entry & 3), ta, tb, tc);
  }

  /// The same from the times of all points; later than any where the tetrahedron does not conduct.
  template<class Real>
  KOKKOS_FORCEINLINE_FUNCTION Real through(int entry, const Real* time) const {
    if (!conducts(entry))
      return 2 * unreached_time<Real>;
    int other[3];
    others(entry, other);
    return arrival(entry, time[other[0]], time[other[1]], time[other[2]]);
  }
};

namespace detail {

template<class Exec, class Metric>
struct FillRingHeights {
  RingUpdate<Exec, Metric> update;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const int entry = update.ring.member(e);
    std::uint32_t& face = update.stars.face(e);
    const float height =
        update.conducts(entry)
            ? float(face_height(face_products(update.metric(entry >> 2), entry & 3)))
            : float(INFINITY);
    face = pack_height(face, height);
  }
};

} // namespace detail

/// Fills the heights of update.stars.face [num_entries], 4 times the tetrahedra, from the metric.
/// Does not fence.
template<class Exec, class Metric>
void fill_ring_heights(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                       std::int64_t num_entries) {
  Kokkos::parallel_for("ossatura::fill_ring_heights", range(exec, num_entries),
                       detail::FillRingHeights<Exec, Metric>{update});
}

} // namespace ossatura
