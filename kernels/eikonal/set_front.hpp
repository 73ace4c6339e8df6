// SPDX-License-Identifier: Apache-2.0
// A front of sets does the iterations of resident_front.hpp for several sets of sites at once. An
// item is a point with a bit for each of up to 8 sets that evaluate it, so that what the mesh says
// of a point is read once for all of them, and so are the tetrahedra around it; where no two sets
// are at the same point, an item is one evaluation.
//
// The times of a point are side by side: those of 8 sets are one sector of memory (32 bytes) in
// single precision, and two in double. A warp takes 1, 2 or 4 points with 8 lanes each. A lane
// marks which of its tetrahedra can lower the times of which sets; what all lanes marked is one
// list, of which each lane solves a tetrahedron at a time.
//
// Each set has the evaluations, iterations and bits that it has alone: an evaluation reads the
// times of the iteration before, and is in the queue by the rules of front.hpp.
#pragma once

#include <ossatura/kernels/eikonal/resident/set_front_step.hpp>

namespace ossatura {

#if defined(KOKKOS_ENABLE_CUDA) && defined(__CUDACC__)
/// The arrays of a front of `num_items` points, num_points for each group of sets_of_a_front, of
/// which the parts of blocks have room for `part_size` items, or 0 for what is usual. num_blocks is
/// 0 where the device cannot have a resident grid of it. Does not fence. Throws what Kokkos does
/// where memory is short.
template<class Real>
SetFront<Cuda, Real> make_set_front(const Cuda& exec, std::int64_t num_items, int part_size = 0) {
  using Step = detail::SetFrontStep<Real>;
  SetFront<Cuda, Real> front;
  front.num_items = num_items;
  if (!has_resident_grids(exec))
    return front;
  const int blocks = exec.cuda_device_prop().multiProcessorCount * Step::resident_blocks;
  if (max_resident_blocks<Step>("ossatura::advance_set_front", exec, Step::scratch_bytes(blocks)) <
      blocks)
    return front;
  front.num_blocks = blocks;
  front.part_size = part_size > 0 ? part_size : int(num_items / blocks) + 1024;
  front.queue = make_uninitialized<std::uint32_t>(exec, front.num_queues * front.queue_size(),
                                                  "ossatura::eikonal::queue");
  front.length = make_uninitialized<int>(exec, 2 * blocks + 4, "ossatura::eikonal::length");
  front.point = make_uninitialized<SetsOfPoint>(exec, num_items, "ossatura::eikonal::point");
  for (auto& t : front.time)
    t = make_uninitialized<Real>(exec, num_items * front.sets, "ossatura::eikonal::set_times");
  front.arrivals = make_uninitialized<unsigned>(exec, 1, "ossatura::eikonal::arrivals");
  front.state =
      make_uninitialized<std::uint64_t>(exec, front.num_states, "ossatura::eikonal::state");
  return front;
}

/// Launches the iterations of a front from `first` on, until the queue is empty or before iteration
/// `last`. The front's state then says which iteration is next, how many items its queue has, and
/// how many points and tetrahedra were solved, in all sets, since it was restarted. `first` is 0
/// after restart_front(), and then what the state says. Does not fence.
template<class Metric, class Real>
void advance_set_front(const Cuda& exec, const RingUpdate<Cuda, Metric>& update,
                       const RingMetric<Cuda, Real>& ring, const SetFront<Cuda, Real>& front,
                       Real keep, int num_points, int first, int last) {
  using Step = detail::SetFrontStep<Real>;
  const Step step{{ring.entry, ring.point, update.stars.neighbour, update.ring.member,
                   update.stars.face, update.tetra},
                  {front.queue.data(), std::size_t(front.queue_size()), front.length.data(),
                   front.point.data(), front.part_size},
                  front.state.data(),
                  {front.time[0].data(), front.time[1].data()},
                  keep,
                  num_points,
                  first,
                  last};
  launch_resident_grid("ossatura::advance_set_front", exec, front.num_blocks,
                       Step::scratch_bytes(front.num_blocks), front.arrivals, step);
}
#endif

} // namespace ossatura
