// SPDX-License-Identifier: Apache-2.0
// EikonalMethod::scan iterates on flat lists whose lengths go to the host.
#include <ossatura/kernels/eikonal/published/scan.hpp>

#include <ossatura/solvers/eikonal/method.hpp>

namespace ossatura::detail {

template<class Exec, class Metric, class Real>
EikonalCounts solve_by_scan(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                            const EikonalStart<Exec>& start, const EikonalOptions& options,
                            const Array<Real, Exec>& time) {
  ScanLists<Exec, Real> lists;
  lists.point = make_uninitialized<int>(exec, start.num_times, "ossatura::eikonal::active");
  lists.begin = make_uninitialized<std::int64_t>(exec, start.num_times, "ossatura::eikonal::begin");
  lists.best = make_uninitialized<Real>(exec, start.num_times, "ossatura::eikonal::best");
  const auto stamps = make_stamps(exec, start.num_times, start.site);
  const Real keep = Real(1) - Real(options.tolerance);
  EikonalCounts counts;
  while (true) {
    const int num_active = list_active(exec, stamps, counts.iterations, lists.point);
    counts.converged = num_active == 0;
    if (counts.converged || counts.iterations >= options.max_iterations || options.is_stopped())
      return counts;
    counts.local_solves += update_active(exec, update, lists, time, stamps, keep, start.num_points,
                                         counts.iterations, num_active);
    counts.evaluations += num_active;
    ++counts.iterations;
  }
}

#define OSSATURA_INSTANTIATE(Exec, Metric, Real)                                                   \
  template EikonalCounts solve_by_scan(const Exec&, const RingUpdate<Exec, Metric>&,               \
                                       const EikonalStart<Exec>&, const EikonalOptions&,           \
                                       const Array<Real, Exec>&);
#define OSSATURA_INSTANTIATE_BACKEND(Exec) OSSATURA_FOR_EACH_EIKONAL(OSSATURA_INSTANTIATE, Exec)
OSSATURA_FOR_EACH_BACKEND(OSSATURA_INSTANTIATE_BACKEND)
#undef OSSATURA_INSTANTIATE_BACKEND
#undef OSSATURA_INSTANTIATE

} // namespace ossatura::detail
