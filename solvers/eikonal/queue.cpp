// SPDX-License-Identifier: Apache-2.0
// EikonalMethod::queue iterates on a front whose state stays on the device.
#include <ossatura/core/parallel/launch_graph.hpp>
#include <ossatura/kernels/eikonal/front.hpp>
#include <ossatura/solvers/eikonal/method.hpp>

namespace ossatura::detail {

template<class Exec, class Metric, class Real>
EikonalCounts solve_by_queue(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                             const EikonalStart<Exec>& start, const EikonalOptions& options,
                             const Array<Real, Exec>& time) {
  using Front = EikonalFront<Exec>;
  const Front front = make_eikonal_front(exec, start.num_times, start.site);
  const Real keep = Real(1) - Real(options.tolerance);
  const bool two_arrays = reads_last_times<Exec>(options);
  Array<Real, Exec> times[2] = {time, time};
  if (two_arrays) {
    times[1] = make_uninitialized<Real>(exec, start.num_times, "ossatura::eikonal::new_time");
    Kokkos::deep_copy(exec, times[1], time);
  }
  const auto advance = [&](int k) {
    advance_front(exec, update, front, times[k % 2], times[1 - k % 2], keep, start.num_points, k);
  };

  const auto counter = Kokkos::create_mirror_view(front.counter);
  const auto left = [&](int k) {
    Kokkos::deep_copy(exec, counter, front.counter);
    fence(exec, "ossatura::eikonal::count");
    return counter(Front::count + k % 3);
  };
  // A batch is long enough to hide the look at the count, and a multiple of all periods.
  constexpr int batch = BackendTraits<Exec>::is_device ? 24 : 1;
  static_assert(batch == 1 || batch % 6 == 0, "a recorded batch begins with slot and parity 0");
  LaunchGraph<Exec> graph;
  int k = 0;
  while (k < options.max_iterations && !options.is_stopped() && left(k) > 0) {
    if (batch > 1 && k + batch <= options.max_iterations) {
      graph.run(exec, [&] {
        for (int i = 0; i < batch; ++i)
          advance(i);
      });
      k += batch;
    } else {
      advance(k++);
    }
  }
  EikonalCounts counts;
  counts.converged = left(k) == 0;
  if (two_arrays && k % 2 == 1)
    Kokkos::deep_copy(exec, time, times[1]);
  counts.iterations = int(counter(Front::iteration + k % 3));
  const auto total = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), front.total);
  counts.evaluations = total(Front::evaluations);
  counts.local_solves = total(Front::solves);
  return counts;
}

#define OSSATURA_INSTANTIATE(Exec, Metric, Real)                                                   \
  template EikonalCounts solve_by_queue(const Exec&, const RingUpdate<Exec, Metric>&,              \
                                        const EikonalStart<Exec>&, const EikonalOptions&,          \
                                        const Array<Real, Exec>&);
#define OSSATURA_INSTANTIATE_BACKEND(Exec) OSSATURA_FOR_EACH_EIKONAL(OSSATURA_INSTANTIATE, Exec)
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE_BACKEND)
#undef OSSATURA_INSTANTIATE_BACKEND
#undef OSSATURA_INSTANTIATE

} // namespace ossatura::detail
