// SPDX-License-Identifier: Apache-2.0
// The scan method runs an iteration of the fast iterative method as data-parallel steps on flat
// lists [1, section 5.2]. A scan compacts points to the active list, another gathers the tetrahedra
// around them, and one thread takes each gathered tetrahedron.
//
// Two things differ from [1]. A predicate is set when the minimum over all tetrahedra of a point is
// known, not by each of them: otherwise a race decides which points have converged. And neighbours
// of converged points come in with the next iteration, not in a second half of this one.
//
// [1] D. Ganellari, G. Haase, G. Zumbusch. A massively parallel eikonal solver on unstructured
//     meshes. Comput. Vis. Sci. 19 (2018) 3-18, doi:10.1007/s00791-018-0288-z.
#pragma once

#include <ossatura/kernels/eikonal/ring_batch.hpp>
#include <ossatura/kernels/eikonal/stamps.hpp>

namespace ossatura {

/// Lists of an iteration. Those of points have room for all points, those of tetrahedra grow.
template<class Exec, class Real>
struct ScanLists {
  Array<int, Exec> point;          ///< indices into times of the active points
  Array<std::int64_t, Exec> begin; ///< where the ring of an active point begins in `entry`
  Array<Real, Exec> best;          ///< of an active point
  Array<int, Exec> entry;          ///< gathered: places in the rings
  Array<int, Exec> place;          ///< in the lists of points, of whom an entry is
};

namespace detail {

template<class Exec>
struct ListActive {
  Array<int, Exec> stamps;
  Array<int, Exec> point;
  int iteration;
  KOKKOS_FUNCTION void operator()(std::int64_t i, int& place, bool final) const {
    if (stamp::iteration_of(stamps(i)) != iteration)
      return;
    if (final)
      point(place) = int(i);
    ++place;
  }
};

template<class Exec, class Metric, class Real>
struct PlaceRings {
  RingUpdate<Exec, Metric> update;
  ScanLists<Exec, Real> lists;
  Array<Real, Exec> time;
  int num_points;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& begin, bool final) const {
    const int index = lists.point(i), point = index - first_of_set(index, num_points);
    if (final) {
      lists.begin(i) = begin;
      lists.best(i) = time(index);
    }
    begin += update.end(point) - update.begin(point);
  }
};

/// Rings are short: on devices some threads share one, so that they write in rows.
template<class Exec>
constexpr int ring_lanes = BackendTraits<Exec>::is_device ? 8 : 1;

template<class Exec, class Metric, class Real>
struct GatherRings {
  RingUpdate<Exec, Metric> update;
  ScanLists<Exec, Real> lists;
  int num_points;

  KOKKOS_FUNCTION void operator()(std::int64_t thread) const {
    const int i = int(thread / int(ring_lanes<Exec>)), lane = int(thread % int(ring_lanes<Exec>));
    const int index = lists.point(i), point = index - first_of_set(index, num_points);
    const int ring = update.begin(point), size = update.end(point) - ring;
    const std::int64_t begin = lists.begin(i);
    for (int e = lane; e < size; e += int(ring_lanes<Exec>)) {
      lists.entry(begin + e) = ring + e;
      lists.place(begin + e) = i;
    }
  }
};

template<class Exec, class Metric, class Real>
struct SolveGathered {
  RingUpdate<Exec, Metric> update;
  ScanLists<Exec, Real> lists;
  Array<Real, Exec> time;
  int num_points;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& num_solved) const {
    const int place = lists.place(i), entry = update.ring.member(lists.entry(i));
    const int index = lists.point(place);
    const Real* times = &time(first_of_set(index, num_points));
    int other[3];
    update.others(entry, other);
    const Real ta = times[other[0]], tb = times[other[1]], tc = times[other[2]];
    const Real tab = Kokkos::min(tb, ta);
    if (!update.may_lower(update.stars.face(lists.entry(i)), Kokkos::min(tc, tab), time(index)))
      return;
    ++num_solved;
    const Real t = update.arrival(entry, ta, tb, tc);
    if (t < lists.best(place))
      atomic_min_time(&lists.best(place), t);
  }
};

