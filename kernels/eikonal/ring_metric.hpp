// SPDX-License-Identifier: Apache-2.0
// A ring metric holds what an update of a point reads in the order in which it is read: the
// products of a tetrahedron as the point sees it, beside the face, are one sector of a GPU's
// memory (32 bytes in single precision, two sectors in double); the ends of a point's ring and of
// its star, its neighbours and its faces, as far as they are usual in number, are side by side, so
// that none of them waits for another. It takes four times the memory of six squared lengths a
// tetrahedron, and more.
#pragma once

#include <ossatura/kernels/eikonal/ring_update.hpp>

namespace ossatura {

/// A tetrahedron of a ring: its products, as the point in the middle of the ring sees them, and its
/// face, as in PointStars.
template<class Real>
struct alignas(32) RingEntry {
  FaceProducts<Real> products;
  std::uint32_t face;
};

/// A point's places in the arrays of rings and of neighbours: half-open ranges.
struct alignas(16) RingAndStar {
  int ring_begin, ring_end, star_begin, star_end;
};

/// The first of a point's neighbours and of the faces of its ring. Where it has fewer, neighbours
/// are -1, and faces those of a tetrahedron that does not conduct.
struct alignas(64) StarHead {
  static constexpr int num_neighbours = 16, num_faces = 28;
  RingAndStar range;
  int neighbour[num_neighbours];
  std::uint32_t face[num_faces];
};

template<class Exec, class Real>
struct RingMetric {
  Array<RingEntry<Real>, Exec> entry; ///< [4 num_tetra] in the order of the rings
  Array<StarHead, Exec> point;        ///< [num_points]

  static constexpr std::int64_t bytes(std::int64_t num_points, std::int64_t num_tetra) {
    return num_points * std::int64_t(sizeof(StarHead)) +
           4 * num_tetra * std::int64_t(sizeof(RingEntry<Real>));
  }
};

namespace detail {

template<class Exec, class Metric, class Real>
struct FillRingMetric {
  RingUpdate<Exec, Metric> update;
  RingMetric<Exec, Real> ring;
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const int entry = update.ring.member(e);
    ring.entry(e) = {face_products(update.metric(entry >> 2), entry & 3), update.stars.face(e)};
  }
};

/// A thread writes 4 bytes, so that they are written side by side.
template<class Exec, class Metric, class Real>
struct FillStarHead {
  static constexpr int num_numbers = int(sizeof(StarHead) / 4);
  RingUpdate<Exec, Metric> update;
  RingMetric<Exec, Real> ring;
  KOKKOS_FUNCTION void operator()(std::int64_t number) const {
    const std::int64_t i = number / num_numbers;
    const RingAndStar range{update.begin(int(i)), update.end(int(i)), update.stars.begin(i),
                            update.stars.begin(i + 1)};
    StarHead& head = ring.point(i);
    const int place = int(number - i * num_numbers);
    if (place == 0)
      head.range = range;
    int k = place - int(sizeof(RingAndStar) / 4);
    if (k < 0)
      return;
    if (k < int(StarHead::num_neighbours)) {
      head.neighbour[k] =
          k < range.star_end - range.star_begin ? update.stars.neighbour(range.star_begin + k) : -1;
      return;
    }
    k -= StarHead::num_neighbours;
    head.face[k] = k < range.ring_end - range.ring_begin ? update.stars.face(range.ring_begin + k)
                                                         : pack_height(0, float(INFINITY));
  }
};
static_assert(sizeof(StarHead) ==
                  sizeof(RingAndStar) + 4 * (StarHead::num_neighbours + StarHead::num_faces),
              "a head has no gaps");

} // namespace detail

/// Does not fence. Throws what Kokkos does where memory is short.
template<class Real, class Exec>
RingMetric<Exec, Real> make_ring_metric(const Exec& exec, std::int64_t num_points,
                                        std::int64_t num_tetra) {
  RingMetric<Exec, Real> ring;
  ring.entry = Array<RingEntry<Real>, Exec>(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::ring_metric::entry"),
      4 * num_tetra);
  ring.point = Array<StarHead, Exec>(
      Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "ossatura::ring_metric::point"),
      num_points);
  return ring;
}

/// All of `ring`, from the metric and the heights of an update. Does not fence.
template<class Exec, class Metric, class Real>
void fill_ring_metric(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                      const RingMetric<Exec, Real>& ring) {
  Kokkos::parallel_for("ossatura::fill_ring_metric", range(exec, ring.entry.extent(0)),
                       detail::FillRingMetric<Exec, Metric, Real>{update, ring});
  Kokkos::parallel_for(
      "ossatura::fill_ring_metric::points",
      range(exec, std::int64_t(ring.point.extent(0)) * std::int64_t(sizeof(StarHead) / 4)),
      detail::FillStarHead<Exec, Metric, Real>{update, ring});
}

} // namespace ossatura
