// SPDX-License-Identifier: Apache-2.0
// The patch method iterates on sub-domains, each worked on by one team [1, section 6.3.2]. In one
// launch a team lists the active points of its sub-domain, evaluates them several times, and leaves
// word in an inbox for points of other sub-domains to be evaluated in the next launch. The end of a
// launch is the only memory order between teams.
//
// [1] D. Ganellari, G. Haase, G. Zumbusch. A massively parallel eikonal solver on unstructured
//     meshes. Comput. Vis. Sci. 19 (2018) 3-18, doi:10.1007/s00791-018-0288-z.
#pragma once

#include <ossatura/kernels/eikonal/parts.hpp>

namespace ossatura {

/// Larger than those of spread batches: there are no more teams than patches at the front.
template<class Exec>
using PatchTeams = BatchTeams<Exec, 32, 256, 16>;

namespace detail {

template<class Exec, class Metric, class Real>
struct UpdatePatch {
  using Step = PartStep<PatchTeams<Exec>, Exec, Metric, Real>;
  using Member = typename Step::Member;
  using Scratch = typename Step::Scratch;
  Step step;
  /// [num_times] launch that a point is to be evaluated in, for points of others. Empty: there is
  /// one iteration a launch, in step with that of the other teams, and stamps say all.
  Array<int, Exec> inbox;
  int num_inner; ///< iterations

  /// Points that others sent word of come in. A value of the next launch, written by a team that
  /// was faster, may have taken the place of one for this launch: the point is evaluated in both.
  KOKKOS_FUNCTION void empty_inbox(const Member& member, int begin, int end, int launch) const {
    const int now = launch * num_inner;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, begin, end), [&](int i) {
      if (inbox(i) >= launch && step.front.stamp(i) < stamp::entered(now))
        step.front.stamp(i) = stamp::entered(now);
    });
    member.team_barrier();
  }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    constexpr int batch_size = PatchTeams<Exec>::size;
    const PartFront<Exec>& front = step.front;
    const int part = member.league_rank(), launch = front.iteration(step.offset);
    // Others may write it meanwhile: the threads of a team must agree.
    int last = 0;
    Kokkos::single(
        Kokkos::PerTeam(member), [&](int& l) { l = front.part_stamp(part); }, last);
    if (last < launch)
      return;
    const bool alone = inbox.extent(0) > 0;
    const int begin = front.parts.begin(part), end = front.parts.end(part);
    Scratch& scratch = step.begin_team(member);
    if (alone)
      empty_inbox(member, begin, end, launch);
    for (int now = launch * num_inner; now < (launch + 1) * num_inner; ++now) {
      const int upto = compact_points(member, front, begin, end, now);
      if (member.team_rank() == member.team_size() - 1)
        scratch.num_active = upto;
      Kokkos::single(Kokkos::PerTeam(member), [&]() { scratch.stays = 0; });
      member.team_barrier();
      const int num_active = scratch.num_active;
      if (num_active == 0)
        break;
      for (int first = 0; first < num_active; first += batch_size) {
        const int left = num_active - first;
        step.update_batch(member, scratch, begin + first, Kokkos::min(batch_size, left), now,
                          [&](int index) {
                            const bool own = index >= begin && index < end;
                            if (own || !alone) {
                              if (!step.enter_next(index, now))
                                return;
                              if (own)
                                scratch.stays = 1;
                            } else {
                              inbox(index) = launch + 1; // the same from all
                            }
                            if (!own)
                              step.wake(scratch, index, launch + 1);
                          });
      }
    }
    step.keep_awake(member, scratch, part, launch + 1);
    step.end_team(member, scratch, launch + 1);
  }
};

} // namespace detail

/// Launches `num_inner` iterations on each sub-domain, `offset` launches after the clock's. With an
/// inbox, sub-domains see new times of each other by chance until the next launch; `time` and
/// `new_time` are one array. With none, num_inner is 1 and two arrays that change places give a
/// result that does not depend on the order of threads, nor on the parts. Does not fence.
template<class Exec, class Metric, class Real>
void advance_patches(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                     const PartFront<Exec>& front, const Array<int, Exec>& inbox, int num_inner,
                     const Array<Real, Exec>& time, const Array<Real, Exec>& new_time, Real keep,
                     int offset) {
  Kokkos::parallel_for("ossatura::advance_patches",
                       detail::part_policy<PatchTeams<Exec>, Real>(exec, front.num_parts),
                       detail::UpdatePatch<Exec, Metric, Real>{
                           {update, front, time, new_time, keep, offset}, inbox, num_inner});
}

} // namespace ossatura
