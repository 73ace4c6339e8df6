// SPDX-License-Identifier: Apache-2.0
// A resident front does the iterations of front.hpp in one launch: the same evaluations, reading
// the times of the iteration before, by a grid of threads that stay and wait for each other.
//
// Warps work by themselves. A warp takes 1, 2, 4 or 8 points at once, with 32 to 4 lanes a point by
// the length of the queue, so that all of it is under way at once where that can be. Lanes read the
// times around the points into shared memory, mark the tetrahedra that can lower the time, share
// these out and solve them, and append what comes of it to the next queue: each block to a part of
// its own, so that places are counted in shared memory; what a part has no room for goes to a part
// for all blocks. After the barrier every block reads the lengths of all parts and finds items by
// bisection.
//
// Times, stamps, queues and lengths change while the kernel runs, and go past the caches of
// multiprocessors (__ldcg, __stcg), which see no changes of others.
#pragma once

#include <ossatura/kernels/eikonal/resident/front_step.hpp>

namespace ossatura {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
/// The arrays of a front of `num_times` times, of which the parts of blocks have room for
/// `part_size` items, or 0 for what is usual. num_blocks is 0 where the device cannot have a
/// resident grid of it. Does not fence. Throws what Kokkos does where memory is short.
template<class Real>
ResidentFront<Cuda, Real> make_resident_front(const Cuda& exec, std::int64_t num_times,
                                              int part_size = 0) {
  using Step = detail::ResidentFrontStep<Real>;
  ResidentFront<Cuda, Real> front;
  front.num_times = num_times;
  if (!has_resident_grids(exec))
    return front;
  const int blocks = exec.cuda_device_prop().multiProcessorCount * Step::resident_blocks;
  if (max_resident_blocks<Step>("ossatura::advance_resident_front", exec,
                                Step::scratch_bytes(blocks)) < blocks)
    return front;
  front.num_blocks = blocks;
  front.part_size = part_size > 0 ? part_size : int(num_times / blocks) + 1024;
  front.queue =
      make_uninitialized<std::uint32_t>(exec, 2 * front.queue_size(), "ossatura::eikonal::queue");
  front.length = make_uninitialized<int>(exec, 2 * blocks + 3, "ossatura::eikonal::length");
  front.stamp = make_uninitialized<int>(exec, num_times, "ossatura::eikonal::stamp");
  front.new_time = make_uninitialized<Real>(exec, num_times, "ossatura::eikonal::new_time");
  front.arrivals = make_uninitialized<unsigned>(exec, 1, "ossatura::eikonal::arrivals");
  front.state = make_uninitialized<std::uint64_t>(exec, ResidentFront<Cuda, Real>::num_states,
                                                  "ossatura::eikonal::state");
  return front;
}

/// Launches the iterations of a front from `first` on, until the queue is empty or before iteration
/// `last`. The front's state then says which iteration is next, how many items its queue has, and
/// how many points and tetrahedra were solved since it was restarted. Times of even iterations are
/// `time` [sets * num_points], of odd ones those of the front; `first` is 0 after restart_front(),
/// and then what the state says. Does not fence.
template<class Metric, class Real>
void advance_resident_front(const Cuda& exec, const RingUpdate<Cuda, Metric>& update,
                            const RingMetric<Cuda, Real>& ring,
                            const ResidentFront<Cuda, Real>& front, const Array<Real, Cuda>& time,
                            Real keep, int num_points, int first, int last) {
  using Step = detail::ResidentFrontStep<Real>;
  std::uint32_t* const queue = front.queue.data();
  const Step step{{ring.entry, ring.point, update.stars.neighbour, update.ring.member,
                   update.stars.face, update.tetra},
                  {{queue, queue + front.queue_size()},
                   front.length.data(),
                   front.stamp.data(),
                   front.state.data(),
                   front.part_size},
                  {time.data(), front.new_time.data()},
                  keep,
                  num_points,
                  first,
                  last};
  launch_resident_grid("ossatura::advance_resident_front", exec, front.num_blocks,
                       Step::scratch_bytes(front.num_blocks), front.arrivals, step);
}
#endif

} // namespace ossatura
