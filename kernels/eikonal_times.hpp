// SPDX-License-Identifier: Apache-2.0
// Activation times: their start, their residual and their way out, in the mesh's order.
#pragma once

#include "kernels/ring_update.hpp"

#include <cmath>

namespace femura {

namespace detail {

template<class Exec, class Real>
struct ScatterSites {
  Array<std::uint32_t, Exec> site; ///< indices into time, no two equal
  Array<Real, Exec> site_time;
  Array<Real, Exec> time;
  KOKKOS_FUNCTION void operator()(std::int64_t i) const { time(site(i)) = site_time(i); }
};

template<class Exec, class Real>
struct GatherTimes {
  Array<int, Exec> point_order;
  int num_points;
  Array<Real, Exec> time;
  Array<Real, Exec> out;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t base = i / num_points * num_points;
    const Real t = time(i);
    out(base + point_order(i - base)) = t < unreached_time<Real> ? t : Real(INFINITY);
  }
};

template<class Exec, class Real>
struct CountUnreached {
  std::int64_t first;
  Array<Real, Exec> time;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& count) const {
    count += time(first + i) < unreached_time<Real> ? 0 : 1;
  }
};

/// |t - update(t)| / t and |t - update(t)| of points that keep no time of their own.
template<class Exec, class Metric, class Real>
struct TimeResidual {
  RingUpdate<Exec, Metric> update;
  int num_points;
  Array<Real, Exec> time, start;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double& relative, double& absolute) const {
    const int base = int(i / num_points * num_points), point = int(i) - base;
    const Real t = time(i);
    if (t == start(i) && t < unreached_time<Real>)
      return; // a site
    Real best = 2 * unreached_time<Real>;
    for (int e = update.begin(point); e < update.end(point); ++e) {
      const Real arrival = update.through(update.ring.member(e), &time(base));
      best = arrival < best ? arrival : best;
    }
    if (!(t < unreached_time<Real>)) {
      // Left out by the solve, or out of reach.
      relative = best < unreached_time<Real> && relative < 1 ? 1 : relative;
      return;
    }
    const double residual = t > best ? double(t) - double(best) : double(best) - double(t);
    relative = residual / double(t) > relative ? residual / double(t) : relative;
    absolute = residual > absolute ? residual : absolute;
  }
};

} // namespace detail

/// time(site(i)) = site_time(i). Does not fence.
template<class Exec, class Real>
void scatter_sites(const Exec& exec, const Array<std::uint32_t, Exec>& site,
                   const Array<Real, Exec>& site_time, const Array<Real, Exec>& time) {
  Kokkos::parallel_for("femura::scatter_sites", range(exec, site.extent(0)),
                       detail::ScatterSites<Exec, Real>{site, site_time, time});
}

/// out [sets, num_points] in the numbers of the mesh; infinity where no wave arrived. Does not
/// fence.
template<class Exec, class Real>
void gather_times(const Exec& exec, const Array<int, Exec>& point_order,
                  const Array<Real, Exec>& time, const Array<Real, Exec>& out) {
  Kokkos::parallel_for(
      "femura::gather_times", range(exec, time.extent(0)),
      detail::GatherTimes<Exec, Real>{point_order, int(point_order.extent(0)), time, out});
}

/// How many of the `n` times from `first` on no wave has reached. Fences.
template<class Exec, class Real>
std::int64_t count_unreached(const Exec& exec, const Array<Real, Exec>& time, std::int64_t first,
                             std::int64_t n) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("femura::count_unreached", range(exec, n),
                          detail::CountUnreached<Exec, Real>{first, time}, count);
  return count;
}

struct EikonalResidual {
  double relative; ///< max |t - update(t)| / t
  double absolute; ///< ms
};

/// The residual of the discrete equation at all points but sites, those whose time is that of
/// `start`, before the solve. A point that has no time but could have one counts as 1. Fences.
template<class Exec, class Metric, class Real>
EikonalResidual eikonal_residual(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                                 int num_points, const Array<Real, Exec>& time,
                                 const Array<Real, Exec>& start) {
  EikonalResidual worst{0, 0};
  Kokkos::parallel_reduce("femura::eikonal_residual", range(exec, time.extent(0)),
                          detail::TimeResidual<Exec, Metric, Real>{update, num_points, time, start},
                          Kokkos::Max<double>(worst.relative), Kokkos::Max<double>(worst.absolute));
  fence(exec, "femura::eikonal_residual");
  return {worst.relative > 0 ? worst.relative : 0, worst.absolute > 0 ? worst.absolute : 0};
}

} // namespace femura