/// New times of the points that changed, which stay.
template<class Exec, class Real>
struct CommitActive {
  ScanLists<Exec, Real> lists;
  Array<Real, Exec> time;
  Array<int, Exec> stamps;
  Real keep;
  int iteration;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int index = lists.point(i);
    const Real best = lists.best(i);
    if (!(best < time(index) * keep))
      return;
    time(index) = best;
    stamps(index) = stamp::changed(iteration + 1);
  }
};

/// Neighbours of the points that had changed and did so no more come in, unless they are here. Who
/// comes in by several points at once gets the same stamp from all.
template<class Exec, class Metric, class Real>
struct EnterNeighbours {
  RingUpdate<Exec, Metric> update;
  ScanLists<Exec, Real> lists;
  Array<int, Exec> stamps;
  int num_points;
  int iteration;

  KOKKOS_FUNCTION void operator()(std::int64_t thread) const {
    const int index = lists.point(thread / int(ring_lanes<Exec>));
    if (stamps(index) != stamp::changed(iteration))
      return; // changed again, or not even before
    const int base = first_of_set(index, num_points), point = index - base;
    for (int e = update.begin(point) + int(thread % int(ring_lanes<Exec>)); e < update.end(point);
         e += int(ring_lanes<Exec>)) {
      int other[3];
      update.others(update.ring.member(e), other);
      for (int j = 0; j < 3; ++j)
        if (stamps(base + other[j]) < stamp::entered(iteration))
          stamps(base + other[j]) = stamp::entered(iteration + 1);
    }
  }
};

} // namespace detail

/// Writes the list of the points whose stamp is of `iteration` and returns how many they are.
/// Fences.
template<class Exec>
int list_active(const Exec& exec, const Array<int, Exec>& stamps, int iteration,
                const Array<int, Exec>& point) {
  int count = 0;
  Kokkos::parallel_scan("ossatura::list_active", range(exec, stamps.extent(0)),
                        detail::ListActive<Exec>{stamps, point, iteration}, count);
  fence(exec, "ossatura::list_active");
  return count;
}

/// One iteration for the first `count` points of the list: their times, and the stamps of the next.
/// All times are read before any is written. Returns the number of local solves. Fences.
template<class Exec, class Metric, class Real>
std::int64_t update_active(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                           ScanLists<Exec, Real>& lists, const Array<Real, Exec>& time,
                           const Array<int, Exec>& stamps, Real keep, int num_points, int iteration,
                           int count) {
  std::int64_t num_entries = 0, num_solved = 0;
  Kokkos::parallel_scan("ossatura::update_active::place", range(exec, count),
                        detail::PlaceRings<Exec, Metric, Real>{update, lists, time, num_points},
                        num_entries);
  fence(exec, "ossatura::update_active::place");
  if (num_entries > std::int64_t(lists.entry.extent(0))) {
    const std::int64_t room = num_entries + num_entries / 2;
    lists.entry = {}; // before there are others
    lists.place = {};
    lists.entry = make_uninitialized<int>(exec, room, "ossatura::eikonal::entry");
    lists.place = make_uninitialized<int>(exec, room, "ossatura::eikonal::place");
  }
  const std::int64_t threads = std::int64_t(count) * detail::ring_lanes<Exec>;
  Kokkos::parallel_for("ossatura::update_active::gather", range(exec, threads),
                       detail::GatherRings<Exec, Metric, Real>{update, lists, num_points});
  Kokkos::parallel_reduce(
      "ossatura::update_active::solve", range(exec, num_entries),
      detail::SolveGathered<Exec, Metric, Real>{update, lists, time, num_points}, num_solved);
  Kokkos::parallel_for("ossatura::update_active::commit", range(exec, count),
                       detail::CommitActive<Exec, Real>{lists, time, stamps, keep, iteration});
  Kokkos::parallel_for(
      "ossatura::update_active::enter", range(exec, threads),
      detail::EnterNeighbours<Exec, Metric, Real>{update, lists, stamps, num_points, iteration});
  return num_solved;
}

} // namespace ossatura
