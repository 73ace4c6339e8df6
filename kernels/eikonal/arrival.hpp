// SPDX-License-Identifier: Apache-2.0
// These kernels differentiate activation times. The time of a point is the least of all arrivals
// through the faces opposite to it, each the least over the points of a face (local_solver.hpp). By
// the envelope theorem its derivatives are those of the one arrival that it is, at the minimiser
// held in place: by the times of the face the minimiser's barycentric weights l, and by a squared
// slowness s_k, of |e| = sqrt(sum_k s_k e_k^2) with e from the minimiser to the point, e_k^2 / (2
// |e|). Where two arrivals are the same the time has a kink, and this is one of its slopes.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/eikonal/local_solver.hpp>
#include <ossatura/kernels/eikonal/packed_face.hpp>
#include <ossatura/kernels/eikonal/tetra_metric.hpp>

#include <limits>

namespace ossatura {

/// Where the time of a point comes from.
struct Arrival {
  std::int64_t tetra = -1; ///< -1: from nowhere, as of a site
  int corner = 0;          ///< the point's place in it; the face is the others
  double weight[3]{};      ///< of the face's points in their order, d t / d t_k; not negative
  double by_slowness[3]{}; ///< d t / d s_k, of the squared slownesses of the tetrahedron
};

namespace detail {

/// A minimiser on a face: its weights and the arrival.
struct FaceMinimum {
  double time;
  double weight[3];
};

/// As edge_update, with the minimiser: the weight of a.
KOKKOS_INLINE_FUNCTION double edge_minimum(double uu, double uw, double ww, double tq, double ta,
                                           double& l) {
  const double slope = ta - tq;
  const double open = uu - slope * slope;
  const double height = Kokkos::max(uu * ww - uw * uw, 0.0);
  const double step = open > 0 ? Kokkos::sqrt(height / open) : 1e10;
  l = (uw - slope * step) / uu;
  l = l > 0 ? Kokkos::min(l, 1.0) : 0; // 0 for NaN too: an edge without length
  return (1 - l) * tq + l * ta + Kokkos::sqrt(Kokkos::max(ww + l * (l * uu - 2 * uw), 0.0));
}

/// As eikonal_update, with the minimiser.
KOKKOS_INLINE_FUNCTION FaceMinimum face_minimum(const FaceProducts<double>& f, const double t[3]) {
  const double da = t[0] - t[2], db = t[1] - t[2];
  const double det = f.uu * f.vv - f.uv * f.uv;
  const double foot_a = f.vv * f.uw - f.uv * f.vw, foot_b = f.uu * f.vw - f.uv * f.uw;
  const double q_a = f.vv * da - f.uv * db, q_b = f.uu * db - f.uv * da;
  const double height = Kokkos::max(f.ww * det - (f.uw * foot_a + f.vw * foot_b), 0.0);
  const double open = det - (da * q_a + db * q_b);
  if (det > flat_face<double> * (f.uu * f.vv) && open > 0) {
    const double step = Kokkos::sqrt(height / open);
    const double a = (foot_a - q_a * step) / det, b = (foot_b - q_b * step) / det, c = 1 - a - b;
    if (a > 0 && b > 0 && c > 0)
      return {t[2] + (da * foot_a + db * foot_b + open * step) / det, {a, b, c}};
  }
  double l = 0;
  double through = edge_minimum(f.vv, f.vw, f.ww, t[2], t[1], l);
  FaceMinimum best{through, {0, l, 1 - l}};
  through = edge_minimum(f.uu, f.uw, f.ww, t[2], t[0], l);
  if (through < best.time)
    best = {through, {l, 0, 1 - l}};
  through = edge_minimum(f.uu + f.vv - 2 * f.uv, f.vw - f.uv - f.uw + f.uu, f.ww + f.uu - 2 * f.uw,
                         t[0], t[1], l);
  if (through < best.time)
    best = {through, {1 - l, l, 0}};
  return best;
}

/// The squared components of e by fibre, sheet and normal, whose sum, each times its squared
/// slowness, is the square of the travel time: as local_metric() has them.
KOKKOS_INLINE_FUNCTION void metric_components(const LocalMetric& metric, const double e[3],
                                              double square[3]) {
  const double all = dot3(e, e), f = dot3(e, metric.f), s = dot3(e, metric.s);
  const bool has_fibre = dot3(metric.f, metric.f) > 0, has_sheet = dot3(metric.s, metric.s) > 0.5;
  square[0] = has_fibre ? f * f : all;
  square[1] = !has_fibre ? 0 : has_sheet ? s * s : all - f * f;
  square[2] = has_fibre && has_sheet ? all - f * f - s * s : 0;
}

template<class Exec, class Real>
struct FindArrivals {
  TissueArrays<Exec> tissue;
  Array<TetraPoints, Exec> tetra;
  Array<int, Exec> ring_begin, ring_member;
  Array<std::uint32_t, Exec> face; ///< of PointStars, with heights
  Array<int, Exec> point_order;
  Array<std::uint8_t, Exec> is_site; ///< [num_points]
  Array<Real, Exec> time;            ///< [num_points] in the mesh's order
  double origin;                     ///< of the earliest site
  Array<Arrival, Exec> arrival;      ///< [num_points] in the topology's

