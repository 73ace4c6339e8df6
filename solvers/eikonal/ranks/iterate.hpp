// SPDX-License-Identifier: Apache-2.0
// The iteration on a mesh that is cut between processes. Each owns its points and updates them; an
// iteration reads the times of the one before, those of ghosts too, so that it does not show where
// the cuts are: times, iterations and evaluations are those of one process, to the bit.
#pragma once

#include <ossatura/core/parallel/launch_graph.hpp>
#include <ossatura/kernels/eikonal/spread.hpp>
#include <ossatura/solvers/eikonal/method.hpp>
#include <ossatura/solvers/eikonal/ranks/boundary_exchange.hpp>

#include <algorithm>
#include <optional>

namespace ossatura::detail {

/// Iterations between two looks at whether any process has points left and whether to stop, which
/// all must agree on. Those after the last one find nothing to do.
constexpr int iterations_between_looks = 24;

/// Iterations that are recorded as one graph of launches: few, as the first of them are launched
/// one by one.
constexpr int recorded_iterations = 4;
static_assert(recorded_iterations % 2 == 0, "what is recorded begins with times(0)");
static_assert(iterations_between_looks % recorded_iterations == 0);

/// Points of a sub-domain, as in one process.
constexpr int usual_range_size = 1500;

/// The front of a process. `share` has own points.
template<class Exec, class Metric, class Real>
class CutFront {
public:
  CutFront(const Exec& exec, const RingUpdate<Exec, Metric>& update,
           const EikonalStart<Exec>& start, int num_parts, const Array<Real, Exec>& time,
           const BoundaryExchange<Exec, Real>& exchange)
      : update_(update)
      , front_(make_part_front(exec, start.num_points, num_parts, start.num_times, start.site))
      , times_{time, make_uninitialized<Real>(exec, start.num_times, "ossatura::eikonal::new_time")}
      , clock_(Kokkos::create_mirror_view(front_.clock)) {
    Kokkos::deep_copy(exec, times_[1], time);
    stamp_ghosts(exec, exchange.points, front_);
    batches_.num_active =
        make_uninitialized<int>(exec, front_.num_parts, "ossatura::eikonal::num_active");
    batches_.begin =
        make_uninitialized<int>(exec, front_.num_parts + 1, "ossatura::eikonal::batches");
  }

  /// The next `count` iterations, the first of them an even one.
  void advance(const Exec& exec, int count, Real keep,
               const BoundaryExchange<Exec, Real>& exchange) const {
    for (int i = 0; i < count; ++i) {
      const auto &now = times_[i % 2], &next = times_[1 - i % 2];
      advance_spread(exec, update_, front_, batches_, now, next, keep, i);
      pack_boundary(exec, exchange.points, front_, next, exchange.outgoing, i);
      exchange.run(exec);
      unpack_boundary(exec, update_, exchange.points, front_, exchange.incoming, next, i);
    }
    advance_clock(exec, front_, count);
  }

  /// The last iteration that points of this process take part in, as far as is known. Fences.
  int last(const Exec& exec) const {
    Kokkos::deep_copy(exec, clock_, front_.clock);
    fence(exec, "ossatura::eikonal::last");
    return clock_(int(PartFront<Exec>::last));
  }

  /// Times after `k` iterations.
  const Array<Real, Exec>& times(int k) const { return times_[k % 2]; }

  /// Evaluations and local solves of this process so far. Fences.
  void count(const Exec& exec, EikonalCounts& counts) const {
    const std::vector<std::uint64_t> total = download(exec, front_.total);
    counts.evaluations = std::int64_t(total[PartFront<Exec>::evaluations]);
    counts.local_solves = std::int64_t(total[PartFront<Exec>::solves]);
  }

private:
  RingUpdate<Exec, Metric> update_;
  PartFront<Exec> front_;
  PartBatches<Exec> batches_;
  Array<Real, Exec> times_[2];
  typename Array<int, Exec>::HostMirror clock_;
};

/// What a process knows, by which all decide.
struct CutState {
  int last;
  int stop;
};

/// The same on all ranks: the largest of both.
inline CutState agree(const Communicator& comm, const CutState& mine) {
  CutState all = mine;
  for (const CutState& state : comm.gather(mine)) {
    all.last = std::max(all.last, state.last);
    all.stop = std::max(all.stop, state.stop);
  }
  return all;
}

/// Lowers the times of own points, and those of ghosts with them, as solve_by_parts() does with
/// options.deterministic. `time` [num_sets, share.num_points()] is set at all sites that the
/// process sees, `start` has its own ones alone; options.num_parts is of all processes. Counts are
/// those of all. By all ranks, also by those that see no points. Fences.
template<class Exec, class Metric, class Real>
EikonalCounts iterate_cut(const Exec& exec, const DeviceComm<Exec>& device_comm,
                          const MeshShare& share, const RingUpdate<Exec, Metric>& update,
                          const EikonalStart<Exec>& start, const EikonalOptions& options,
                          std::int64_t num_sets, const Array<Real, Exec>& time) {
  const Communicator& comm = device_comm.communicator();
  const BoundaryExchange<Exec, Real> exchange(exec, device_comm, share, num_sets);
  std::optional<CutFront<Exec, Metric, Real>> front;
  if (start.num_points > 0) {
    const std::int64_t wanted = options.num_parts > 0 ? std::int64_t(options.num_parts) *
                                                            start.num_points / share.total_points
                                                      : start.num_points / usual_range_size;
    front.emplace(exec, update, start,
                  int(std::clamp(wanted, std::int64_t(1), std::int64_t(start.num_points))), time,
                  exchange);
  }
  const auto look = [&] {
    return agree(comm, {front ? front->last(exec) : -1, options.is_stopped() ? 1 : 0});
  };
  const Real keep = Real(1) - Real(options.tolerance);
  const auto advance = [&](int count) { // from an even iteration on
    if (front)
      front->advance(exec, count, keep, exchange);
    else // what is collective takes all
      for (int i = 0; i < count; ++i)
        exchange.run(exec);
  };
  LaunchGraph<Exec> graph(device_comm.can_be_recorded(),
                          [comm](bool recorded) { return comm.all(recorded); });
  int k = 0;
  CutState state = look();
  while (k < options.max_iterations && state.stop == 0 && state.last >= k) {
    const int count = std::min(iterations_between_looks, options.max_iterations - k);
    for (int i = 0; i < count; i += recorded_iterations)
      if (i + recorded_iterations <= count)
        graph.run(exec, [&] { advance(recorded_iterations); });
      else
        advance(count - i);
    k += count;
    state = look();
  }
  EikonalCounts counts;
  if (front) {
    if (k % 2 == 1)
      Kokkos::deep_copy(exec, time, front->times(k));
    front->count(exec, counts);
  }
  counts.converged = state.last < k;
  counts.iterations = std::min(k, state.last + 1);
  counts.evaluations = comm.sum(counts.evaluations);
  counts.local_solves = comm.sum(counts.local_solves);
  return counts;
}

} // namespace ossatura::detail
