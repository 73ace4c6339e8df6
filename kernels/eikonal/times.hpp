// SPDX-License-Identifier: Apache-2.0
// These kernels set the first activation times, measure their residual, and return them in the
// mesh's order.
#pragma once

#include <ossatura/kernels/eikonal/ring_update.hpp>
#include <ossatura/kernels/eikonal/tetra_metric.hpp>

#include <cmath>

namespace ossatura {

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
  Array<double, Exec> origin; ///< [sets]
  Array<Real, Exec> time;
  Array<Real, Exec> out;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t set = i / num_points, base = set * num_points;
    const Real t = time(i);
    out(base + point_order(i - base)) =
        t < unreached_time<Real> ? Real(double(t) + origin(set)) : Real(INFINITY);
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

/// A residual of times, relative and in ms: the largest so far.
struct LargestResidual {
  double& relative;
  double& absolute;

  KOKKOS_FORCEINLINE_FUNCTION void add(double time, double arrival) const {
    const double residual = time > arrival ? time - arrival : arrival - time;
    relative = residual / time > relative ? residual / time : relative;
    absolute = Kokkos::max(absolute, residual);
  }
};

/// |t - update(t)| / t and |t - update(t)| of points that keep no time of their own: with the
/// metric as stored, and with that in double.
template<class Exec, class Metric, class Real>
struct TimeResidual {
  RingUpdate<Exec, Metric> update;
  TissueArrays<Exec> tissue;
  int num_points;
  int first, count; ///< of the points of a set that are asked
  Array<Real, Exec> time, start;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double& relative, double& absolute,
                                  double& exact_relative, double& exact_absolute) const {
    const int set = int(i / count), base = set * num_points;
    const int point = first + int(i - std::int64_t(set) * count);
    const Real t = time(base + point);
    if (t == start(base + point) && t < unreached_time<Real>)
      return; // a site
    Real best = 2 * unreached_time<Real>;
    double exact = 2 * unreached_time<double>;
    for (int e = update.begin(point); e < update.end(point); ++e)
      take(e, &time(base), t, best, exact);
    if (!(t < unreached_time<Real>)) {
      // Left out by the solve, or out of reach.
      relative = best < unreached_time<Real> && relative < 1 ? 1 : relative;
      return;
    }
    LargestResidual{relative, absolute}.add(t, best);
    LargestResidual{exact_relative, exact_absolute}.add(
        t, exact < unreached_time<double> ? exact : double(best));
  }

private:
  /// Lowers `best`, and `exact` where it may be lower than that, to the arrival by the place `e` in
  /// the rings.
  KOKKOS_FORCEINLINE_FUNCTION void take(int e, const Real* times, Real current, Real& best,
                                        double& exact) const {
    const int entry = update.ring.member(e);
    int other[3];
    update.others(entry, other);
    const Real ta = times[other[0]], tb = times[other[1]], tc = times[other[2]];
    const Real tab = Kokkos::min(tb, ta);
    // Half the height that the solve goes by, so that it need not be right.
    if (!update.may_lower(update.stars.face(e), Kokkos::min(tc, tab), current, Real(0.5)))
      return;
    const FaceProducts<Real> face = face_products(update.metric(entry >> 2), entry & 3);
    const Real arrival = eikonal_update(face, ta, tb, tc);
    best = Kokkos::min(best, arrival);
    if constexpr (sizeof(Real) == 4) {
      // The root of rounding is what a flat tetrahedron loses of its edges.
      const Real loss = Real(1e-3) * (approximate_root(face.uu) + approximate_root(face.vv) +
                                      approximate_root(face.ww));
      if (arrival <= current + loss) {
        const double time = exact_arrival(entry, ta, tb, tc);
        exact = Kokkos::min(exact, time);
      }
    }
  }

  KOKKOS_FUNCTION double exact_arrival(int entry, double ta, double tb, double tc) const {
    const std::int64_t t = entry >> 2;
    double edge[6][3];
    tetra_edges<Exec>(tissue.point, update.tetra(t), edge);
    TetraLengths<double> lengths;
    store_metric(local_metric(tissue, t), edge, lengths);
    return eikonal_update(face_products(lengths, entry & 3), ta, tb, tc);
  }
};

} // namespace detail

/// time(site(i)) = site_time(i). Does not fence.
template<class Exec, class Real>
void scatter_sites(const Exec& exec, const Array<std::uint32_t, Exec>& site,
                   const Array<Real, Exec>& site_time, const Array<Real, Exec>& time) {
  Kokkos::parallel_for("ossatura::scatter_sites", range(exec, site.extent(0)),
                       detail::ScatterSites<Exec, Real>{site, site_time, time});
}

/// out [sets, num_points] in the numbers of the mesh: time + origin [sets], infinity where no wave
/// arrived. Does not fence.
template<class Exec, class Real>
void gather_times(const Exec& exec, const Array<int, Exec>& point_order,
                  const Array<double, Exec>& origin, const Array<Real, Exec>& time,
                  const Array<Real, Exec>& out) {
  Kokkos::parallel_for(
      "ossatura::gather_times", range(exec, time.extent(0)),
      detail::GatherTimes<Exec, Real>{point_order, int(point_order.extent(0)), origin, time, out});
}

/// The number of the `n` times from `first` on no wave has reached. Fences.
template<class Exec, class Real>
std::int64_t count_unreached(const Exec& exec, const Array<Real, Exec>& time, std::int64_t first,
                             std::int64_t n) {
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_unreached", range(exec, n),
                          detail::CountUnreached<Exec, Real>{first, time}, count);
  return count;
}

struct EikonalResidual {
  double relative = 0; ///< max |t - update(t)| / t
  double absolute = 0; ///< ms
  /// The same with the metric in double: what single precision made of it shows here, as much as
  /// that matters for times.
  double exact_relative = 0, exact_absolute = 0;
};

/// The residual of the discrete equation at the `count` points from `first` on of each set but
/// sites, those whose time is that of `start`, before the solve. A point that has no time but could
/// have one counts as 1. Fences.
template<class Exec, class Metric, class Real>
EikonalResidual eikonal_residual(const Exec& exec, const RingUpdate<Exec, Metric>& update,
                                 const TissueArrays<Exec>& tissue, int num_points, int first,
                                 int count, const Array<Real, Exec>& time,
                                 const Array<Real, Exec>& start) {
  EikonalResidual worst;
  const std::int64_t asked = count == 0 ? 0 : std::int64_t(time.extent(0)) / num_points * count;
  Kokkos::parallel_reduce("ossatura::eikonal_residual", range(exec, asked),
                          detail::TimeResidual<Exec, Metric, Real>{update, tissue, num_points,
                                                                   first, count, time, start},
                          Kokkos::Max<double>(worst.relative), Kokkos::Max<double>(worst.absolute),
                          Kokkos::Max<double>(worst.exact_relative),
                          Kokkos::Max<double>(worst.exact_absolute));
  fence(exec, "ossatura::eikonal_residual");
  // Without a point that counts, the maxima are the lowest numbers there are.
  for (double* one :
       {&worst.relative, &worst.absolute, &worst.exact_relative, &worst.exact_absolute})
    *one = *one > 0 ? *one : 0;
  return worst;
}

} // namespace ossatura
