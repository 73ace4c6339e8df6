// SPDX-License-Identifier: Apache-2.0
// The front is a queue of points; this file runs one iteration of the fast iterative method [1] on
// the queue.
//
// A point in the queue takes the earliest arrival through the tetrahedra around it. Where that is
// earlier than its time, the point has changed and stays. Where it is not, but the point had
// changed in the iteration before, the point has converged for now: it leaves, and its neighbours
// come in. Other points leave. A neighbour that is already in the queue has seen the converged
// time: only neighbours outside the queue are added, and one iteration needs no memory order beyond
// that of kernels.
//
// Points pull times from their neighbours and push nothing: there is no atomic operation on times
// in memory, and the work of an iteration follows the front, not the mesh. A team takes a batch of
// points in three steps: it lists the tetrahedra around them that can lower their time, about two
// in five; solves those, all lanes busy; and makes its part of the next queue in its own memory,
// which it appends as a whole.
//
// [1] W.-K. Jeong, R. T. Whitaker. A fast iterative method for eikonal equations. SIAM J. Sci.
//     Comput. 30 (2008) 2512-2534, doi:10.1137/060670298.
#pragma once

#include <ossatura/kernels/eikonal/ring_batch.hpp>

namespace ossatura {

/// Device-side state of a front, so that iterations need no host. Counters rotate through three
/// slots: iteration k reads slot k % 3, fills the next and clears the one after that.
template<class Exec>
struct EikonalFront {
  enum { count = 0, iteration = 3, num_counters = 6 };
  enum { evaluations = 0, solves = 1, num_totals = 2 };

  Array<std::uint32_t, Exec> queue[2]; ///< [sets * num_points] of even and odd iterations
  Array<int, Exec> stamp;              ///< [sets * num_points] last iteration it is queued for
  Array<int, Exec> counter;            ///< [num_counters]
  Array<std::uint64_t, Exec> total;    ///< [num_totals]
};

namespace detail {

template<class Exec>
struct StartFront {
  Array<std::uint32_t, Exec> site;
  EikonalFront<Exec> front;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    front.queue[0](i) = site(i) | changed_bit;
    front.stamp(site(i)) = 0;
    if (i == 0)
      front.counter(EikonalFront<Exec>::count) = int(site.extent(0));
  }
};

template<class Exec>
using FrontTeams = BatchTeams<Exec, 32, 128, 4>;

/// The data that a team keeps in scratch memory.
template<class Exec, class Real>
struct FrontScratch {
  static constexpr int buffer_size = 256;
  RingBatch<FrontTeams<Exec>, Real> batch;
  std::uint32_t buffer[buffer_size]; ///< of the next queue
  int num_buffered, num_solved, first;
};

template<class Exec, class Metric, class Real>
struct FrontStep {
  using Front = EikonalFront<Exec>;
  using Teams = FrontTeams<Exec>;
  using Scratch = FrontScratch<Exec, Real>;
  /// Teams at once on a multiprocessor of a device: as many as registers allow without spilling.
  static constexpr int resident = sizeof(Real) == 8 ? 8 : 12;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Teams::threads, resident>>;
  using Member = typename Policy::member_type;

  RingUpdate<Exec, Metric> update;
  struct {
    ArrayPointer<std::uint32_t> queue, next_queue;
    ArrayPointer<int> stamp, counter;
    ArrayPointer<std::uint64_t> total;
  } front;                       ///< EikonalFront
  ArrayPointer<const Real> time; ///< [sets * num_points] read
  ArrayPointer<Real> new_time;   ///< written
  Real keep;                     ///< times below keep * old are changes
  int num_points;
  int slot; ///< iteration % 3

  static int league_size(const Exec& exec) {
    // Threads of a multiprocessor: 2048 on all that we know.
    return Teams::device ? exec.concurrency() / 2048 * resident : 8 * exec.concurrency();
  }

  KOKKOS_FUNCTION int* next_count() const { return &front.counter(Front::count + (slot + 1) % 3); }

  KOKKOS_FUNCTION void append(Scratch& scratch, std::uint32_t item) const {
    const int place = Teams::append(&scratch.num_buffered);
    if (place < int(Scratch::buffer_size))
      scratch.buffer[place] = item;
    else // rare: many neighbours at once
      front.next_queue(Kokkos::atomic_fetch_add(next_count(), 1)) = item;
  }

  /// Empties the buffer into the next queue. By all threads of the team.
  KOKKOS_FUNCTION void flush(const Member& member, Scratch& scratch) const {
    const int n = scratch.num_buffered < int(Scratch::buffer_size) ? scratch.num_buffered
                                                                   : int(Scratch::buffer_size);
    if (n == 0)
      return;
    if (member.team_rank() == 0)
      scratch.first = Kokkos::atomic_fetch_add(next_count(), n);
    member.team_barrier();
    const int first = scratch.first;
    for (int i = member.team_rank(); i < n; i += member.team_size())
      front.next_queue(first + i) = scratch.buffer[i];
    if (member.team_rank() == 0)
      scratch.num_buffered = 0;
    member.team_barrier();
  }

