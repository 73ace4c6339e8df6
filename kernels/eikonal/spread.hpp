// SPDX-License-Identifier: Apache-2.0
// The spread method iterates on sub-domains whose work is shared by several teams [1, section
// 6.3.1]. A team compacts the active points of each sub-domain; a scan over sub-domains numbers the
// batches in which they are evaluated; and a fixed number of teams shares the batches, wherever the
// front is.
//
// [1] D. Ganellari, G. Haase, G. Zumbusch. A massively parallel eikonal solver on unstructured
//     meshes. Comput. Vis. Sci. 19 (2018) 3-18, doi:10.1007/s00791-018-0288-z.
#pragma once

#include <ossatura/kernels/eikonal/parts.hpp>

namespace ossatura {

/// Small, as batches end with their part.
template<class Exec>
using SpreadTeams = BatchTeams<Exec, 16, 128, 16>;

/// Batches of an iteration.
template<class Exec>
struct PartBatches {
  Array<int, Exec> num_active; ///< [num_parts] points
  Array<int, Exec> begin;      ///< [num_parts + 1] first batch of each part
};

namespace detail {

template<class Exec>
struct CompactParts {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  PartFront<Exec> front;
  PartBatches<Exec> batches;
  int offset;

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const int part = member.league_rank(), now = front.iteration(offset);
    // The same for all threads: nobody writes it here.
    const bool active = front.part_stamp(part) == now;
    const int upto =
        active ? compact_points(member, front, front.parts.begin(part), front.parts.end(part), now)
               : 0;
    if (member.team_rank() == member.team_size() - 1)
      batches.num_active(part) = upto;
  }
};

/// One team numbers all batches.
template<class Exec>
struct NumberBatches {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int threads = BackendTraits<Exec>::is_device ? 512 : 1;
  PartBatches<Exec> batches;

  KOKKOS_FORCEINLINE_FUNCTION int num_batches(int part) const {
    constexpr int size = SpreadTeams<Exec>::size;
    return (batches.num_active(part) + size - 1) / size;
  }
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const int num_parts = int(batches.num_active.extent(0));
    const int share = (num_parts + member.team_size() - 1) / member.team_size();
    const int first =
        share * member.team_rank() < num_parts ? share * member.team_rank() : num_parts;
    const int last = first + share < num_parts ? first + share : num_parts;
    int count = 0;
    for (int part = first; part < last; ++part)
      count += num_batches(part);
    int before = member.team_scan(count);
    for (int part = first; part < last; ++part) {
      batches.begin(part) = before;
      before += num_batches(part);
    }
    if (member.team_rank() == member.team_size() - 1)
      batches.begin(num_parts) = before;
  }
};

template<class Exec, class Metric, class Real>
struct UpdateBatches {
  using Step = PartStep<SpreadTeams<Exec>, Exec, Metric, Real>;
  using Member = typename Step::Member;
  using Scratch = typename Step::Scratch;
  Step step;
  PartBatches<Exec> batches;

  KOKKOS_FUNCTION int part_of_batch(int batch) const {
    int lower = 0, upper = step.front.num_parts; // begin(lower) <= batch < begin(upper)
    while (upper - lower > 1) {
      const int middle = lower + (upper - lower) / 2;
      (batches.begin(middle) <= batch ? lower : upper) = middle;
    }
    return lower;
  }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    constexpr int batch_size = SpreadTeams<Exec>::size;
    const std::int64_t n = batches.begin(step.front.num_parts);
    const int begin = int(n * member.league_rank() / member.league_size());
    const int end = int(n * (member.league_rank() + 1) / member.league_size());
    if (begin == end)
      return;
    Scratch& scratch = step.begin_team(member);
    const int now = step.front.iteration(step.offset);
    int part = 0, part_end = 0, points = 0, active = 0;
    for (int batch = begin; batch < end; ++batch) {
      if (batch >= part_end) {
        part = part_of_batch(batch);
        part_end = batches.begin(part + 1);
        points = step.front.parts.begin(part);
        active = batches.num_active(part);
      }
      const int first = (batch - batches.begin(part)) * batch_size;
      const int size = active - first < batch_size ? active - first : batch_size;
      step.update_batch(member, scratch, points + first, size, now, [&](int index) {
        if (step.enter_next(index, now))
          step.wake(scratch, index, now + 1);
      });
      step.keep_awake(member, scratch, part, now + 1);
    }
    step.end_team(member, scratch, now + 1);
  }
};

} // namespace detail

/// Launches the iteration that is `offset` after the clock's. With `new_time` the same array as
/// `time`, new times are seen at once by whoever reads them later; with two that change places, the
/// result does not depend on the order of threads, nor on the parts. Does not fence.
template<class Exec, class Metric, class Real>
void advance_spread(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                    const PartFront<Exec>& front, const PartBatches<Exec>& batches,
                    const Array<Real, Exec>& time, const Array<Real, Exec>& new_time, Real keep,
                    int offset) {
  using Teams = SpreadTeams<Exec>;
  using Policy = Kokkos::TeamPolicy<Exec>;
  Kokkos::parallel_for("ossatura::advance_spread::compact",
                       Policy(exec, front.num_parts, int(Teams::threads), 1),
                       detail::CompactParts<Exec>{front, batches, offset});
  Kokkos::parallel_for("ossatura::advance_spread::number",
                       Policy(exec, 1, int(detail::NumberBatches<Exec>::threads), 1),
                       detail::NumberBatches<Exec>{batches});
  const int num_teams =
      Teams::device ? exec.concurrency() / Teams::threads : 8 * exec.concurrency();
  Kokkos::parallel_for("ossatura::advance_spread::update",
                       detail::part_policy<Teams, Real>(exec, num_teams),
                       detail::UpdateBatches<Exec, Metric, Real>{
                           {update, front, time, new_time, keep, offset}, batches});
}

} // namespace ossatura
