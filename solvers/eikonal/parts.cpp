// SPDX-License-Identifier: Apache-2.0
// EikonalMethod::spread and EikonalMethod::patch iterate on sub-domains whose state stays on the
// device.
#include <ossatura/core/parallel/launch_graph.hpp>
#include <ossatura/kernels/eikonal/published/patch.hpp>
#include <ossatura/kernels/eikonal/spread.hpp>
#include <ossatura/solvers/eikonal/method.hpp>

#include <algorithm>

namespace ossatura::detail {

namespace {

/// Points of a sub-domain, where no number of them is asked for. Patches have less work at their
/// boundaries the larger they are; but a device has to have many of them at the front.
template<class Exec>
int usual_part_size(EikonalMethod method) {
  return BackendTraits<Exec>::is_device && method == EikonalMethod::patch ? 750 : 1500;
}

/// Iterations of a patch in a launch. In a heart of 586 thousand points, 1 / 2 / 4 of them take
/// 6.5 / 9.5 / 15 evaluations of a point and 203 / 105 / 56 launches: times from inside a patch run
/// ahead of those that come through its boundary.
constexpr int inner_iterations = 2;

} // namespace

template<class Exec, class Metric, class Real>
EikonalCounts solve_by_parts(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                             const EikonalStart<Exec>& start, const EikonalOptions& options,
                             const Array<Real, Exec>& time) {
  using Front = PartFront<Exec>;
  constexpr bool device = BackendTraits<Exec>::is_device;
  const bool spread = options.method == EikonalMethod::spread;
  const int wanted = options.num_parts > 0
                         ? options.num_parts
                         : start.num_points / usual_part_size<Exec>(options.method);
  const Front front = make_part_front(
      exec, start.num_points, std::clamp(wanted, 1, start.num_points), start.num_times, start.site);
  const bool two_arrays = reads_last_times<Exec>(options);
  Array<Real, Exec> times[2] = {time, time};
  if (two_arrays) {
    times[1] = make_uninitialized<Real>(exec, start.num_times, "ossatura::eikonal::new_time");
    Kokkos::deep_copy(exec, times[1], time);
  }
  PartBatches<Exec> batches;
  Array<int, Exec> inbox;
  if (spread) {
    batches.num_active =
        make_uninitialized<int>(exec, front.num_parts, "ossatura::eikonal::num_active");
    batches.begin =
        make_uninitialized<int>(exec, front.num_parts + 1, "ossatura::eikonal::batches");
  } else if (!options.deterministic) {
    inbox = make_uninitialized<int>(exec, start.num_times, "ossatura::eikonal::inbox");
    Kokkos::deep_copy(exec, inbox, -1);
  }
  const int num_inner = inbox.extent(0) > 0 ? inner_iterations : 1;
  const Real keep = Real(1) - Real(options.tolerance);
  // Iterations `k` and on, the first of them with time in times[k % 2].
  const auto advance = [&](int k, int iterations) {
    for (int i = 0; i < iterations; ++i) {
      const int parity = (k + i) % 2;
      const auto &now = times[parity], &next = times[1 - parity];
      if (spread)
        advance_spread(exec, update, front, batches, now, next, keep, i);
      else
        advance_patches(exec, update, front, inbox, num_inner, now, next, keep, i);
    }
    advance_clock(exec, front, iterations);
  };

  const auto clock = Kokkos::create_mirror_view(front.clock);
  const auto last = [&] {
    Kokkos::deep_copy(exec, clock, front.clock);
    fence(exec, "ossatura::eikonal::last");
    return clock(int(Front::last));
  };
  // A batch is long enough to hide the look at the clock.
  constexpr int batch = device ? 24 : 1;
  static_assert(batch == 1 || batch % 2 == 0, "a recorded batch begins with times[0]");
  LaunchGraph<Exec> graph;
  int k = 0;
  while (k < options.max_iterations && !options.is_stopped() && last() >= k) {
    if (batch > 1 && k + batch <= options.max_iterations) {
      graph.run(exec, [&] { advance(0, batch); });
      k += batch;
    } else {
      advance(k++, 1);
    }
  }
  EikonalCounts counts;
  counts.converged = last() < k;
  counts.iterations = std::min(k, last() + 1);
  if (two_arrays && k % 2 == 1)
    Kokkos::deep_copy(exec, time, times[1]);
  const auto total = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), front.total);
  counts.evaluations = total(int(Front::evaluations));
  counts.local_solves = total(int(Front::solves));
  return counts;
}

#define OSSATURA_INSTANTIATE(Exec, Metric, Real)                                                   \
  template EikonalCounts solve_by_parts(const Exec&, const RingUpdate<Exec, Metric>&,              \
                                        const EikonalStart<Exec>&, const EikonalOptions&,          \
                                        const Array<Real, Exec>&);
#define OSSATURA_INSTANTIATE_BACKEND(Exec) OSSATURA_FOR_EACH_EIKONAL(OSSATURA_INSTANTIATE, Exec)
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE_BACKEND)
#undef OSSATURA_INSTANTIATE_BACKEND
#undef OSSATURA_INSTANTIATE

} // namespace ossatura::detail