  /// Adds a point to the next queue, unless it is in this one or in that already.
  KOKKOS_FUNCTION void notify(Scratch& scratch, int index, int k) const {
    int* stamp = &front.stamp(index);
    if (*stamp < k && Kokkos::atomic_exchange(stamp, k + 1) < k)
      append(scratch, std::uint32_t(index));
  }

  /// Writes the time of one point, and what comes of it into the next queue.
  KOKKOS_FUNCTION void commit(Scratch& scratch, int place, int lane, int k) const {
    const auto& p = scratch.batch.point[place];
    const bool changed = p.best < p.current * keep;
    if (lane == 0) {
      new_time(p.index) = changed ? p.best : p.current;
      if (changed) {
        front.stamp(p.index) = k + 1;
        append(scratch, std::uint32_t(p.index) | changed_bit);
      }
    }
    if (!changed && (p.item & changed_bit))
      for_neighbours(update, p, lane, Teams::lanes, [&](int index) { notify(scratch, index, k); });
  }

  KOKKOS_FUNCTION void advance(const Member& member, Scratch& scratch, int first, int size,
                               int k) const {
    update_batch(member, update, time.data, num_points, &front.queue(first), size, scratch.batch);
    const int rank = member.team_rank();
    if (rank == 0) {
      scratch.num_solved += scratch.batch.num_entries;
      scratch.batch.num_entries = 0;
    }
    for (int i = rank; i < size * Teams::lanes; i += member.team_size())
      commit(scratch, i / Teams::lanes, i % Teams::lanes, k);
    member.team_barrier();
  }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    Scratch& scratch =
        *static_cast<Scratch*>(member.team_shmem().get_shmem_aligned(sizeof(Scratch), 16));
    const int n = front.counter(Front::count + slot);
    const int k = front.counter(Front::iteration + slot);
    if (member.team_rank() == 0) {
      scratch.batch.num_entries = scratch.num_buffered = scratch.num_solved = 0;
      if (member.league_rank() == 0) {
        front.counter(Front::count + (slot + 2) % 3) = 0;
        front.counter(Front::iteration + (slot + 1) % 3) = n > 0 ? k + 1 : k;
        front.total(Front::evaluations) += n;
      }
    }
    if (n == 0)
      return;
    member.team_barrier();
    // Shares that differ by one at most; divisions of 64-bit integers would take longer than most
    // of what follows.
    const int share = n / member.league_size(), rest = n - share * member.league_size();
    const int rank = member.league_rank();
    const int begin = rank * share + Kokkos::min(rest, rank);
    const int end = begin + share + (rank < rest ? 1 : 0);
    for (int first = begin; first < end; first += Teams::size) {
      advance(member, scratch, first,
              end - first < int(Teams::size) ? end - first : int(Teams::size), k);
      if (scratch.num_buffered > int(Scratch::buffer_size) / 2)
        flush(member, scratch);
    }
    flush(member, scratch);
    if (member.team_rank() == 0 && scratch.num_solved > 0)
      Kokkos::atomic_add(&front.total(Front::solves), std::uint64_t(scratch.num_solved));
  }
};

} // namespace detail

/// The front before iteration 0: the sites, indices into times and no two equal, have changed. Does
/// not fence.
template<class Exec>
EikonalFront<Exec> make_eikonal_front(const Exec& exec, std::int64_t num_times,
                                      const Array<std::uint32_t, Exec>& site) {
  EikonalFront<Exec> front;
  for (auto& queue : front.queue)
    queue = make_uninitialized<std::uint32_t>(exec, num_times, "ossatura::eikonal::queue");
  front.stamp = make_uninitialized<int>(exec, num_times, "ossatura::eikonal::stamp");
  Kokkos::deep_copy(exec, front.stamp, -1);
  front.counter =
      make_zeros<int>(exec, EikonalFront<Exec>::num_counters, "ossatura::eikonal::counter");
  front.total =
      make_zeros<std::uint64_t>(exec, EikonalFront<Exec>::num_totals, "ossatura::eikonal::total");
  Kokkos::parallel_for("ossatura::make_eikonal_front", range(exec, site.extent(0)),
                       detail::StartFront<Exec>{site, front});
  return front;
}

/// Launches iteration `k` of a front. Times are unreached_time where no wave arrived. With
/// `new_time` the same array as `time`, new times are seen at once by whoever reads them later.
/// With two arrays that change places after every iteration, an iteration reads the times of the
/// one before: the result is the same for any order of threads. (They differ only at points that
/// changed last, which are in the queue and thus written.) Does not fence.
template<class Exec, class Metric, class Real>
void advance_front(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                   const EikonalFront<Exec>& front, const Array<Real, Exec>& time,
                   const Array<Real, Exec>& new_time, Real keep, int num_points, int k) {
  using Step = detail::FrontStep<Exec, Metric, Real>;
  const Step step{
      update, {front.queue[k % 2], front.queue[1 - k % 2], front.stamp, front.counter, front.total},
      time,   new_time,
      keep,   num_points,
      k % 3};
  typename Step::Policy policy(exec, Step::league_size(exec), Step::Teams::threads);
  policy.set_scratch_size(0, Kokkos::PerTeam(int(sizeof(typename Step::Scratch)) + 16));
  Kokkos::parallel_for("ossatura::advance_front", policy, step);
}

} // namespace ossatura
