// SPDX-License-Identifier: Apache-2.0
// The state of a front of sets on the device, how it starts, and the times that it ends with.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/eikonal/batch_point.hpp>
#include <ossatura/kernels/eikonal/time_limits.hpp>

namespace ossatura {

/// Sets that have one item together.
inline constexpr int sets_of_a_front = 8;

/// In which iteration which sets evaluate a point: field k % 4 is that of iteration k, its lower 8
/// bits are the sets, the upper 8 those of them in which the time of the point has just changed.
/// The fields of iterations that are neither this one nor the next are 0, or about to be.
struct alignas(8) SetsOfPoint {
  std::uint32_t half[2];

  KOKKOS_FORCEINLINE_FUNCTION static int shift_of(int k) { return (k & 1) * 16; }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t field(int k) const {
    return ((k & 2) != 0 ? half[1] : half[0]) >> shift_of(k) & 0xffffu;
  }
};

/// The state of a front between launches, on the device.
template<class Exec, class Real>
struct SetFront {
  enum { iteration = 0, count = 1, evaluations = 2, solves = 3, num_states = 4 };
  static constexpr int sets = sets_of_a_front;
  static constexpr int num_queues = 3; ///< of the iteration before, of this one, of the next

  std::int64_t num_items = 0;       ///< num_points for each group of sets
  int num_blocks = 0;               ///< of the grid; the number of parts of a queue is one more
  int part_size = 0;                ///< items of the part of a block; the last part has num_items
  Array<std::uint32_t, Exec> queue; ///< [3][num_blocks * part_size + num_items] by k % 3
  Array<int, Exec> length;          ///< [2][num_blocks] of parts by k % 2, [4] of the last by k % 4
  Array<SetsOfPoint, Exec> point;   ///< [num_items]
  Array<Real, Exec> time[2];        ///< [num_items][sets] of even and of odd iterations
  Array<unsigned, Exec> arrivals;   ///< [1] of the grid's barrier
  Array<std::uint64_t, Exec> state; ///< [num_states]

  std::int64_t queue_size() const { return std::int64_t(num_blocks) * part_size + num_items; }

  /// Of a front of so many items, about.
  static constexpr std::int64_t bytes(std::int64_t num_items) {
    return num_items * std::int64_t(2 * sets * sizeof(Real) + sizeof(SetsOfPoint) + 2 * 3 * 4);
  }
};

namespace detail {

/// Times of sets side by side, both of even and of odd iterations, and nothing queued.
template<class Exec, class Real>
struct ClearSetFront {
  static constexpr int sets = sets_of_a_front;
  SetFront<Exec, Real> front;
  Array<Real, Exec> time;
  std::int64_t first, num_sets; ///< of `time`
  int num_points;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (i < 2 * front.num_blocks + 4)
      front.length(i) = 0;
    if (i < int(SetFront<Exec, Real>::num_states))
      front.state(i) = 0;
    if (i == 0)
      front.arrivals(0) = 0;
    if (i >= front.num_items)
      return;
    front.point(i) = {{0, 0}};
    const std::int64_t group = i / num_points, point = i - group * num_points;
    for (int s = 0; s < sets; ++s) {
      const std::int64_t set = first + group * sets + s;
      const Real t = set < num_sets ? time(set * num_points + point) : unreached_time<Real>;
      front.time[0](sets * i + s) = front.time[1](sets * i + s) = t;
    }
  }
};

/// The sites are in the last part of the first queue.
template<class Exec, class Real>
struct StartSetFront {
  static constexpr int sets = sets_of_a_front;
  using Front = SetFront<Exec, Real>;
  Array<std::uint32_t, Exec> site;
  Front front;
  std::int64_t first;
  int num_points;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t set = std::int64_t(site(i)) / num_points - first;
    const std::int64_t item = set / sets * num_points + std::int64_t(site(i)) % num_points;
    if (set < 0 || item >= front.num_items)
      return;
    const std::uint32_t bits = 0x101u << set % sets;
    if (Kokkos::atomic_fetch_or(&front.point(item).half[0], bits) != 0)
      return; // another set queued it
    const int place = Kokkos::atomic_fetch_add(&front.length(2 * front.num_blocks), 1);
    Kokkos::atomic_add(&front.state(int(Front::count)), std::uint64_t(1));
    front.queue(std::int64_t(front.num_blocks) * front.part_size + place) = std::uint32_t(item);
  }
};

template<class Exec, class Real>
struct TimesOfSetFront {
  static constexpr int sets = sets_of_a_front;
  Array<Real, Exec> from;
  Array<Real, Exec> time;
  std::int64_t first, num_sets;
  int num_points;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t group = i / num_points, point = i - group * num_points;
    for (int s = 0; s < sets; ++s) {
      const std::int64_t set = first + group * sets + s;
      if (set < num_sets)
        time(set * num_points + point) = from(sets * i + s);
    }
  }
};

} // namespace detail

/// Sets a front to iteration 0 of the sets from `first` on, as many as it has room for, in which
/// the sites, indices into times and no two equal, have changed. `time` [num_sets * num_points] are
/// the times at that moment. Does not fence.
template<class Exec, class Real>
void restart_front(const Exec& exec, const SetFront<Exec, Real>& front,
                   const Array<std::uint32_t, Exec>& site, const Array<Real, Exec>& time,
                   int num_points, std::int64_t first) {
  const std::int64_t rest = 2 * front.num_blocks + 4;
  const std::int64_t num_sets = std::int64_t(time.extent(0)) / num_points;
  Kokkos::parallel_for("ossatura::restart_set_front",
                       range(exec, front.num_items < rest ? rest : front.num_items),
                       detail::ClearSetFront<Exec, Real>{front, time, first, num_sets, num_points});
  Kokkos::parallel_for("ossatura::restart_set_front::sites", range(exec, site.extent(0)),
                       detail::StartSetFront<Exec, Real>{site, front, first, num_points});
}

/// `time` [num_sets * num_points] of the sets from `first` on, as many as the front has, after
/// `iterations` iterations. Does not fence.
template<class Exec, class Real>
void store_times(const Exec& exec, const SetFront<Exec, Real>& front, int iterations,
                 const Array<Real, Exec>& time, int num_points, std::int64_t first) {
  Kokkos::parallel_for(
      "ossatura::store_times", range(exec, front.num_items),
      detail::TimesOfSetFront<Exec, Real>{front.time[iterations % 2], time, first,
                                          std::int64_t(time.extent(0)) / num_points, num_points});
}

} // namespace ossatura
