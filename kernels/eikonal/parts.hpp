// SPDX-License-Identifier: Apache-2.0
// Parts are sub-domains for the fast iterative method: contiguous ranges of points in the order of
// a space-filling curve. The part that owns a point evaluates the point from all its tetrahedra;
// the times of neighbours are read wherever they are, so that no interface is stored.
#pragma once

#include <ossatura/kernels/eikonal/ring_batch.hpp>
#include <ossatura/kernels/eikonal/stamps.hpp>

namespace ossatura {

/// Each set's points in `per_set` ranges, their sizes equal but for one.
struct PointParts {
  int num_points; ///< of a set
  int per_set;    ///< in [1, num_points]

  KOKKOS_FORCEINLINE_FUNCTION int begin(int part) const {
    const int set = part / per_set;
    return set * num_points + int(std::int64_t(part - set * per_set) * num_points / per_set);
  }
  KOKKOS_FORCEINLINE_FUNCTION int end(int part) const {
    const int set = part / per_set;
    return set * num_points + int(std::int64_t(part - set * per_set + 1) * num_points / per_set);
  }
  KOKKOS_FORCEINLINE_FUNCTION int part_of(int index) const {
    const int set = index / num_points, point = index - set * num_points;
    return set * per_set + int((std::int64_t(point + 1) * per_set - 1) / num_points);
  }
};

/// Device-side state, so that iterations need no host. Iterations are numbered from 0.
template<class Exec>
struct PartFront {
  enum { base = 0, last = 1, num_clocks = 2 };
  enum { evaluations = 0, solves = 1, num_totals = 2 };

  PointParts parts;
  int num_parts;                   ///< of all sets
  Array<int, Exec> stamp;          ///< [num_times] see stamps.hpp
  Array<int, Exec> part_stamp;     ///< [num_parts] last iteration that a part takes part in
  Array<std::uint32_t, Exec> list; ///< [num_times] active points, each part's in its own range
  /// [num_clocks] base: launches count their iteration from here; last: iteration that any part
  /// takes part in.
  Array<int, Exec> clock;
  Array<std::uint64_t, Exec> total; ///< [num_totals]

  KOKKOS_FORCEINLINE_FUNCTION int iteration(int offset) const { return clock(int(base)) + offset; }
};

namespace detail {

template<class Exec>
struct StampPartsOfSites {
  Array<std::uint32_t, Exec> site;
  PartFront<Exec> front;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    front.part_stamp(front.parts.part_of(int(site(i)))) = 0; // the same from all
  }
};

template<class Exec>
struct AdvanceClock {
  PartFront<Exec> front;
  int iterations;
  KOKKOS_FUNCTION void operator()(std::int64_t) const {
    front.clock(int(PartFront<Exec>::base)) += iterations;
  }
};

/// Writes the items of the active points of [begin, end) to list(begin) and on, in their order, by
/// a scan over the team, each thread with consecutive points. The last thread learns their count,
/// the others how many there are up to theirs.
template<class Exec, class Member>
KOKKOS_FUNCTION int compact_points(const Member& member, const PartFront<Exec>& front, int begin,
                                   int end, int iteration) {
  const int share = (end - begin + member.team_size() - 1) / member.team_size();
  const int own_end = begin + share * (member.team_rank() + 1);
  const int first = begin + share * member.team_rank(), last = Kokkos::min(end, own_end);
  int count = 0;
  for (int i = first; i < last; ++i)
    count += stamp::iteration_of(front.stamp(i)) == iteration ? 1 : 0;
  const int before = member.team_scan(count);
  int place = begin + before;
  for (int i = first; count > 0 && i < last; ++i) {
    const int s = front.stamp(i);
    if (stamp::iteration_of(s) == iteration)
      front.list(place++) = std::uint32_t(i) | (stamp::has_changed(s) ? changed_bit : 0);
  }
  return before + count;
}

/// The data that a team keeps in scratch memory.
template<class Teams, class Real>
struct PartScratch {
  RingBatch<Teams, Real> batch;
  int num_active;
  int stays; ///< whether the part has points in the next iteration
  int sends; ///< whether any part has points in the next iteration, by this team
  int num_evaluated, num_solved;
};

/// The step that both ways to work on parts share.
template<class Teams, class Exec, class Metric, class Real>
struct PartStep {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Scratch = PartScratch<Teams, Real>;

  RingUpdate<Exec, Metric> update;
  PartFront<Exec> front;
  Array<Real, Exec> time;     ///< [sets * num_points] read
  Array<Real, Exec> new_time; ///< written
  Real keep;                  ///< times below keep * old are changes
  int offset;                 ///< of the iteration, from front.clock

  KOKKOS_FUNCTION Scratch& begin_team(const Member& member) const {
    Scratch& scratch =
        *static_cast<Scratch*>(member.team_shmem().get_shmem_aligned(sizeof(Scratch), 16));
    Kokkos::single(Kokkos::PerTeam(member), [&]() {
      scratch.batch.num_entries = scratch.num_active = 0;
      scratch.stays = scratch.sends = scratch.num_evaluated = scratch.num_solved = 0;
    });
    member.team_barrier();
    return scratch;
  }