  KOKKOS_FUNCTION double time_of(int point) const { return double(time(point_order(point))); }

  /// Reduces what times are off by from the arrivals that they give, by their duration: infinite
  /// for a time at which nothing arrives.
  KOKKOS_FUNCTION void operator()(std::int64_t i, double& worst) const {
    Arrival found;
    double best = 2 * unreached_time<double>;
    const double here = time_of(int(i));
    if (!is_site(i) && here < unreached_time<double>) {
      look(int(i), 0.95, best, found);
      if (found.tetra < 0) // times of a coarse tolerance
        look(int(i), 0, best, found);
      const double off = Kokkos::fabs(best - here) - rounding * Kokkos::fabs(here);
      if (off > 0)
        worst = Kokkos::max(worst, here > origin ? off / (here - origin) : infinite);
    } else if (Kokkos::isnan(here)) {
      worst = infinite;
    }
    arrival(i) = found;
  }

private:
  static constexpr double infinite = std::numeric_limits<double>::infinity();
  /// Of times, relative. A member, as device code may not call functions of the host, if constexpr.
  static constexpr double rounding = 16 * double(std::numeric_limits<Real>::epsilon());

  /// Looks at the faces through which a wave may arrive by the time that the point has, but for
  /// rounding, over `part` of the height. Heights are lower bounds, infinite where nothing
  /// conducts.
  KOKKOS_FUNCTION void look(int i, double part, double& best, Arrival& found) const {
    const double time_here = time_of(i) + rounding * Kokkos::fabs(time_of(i));
    for (int k = ring_begin(i); k < ring_begin(i + 1); ++k)
      take(ring_member(k), part * double(unpack_height(face(k))), time_here, best, found);
  }

  /// Replaces `found` where the wave through the face of `entry` arrives earlier.
  KOKKOS_FUNCTION void take(int entry, double least_travel, double time_here, double& best,
                            Arrival& found) const {
    const std::int64_t t = entry >> 2;
    const int d = entry & 3;
    int corners[3];
    double times[3];
    for (int k = 0, c = 0; k < 4; ++k)
      if (k != d)
        corners[c++] = tetra(t).point[k];
    for (int k = 0; k < 3; ++k) {
      times[k] = time_of(corners[k]);
      if (!(times[k] < unreached_time<double>))
        return; // in one part all are reached, or none
    }
    const double first = Kokkos::min(times[0], Kokkos::min(times[1], times[2]));
    if (!(first + least_travel <= time_here))
      return;
    double u[3], v[3], w[3];
    for (int c = 0; c < 3; ++c) {
      const double origin = at(corners[2], c);
      u[c] = at(corners[0], c) - origin;
      v[c] = at(corners[1], c) - origin;
      w[c] = at(tetra(t).point[d], c) - origin;
    }
    const LocalMetric metric = local_metric(tissue, t);
    const FaceMinimum minimum = face_minimum(
        {metric(u, u), metric(v, v), metric(w, w), metric(u, v), metric(u, w), metric(v, w)},
        times);
    if (!(minimum.time < best))
      return;
    best = minimum.time;
    found.tetra = t;
    found.corner = d;
    double e[3];
    for (int c = 0; c < 3; ++c)
      e[c] = w[c] - minimum.weight[0] * u[c] - minimum.weight[1] * v[c];
    const double length = Kokkos::sqrt(metric(e, e));
    metric_components(metric, e, found.by_slowness);
    for (int k = 0; k < 3; ++k) {
      found.weight[k] = minimum.weight[k];
      found.by_slowness[k] = length > 0 ? found.by_slowness[k] / (2 * length) : 0;
    }
  }

  KOKKOS_FUNCTION double at(int point, int c) const {
    return tissue.point(3 * std::int64_t(point) + c);
  }
};

/// by_velocity of a tetrahedron from the points whose times come through it.
template<class Exec>
struct GatherByVelocity {
  TissueArrays<Exec> tissue;
  Array<TetraPoints, Exec> tetra;
  Array<int, Exec> tetra_order;
  Array<Arrival, Exec> arrival;
  Array<double, Exec> flow;        ///< [num_points] d / d t of each point's arrival
  Array<double, Exec> by_velocity; ///< [num_tetra, 3] in the mesh's order

  KOKKOS_FUNCTION void operator()(std::int64_t t) const {
    double sum[3] = {0, 0, 0};
    for (int k = 0; k < 4; ++k) {
      const Arrival& from = arrival(tetra(t).point[k]);
      for (int c = 0; c < 3 && from.tetra == t; ++c)
        sum[c] += flow(tetra(t).point[k]) * from.by_slowness[c];
    }
    for (int c = 0; c < 3; ++c) { // s = 1 / v^2
      const double s = tissue.slowness(3 * std::int64_t(tissue.tissue(t)) + c);
      by_velocity(3 * std::int64_t(tetra_order(t)) + c) =
          s > 0 ? -2 * s * Kokkos::sqrt(s) * sum[c] : 0;
    }
  }
};

} // namespace detail
} // namespace ossatura
