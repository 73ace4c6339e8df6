// SPDX-License-Identifier: Apache-2.0
// This file has the definitions of ring_arrivals.hpp; the sources beside it alone include them,
// each for a `Target` of its own with
//
//     static constexpr int register_bytes;
//
// A target is a type of one source, so that the linker cannot mix what is compiled with different
// flags. Functions without a target, lambdas among them, are always inlined for the same reason.
#pragma once

#include <ossatura/kernels/eikonal/batches/lane_metric.hpp>
#include <ossatura/kernels/eikonal/batches/mark_lanes.hpp>
#include <ossatura/kernels/eikonal/batches/ring_arrivals.hpp>

namespace ossatura::detail {

/// A batch of points under way.
template<class Target, class Real, int metric_size>
struct RingBatchUpdate {
  static constexpr int lanes = 8, max_points = 16;
  static constexpr int ahead = 3 * lanes; ///< tetrahedra whose metric is fetched
  static constexpr int W = Target::register_bytes / int(sizeof(Real)) < lanes
                               ? Target::register_bytes / int(sizeof(Real))
                               : lanes;
  typedef Real Vector __attribute__((vector_size(W * sizeof(Real)), may_alias));

  const RingArrays<Real>& in;
  BatchPoint<Real>* point;
  MarkedTetra<Target, Real> marked;
  /// Marked tetrahedra from the end of the segment before up to `end` are those of point[owner].
  struct {
    int end, owner;
  } segment[max_points];
  int num_segments = 0;
  alignas(64) Real star[max_points][max_star]; ///< times around each point

  RingBatchUpdate(const RingArrays<Real>& arrays, BatchPoint<Real>* points)
      : in(arrays)
      , point(points) {}

  OSSATURA_FORCEINLINE_FUNCTION void load(BatchPoint<Real>& p, std::uint32_t item) const {
    p.item = item;
    p.index = int(item & ~changed_bit);
    p.base = first_of_set(p.index, in.num_points);
    const int number = p.index - p.base;
    p.ring_begin = in.ring_begin[number];
    p.ring_end = in.ring_begin[number + 1];
    p.star_begin = in.star_begin[number];
    const int count = in.star_begin[number + 1] - p.star_begin;
    p.num_neighbours = count <= max_star ? count : 0;
    p.current = p.best = in.time[p.index];
    __builtin_prefetch(in.neighbour + p.star_begin);
    __builtin_prefetch(in.neighbour + p.star_begin + 12);
    __builtin_prefetch(in.face + p.ring_begin);
    __builtin_prefetch(in.face + p.ring_begin + 16);
    __builtin_prefetch(in.ring_member + p.ring_begin);
    __builtin_prefetch(in.ring_member + p.ring_begin + 16);
  }

  /// Appends all tetrahedra that conduct.
  void mark_all(const BatchPoint<Real>& p, int begin, int end) {
    for (int e = begin; e < end; ++e) {
      const int entry = in.ring_member[e], target = entry & 3, t = entry >> 2;
      if (!(in.metric[std::int64_t(metric_size) * t] >= 0))
        continue;
      const int* const tetra = in.tetra + 4 * std::int64_t(t);
      const int n = marked.size++;
      marked.ta[n] = in.time[p.base + tetra[(target + 1) & 3]];
      marked.tb[n] = in.time[p.base + tetra[(target + 2) & 3]];
      marked.tc[n] = in.time[p.base + tetra[(target + 3) & 3]];
      marked.entry[n] = entry;
    }
  }

  OSSATURA_FORCEINLINE_FUNCTION auto face(int i) const {
    if constexpr (metric_size == 6)
      return face_of_lengths<Vector>(in.metric, marked.entry + i);
    else
      return face_of_products<Vector>(in.metric, marked.entry + i);
  }

  OSSATURA_FORCEINLINE_FUNCTION static Vector& vector(Real* first) {
    return *reinterpret_cast<Vector*>(first);
  }
  OSSATURA_FORCEINLINE_FUNCTION void solve(int first) {
    for (int i = first; i < first + lanes; i += W)
      vector(marked.arrival + i) = lane_arrival(face(i), vector(marked.ta + i),
                                                vector(marked.tb + i), vector(marked.tc + i));
  }

  OSSATURA_FORCEINLINE_FUNCTION void fetch_metric(int first) const {
    for (int i = first; i < first + lanes; ++i)
      __builtin_prefetch(in.metric + std::int64_t(metric_size) * (marked.entry[i] >> 2));
  }

  /// Solves what is marked, and lowers the times of its points.
  void solve_marked() {
    const int size = marked.size;
    for (int i = size; i < size + lanes; ++i) { // the last lanes
      marked.ta[i] = marked.tb[i] = marked.tc[i] = 0;
      marked.entry[i] = 0;
    }
    for (int i = 0; i < ahead && i < size; i += lanes)
      fetch_metric(i);
    for (int i = 0; i < size; i += lanes) {
      if (i + ahead < size)
        fetch_metric(i + ahead);
      solve(i);
    }
    int i = 0;
    for (int s = 0; s < num_segments; ++s) {
      Real& time = point[segment[s].owner].best;
      Real best = time;
      for (; i < segment[s].end; ++i)
        best = marked.arrival[i] < best ? marked.arrival[i] : best;
      time = best;
    }
    marked.size = num_segments = 0;
  }

  /// Marks the tetrahedra of a point; returns how many may lower its time.
  OSSATURA_FORCEINLINE_FUNCTION int mark(int place) {
    const BatchPoint<Real> p = point[place];
    constexpr int capacity = MarkedTetra<Target, Real>::capacity;
    int count = 0;
    for (int begin = p.ring_begin; begin < p.ring_end; begin += capacity) {
      const int end = p.ring_end - begin < capacity ? p.ring_end : begin + capacity;
      if (marked.size + (end - begin) > capacity || num_segments == max_points)
        solve_marked();
      if (p.num_neighbours > 0) {
        const int before = marked.size;
        mark_tetra(RingPart<Real>{in.face + begin, in.ring_member + begin, end - begin, star[place],
                                  p.num_neighbours, p.current},
                   marked);
        count += marked.size - before;
      } else {
        mark_all(p, begin, end);
      }
      segment[num_segments++] = {marked.size, place};
    }
    return count;
  }

  /// In steps for all points: so loads of one do not wait for another's.
  int run(const std::uint32_t* items, int size) {
    for (int i = 0; i < size; ++i)
      load(point[i], items[i]);
    for (int i = 0; i < size; ++i)
      gather_star<Target>(in.time + point[i].base, in.neighbour + point[i].star_begin,
                          point[i].num_neighbours, star[i]);
    int count = 0;
    for (int i = 0; i < size; ++i)
      count += mark(i);
    solve_marked();
    return count;
  }
};

template<class Target, class Real, int metric_size>
int lower_times(const RingArrays<Real>& in, const std::uint32_t* items, int size,
                BatchPoint<Real>* point) {
  using Update = RingBatchUpdate<Target, Real, metric_size>;
  int count = 0;
  for (int first = 0; first < size; first += Update::max_points) {
    const int n = size - first < Update::max_points ? size - first : int(Update::max_points);
    count += Update(in, point + first).run(items + first, n);
  }
  return count;
}

template<class Target, class Real>
constexpr LowerTimesBy<Real> make_lower_times() {
  return {&lower_times<Target, Real, 6>, &lower_times<Target, Real, 18>};
}

template<class Target>
constexpr RingArrivals make_ring_arrivals() {
  return {make_lower_times<Target, float>(), make_lower_times<Target, double>()};
}

} // namespace ossatura::detail
