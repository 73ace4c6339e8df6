// SPDX-License-Identifier: Apache-2.0
// The state of a resident front on the device, and how it starts.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/eikonal/batch_point.hpp>

namespace ossatura {

/// The state of a front between launches, on the device. `Real` is that of times.
template<class Exec, class Real>
struct ResidentFront {
  enum { iteration = 0, count = 1, evaluations = 2, solves = 3, num_states = 4 };

  std::int64_t num_times = 0;       ///< sets * points
  int num_blocks = 0;               ///< of the grid; the number of parts of a queue is one more
  int part_size = 0;                ///< items of the part of a block; the last part has num_times
  Array<std::uint32_t, Exec> queue; ///< [2][num_blocks * part_size + num_times] even, odd
  Array<int, Exec> length;    ///< [2][num_blocks] of parts, and [3] by iteration % 3 of the last
  Array<int, Exec> stamp;     ///< [num_times] last iteration it is queued for
  Array<Real, Exec> new_time; ///< [num_times] times of odd iterations
  Array<unsigned, Exec> arrivals;   ///< [1] of the grid's barrier
  Array<std::uint64_t, Exec> state; ///< [num_states]

  std::int64_t queue_size() const { return std::int64_t(num_blocks) * part_size + num_times; }
};

namespace detail {

/// All but the sites.
template<class Exec, class Real>
struct ClearResidentFront {
  ResidentFront<Exec, Real> front;
  Array<Real, Exec> time;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if (i < front.num_times) {
      front.stamp(i) = -1;
      front.new_time(i) = time(i);
    }
    if (i < 2 * front.num_blocks + 3)
      front.length(i) = 0;
    if (i < int(ResidentFront<Exec, Real>::num_states))
      front.state(i) = 0;
    if (i == 0)
      front.arrivals(0) = 0;
  }
};

/// The sites are in the last part of the first queue.
template<class Exec, class Real>
struct StartResidentFront {
  Array<std::uint32_t, Exec> site;
  ResidentFront<Exec, Real> front;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    using Front = ResidentFront<Exec, Real>;
    front.queue(std::int64_t(front.num_blocks) * front.part_size + i) = site(i) | changed_bit;
    front.stamp(site(i)) = 0;
    if (i == 0) {
      front.length(2 * front.num_blocks) = int(site.extent(0));
      front.state(int(Front::count)) = site.extent(0);
    }
  }
};

} // namespace detail

/// Sets a front to iteration 0, in which the sites, indices into times and no two equal, have
/// changed. `time` [num_times] are the times at that moment. Does not fence.
template<class Exec, class Real>
void restart_front(const Exec& exec, const ResidentFront<Exec, Real>& front,
                   const Array<std::uint32_t, Exec>& site, const Array<Real, Exec>& time) {
  const std::int64_t rest = 2 * front.num_blocks + 3;
  Kokkos::parallel_for("ossatura::restart_front",
                       range(exec, front.num_times < rest ? rest : front.num_times),
                       detail::ClearResidentFront<Exec, Real>{front, time});
  Kokkos::parallel_for("ossatura::restart_front::sites", range(exec, site.extent(0)),
                       detail::StartResidentFront<Exec, Real>{site, front});
}

} // namespace ossatura