  KOKKOS_FUNCTION void end_team(const Member& member, const Scratch& scratch, int next) const {
    Kokkos::single(Kokkos::PerTeam(member), [&]() {
      if (scratch.sends)
        front.clock(int(PartFront<Exec>::last)) = next; // the same from all
      if (scratch.num_evaluated > 0)
        Kokkos::atomic_add(&front.total(int(PartFront<Exec>::evaluations)),
                           std::uint64_t(scratch.num_evaluated));
      if (scratch.num_solved > 0)
        Kokkos::atomic_add(&front.total(int(PartFront<Exec>::solves)),
                           std::uint64_t(scratch.num_solved));
    });
  }

  /// Evaluates list(first) .. list(first + size - 1), writes their times and stamps for iteration
  /// `now`, and calls enter(i) for each neighbour of a point that has converged. Sets
  /// scratch.stays. Ends with a barrier.
  template<class Enter>
  KOKKOS_FUNCTION void update_batch(const Member& member, Scratch& scratch, int first, int size,
                                    int now, const Enter& enter) const {
    constexpr int lanes = Teams::lanes;
    const int num_points = front.parts.num_points;
    RingBatch<Teams, Real>& batch = scratch.batch;
    ossatura::update_batch(member, update, time.data(), num_points, &front.list(first), size,
                           batch);
    for (int thread = member.team_rank(); thread < size * lanes; thread += member.team_size()) {
      const auto& p = batch.point[thread / lanes];
      const int lane = thread % lanes;
      const bool changed = p.best < p.current * keep;
      if (lane == 0) {
        new_time(p.index) = changed ? p.best : p.current;
        if (changed) {
          front.stamp(p.index) = stamp::changed(now + 1);
          scratch.stays = 1;
        }
      }
      if (!changed && (p.item & changed_bit))
        for_neighbours(update, p, lane, lanes, enter);
    }
    Kokkos::single(Kokkos::PerTeam(member), [&]() {
      scratch.num_evaluated += size;
      scratch.num_solved += batch.num_entries;
      batch.num_entries = 0;
    });
    member.team_barrier();
  }

  /// `index` is in the next iteration, unless it is in this one.
  KOKKOS_FORCEINLINE_FUNCTION bool enter_next(int index, int now) const {
    if (front.stamp(index) >= stamp::entered(now))
      return false;
    front.stamp(index) = stamp::entered(now + 1); // the same from all
    return true;
  }

  /// The part of `index` takes part in the iteration `next`.
  KOKKOS_FORCEINLINE_FUNCTION void wake(Scratch& scratch, int index, int next) const {
    front.part_stamp(front.parts.part_of(index)) = next; // the same from all
    scratch.sends = 1;
  }

  KOKKOS_FUNCTION void keep_awake(const Member& member, Scratch& scratch, int part,
                                  int next) const {
    Kokkos::single(Kokkos::PerTeam(member), [&]() {
      if (scratch.stays) {
        front.part_stamp(part) = next;
        scratch.sends = 1;
      }
      scratch.stays = 0;
    });
    member.team_barrier();
  }
};

/// `num_teams` teams with their scratch memory.
template<class Teams, class Real, class Exec>
Kokkos::TeamPolicy<Exec> part_policy(const Exec& exec, int num_teams) {
  Kokkos::TeamPolicy<Exec> policy(exec, num_teams, int(Teams::threads), 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(int(sizeof(PartScratch<Teams, Real>)) + 16));
  return policy;
}

} // namespace detail

/// The state before iteration 0. Does not fence.
template<class Exec>
PartFront<Exec> make_part_front(const Exec& exec, int num_points, int parts_per_set,
                                std::int64_t num_times, const Array<std::uint32_t, Exec>& site) {
  PartFront<Exec> front;
  front.parts = {num_points, parts_per_set};
  front.num_parts = int(num_times / num_points * parts_per_set);
  front.stamp = make_stamps(exec, num_times, site);
  front.part_stamp =
      make_uninitialized<int>(exec, front.num_parts, "ossatura::eikonal::part_stamp");
  Kokkos::deep_copy(exec, front.part_stamp, int(stamp::never));
  front.list = make_uninitialized<std::uint32_t>(exec, num_times, "ossatura::eikonal::list");
  front.clock = make_zeros<int>(exec, PartFront<Exec>::num_clocks, "ossatura::eikonal::clock");
  front.total =
      make_zeros<std::uint64_t>(exec, PartFront<Exec>::num_totals, "ossatura::eikonal::total");
  Kokkos::parallel_for("ossatura::make_part_front", range(exec, site.extent(0)),
                       detail::StampPartsOfSites<Exec>{site, front});
  return front;
}

/// Later launches count their iterations from `iterations` more. Does not fence.
template<class Exec>
void advance_clock(const Exec& exec, const PartFront<Exec>& front, int iterations) {
  Kokkos::parallel_for("ossatura::advance_clock", range(exec, 1),
                       detail::AdvanceClock<Exec>{front, iterations});
}

} // namespace ossatura
