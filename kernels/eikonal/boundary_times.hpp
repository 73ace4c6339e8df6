// SPDX-License-Identifier: Apache-2.0
// The front of a mesh that is cut between processes crosses the cuts by the times of boundary
// points: a process sends those of its points that others see, after each iteration, and takes
// those of its ghosts.
//
// One number says all: a time is sent negative where its point has converged in this iteration.
// Times are not below 0; of a time of 0 the sign is that of the zero. The receiver does with its
// own points around the ghost what the owner does with the others. No other state crosses a cut,
// because an update reads nothing but times.
#pragma once

#include <ossatura/kernels/eikonal/parts.hpp>

#include <limits>

namespace ossatura {

/// The points at the cuts, as indices into times [sets, num_points]; messages are consecutive.
template<class Exec>
struct BoundaryPoints {
  Array<int, Exec> sent;     ///< own points that others see, once for each of them
  Array<int, Exec> received; ///< all ghosts
};

namespace detail {

/// The stamp of a ghost, above those of all iterations: no point of the process makes it active.
constexpr int ghost_stamp = std::numeric_limits<int>::max();

template<class Exec>
struct StampGhosts {
  Array<int, Exec> ghost;
  Array<int, Exec> stamps;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { stamps(ghost(i)) = ghost_stamp; }
};

template<class Exec, class Real>
struct PackBoundary {
  Array<int, Exec> point;
  PartFront<Exec> front;
  Array<Real, Exec> new_time;
  Array<Real, Exec> message;
  int offset;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int index = point(i);
    const Real t = new_time(index);
    // It changed before this iteration, and not in it: its stamp would be of the next.
    const bool converged = front.stamp(index) == stamp::changed(front.iteration(offset));
    message(i) = converged ? -t : t;
  }
};

template<class Exec, class Metric, class Real>
struct UnpackBoundary {
  RingUpdate<Exec, Metric> update;
  Array<int, Exec> point;
  PartFront<Exec> front;
  Array<Real, Exec> message;
  Array<Real, Exec> new_time;
  int offset;

  /// A ghost as for_neighbours() wants it.
  struct Ghost {
    int base, ring_begin, ring_end, star_begin, num_neighbours;
  };

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int index = point(i);
    const Real t = message(i);
    new_time(index) = Kokkos::abs(t);
    if (!Kokkos::signbit(t))
      return;
    const int base = first_of_set(index, front.parts.num_points), p = index - base;
    const Ghost ghost{base, update.begin(p), update.end(p), update.stars.begin(p),
                      update.stars.begin(p + 1) - update.stars.begin(p)};
    const int now = front.iteration(offset);
    for_neighbours(update, ghost, 0, 1, Enter{front, now});
  }

private:
  /// A point is in the next iteration, unless it is in this one. The same from all.
  struct Enter {
    const PartFront<Exec>& front;
    int now;
    KOKKOS_FORCEINLINE_FUNCTION void operator()(int index) const {
      if (front.stamp(index) >= stamp::entered(now))
        return;
      front.stamp(index) = stamp::entered(now + 1);
      front.part_stamp(front.parts.part_of(index)) = now + 1;
      front.clock(int(PartFront<Exec>::last)) = now + 1;
    }
  };
};

} // namespace detail

/// Keeps ghosts out of every iteration of `front`. Does not fence.
template<class Exec>
void stamp_ghosts(const Exec& exec, const BoundaryPoints<Exec>& boundary,
                  const PartFront<Exec>& front) {
  Kokkos::parallel_for("ossatura::stamp_ghosts", range(exec, boundary.received.extent(0)),
                       detail::StampGhosts<Exec>{boundary.received, front.stamp});
}

/// What the others need of the iteration `offset` after the clock's, once it is done: message
/// [boundary.sent]. Does not fence.
template<class Exec, class Real>
void pack_boundary(const Exec& exec, const BoundaryPoints<Exec>& boundary,
                   const PartFront<Exec>& front, const Array<Real, Exec>& new_time,
                   const Array<Real, Exec>& message, int offset) {
  Kokkos::parallel_for(
      "ossatura::pack_boundary", range(exec, boundary.sent.extent(0)),
      detail::PackBoundary<Exec, Real>{boundary.sent, front, new_time, message, offset});
}

/// Takes what came of it: message [boundary.received] to new_time, and the points of this process
/// around ghosts that have converged enter the next iteration. Does not fence.
template<class Exec, class Metric, class Real>
void unpack_boundary(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                     const BoundaryPoints<Exec>& boundary, const PartFront<Exec>& front,
                     const Array<Real, Exec>& message, const Array<Real, Exec>& new_time,
                     int offset) {
  Kokkos::parallel_for("ossatura::unpack_boundary", range(exec, boundary.received.extent(0)),
                       detail::UnpackBoundary<Exec, Metric, Real>{update, boundary.received, front,
                                                                  message, new_time, offset});
}

} // namespace ossatura
