// SPDX-License-Identifier: Apache-2.0
// The metric of a tetrahedron is G = D^-1, the travel time of vectors, from fibres and velocities.
// This file forms squared lengths and products of edges in double and stores them in the solver's
// precision. A tetrahedron in tissue that does not conduct has no metric.
//
//   e.Ge' = (e.f)(e'.f)/v_f^2 + (e.s)(e'.s)/v_s^2 + (e.n)(e'.n)/v_n^2,  n = f x s.
#pragma once

#include <ossatura/kernels/algebra/dense/small_matrix.hpp>
#include <ossatura/kernels/eikonal/gray_code.hpp>
#include <ossatura/kernels/eikonal/tetra_topology.hpp>

#include <limits>

namespace ossatura {

/// The fibres and velocities that make the metric, in the order of a topology.
template<class Exec>
struct TissueArrays {
  Array<double, Exec> point; ///< [num_points, 3], mm
  Array<int, Exec> tissue;   ///< [num_tetra] row of `slowness`
  Array<float, Exec> fibre;  ///< [num_tetra, 3] or empty
  Array<float, Exec> sheet;  ///< [num_tetra, 3] or empty
  /// [num_tissues, 3] squared, ms^2/mm^2: fibre, sheet, normal; negative where no wave goes.
  Array<double, Exec> slowness;
};

/// The travel times along the longest edge of a tetrahedron, ms, that a metric of Real holds: what
/// the local solver makes of it, products of three squared lengths, neither overflows nor vanishes.
constexpr double longest_edge_time = 1e6;
template<class Real>
constexpr double shortest_edge_time = sizeof(Real) == 4 ? 1e-6 : 1e-30;

/// Faults of the metric of a tetrahedron.
enum class MetricFault {
  none,
  slow,    ///< a wave takes longer than longest_edge_time along an edge
  fast,    ///< a wave takes less than shortest_edge_time along the longest edge
  contrast ///< velocities along and across fibres differ so much that a length is no number
};

/// The first tetrahedron, in the order of the topology, whose metric is no good.
struct BadMetric {
  MetricFault fault = MetricFault::none;
  std::int64_t tetra = 0;
};

namespace detail {

/// Makes a a unit vector; false if it has no direction.
KOKKOS_INLINE_FUNCTION bool normalise3(double* a) {
  const double square = dot3(a, a);
  if (!(square > 0))
    return false;
  const double scale = 1 / sqrt(square);
  for (int d = 0; d < 3; ++d)
    a[d] *= scale;
  return true;
}

/// The metric of one tetrahedron as an isotropic part and two directions that differ from it:
/// e.Ge' = base e.e' + fibre (e.f)(e'.f) + sheet (e.s)(e'.s).
struct LocalMetric {
  double base, fibre, sheet;
  double f[3], s[3];

  KOKKOS_INLINE_FUNCTION double operator()(const double* a, const double* b) const {
    return base * dot3(a, b) + fibre * dot3(a, f) * dot3(b, f) + sheet * dot3(a, s) * dot3(b, s);
  }
};

template<class Exec>
KOKKOS_INLINE_FUNCTION LocalMetric local_metric(const TissueArrays<Exec>& tissue, std::int64_t t) {
  const double* slowness = &tissue.slowness(3 * std::int64_t(tissue.tissue(t)));
  LocalMetric metric{slowness[0], 0, 0, {0, 0, 0}, {0, 0, 0}};
  if (tissue.fibre.extent(0) == 0)
    return metric;
  for (int d = 0; d < 3; ++d)
    metric.f[d] = tissue.fibre(3 * t + d);
  if (!normalise3(metric.f))
    return metric; // isotropic
  metric.base = slowness[1];
  if (tissue.sheet.extent(0) != 0) {
    for (int d = 0; d < 3; ++d)
      metric.s[d] = tissue.sheet(3 * t + d);
    if (normalise3(metric.s)) {
      const double along = dot3(metric.s, metric.f);
      for (int d = 0; d < 3; ++d)
        metric.s[d] -= along * metric.f[d];
      if (dot3(metric.s, metric.s) > 1e-10 && normalise3(metric.s)) {
        metric.base = slowness[2];
        metric.sheet = slowness[1] - slowness[2];
      }
    }
  }
  metric.fibre = slowness[0] - metric.base;
  return metric;
}

/// Edges by Gray slot, pointing to the higher vertex: [6][3].
template<class Exec>
KOKKOS_INLINE_FUNCTION void tetra_edges(const Array<double, Exec>& point, const TetraPoints& points,
                                        double edge[6][3]) {
  for (int k = 0; k < 4; ++k)
    for (int l = k + 1; l < 4; ++l)
      for (int d = 0; d < 3; ++d)
        edge[gray::edge_slot(gray::edge_code(k, l))][d] =
            point(3 * std::int64_t(points.point[l]) + d) -
            point(3 * std::int64_t(points.point[k]) + d);
}

template<class Real>
KOKKOS_INLINE_FUNCTION void store_metric(const LocalMetric& metric, const double edge[6][3],
                                         TetraLengths<Real>& tetra) {
  for (int k = 0; k < 6; ++k)
    tetra.length[k] = Real(metric(edge[k], edge[k]));
}

template<class Real>
KOKKOS_INLINE_FUNCTION void store_metric(const LocalMetric& metric, const double edge[6][3],
                                         TetraProducts<Real>& tetra) {
  for (int k = 0; k < 6; ++k)
    for (int l = k; l < 6; ++l)
      if (k + l != 5)
        tetra.product[gray::product_slot(k, l)] = Real(metric(edge[k], edge[l]));
}

/// The metric of a tetrahedron that does not conduct.
template<class Real>
KOKKOS_INLINE_FUNCTION void store_no_metric(TetraLengths<Real>& tetra) {
  for (Real& length : tetra.length)
    length = -1;
}
template<class Real>
KOKKOS_INLINE_FUNCTION void store_no_metric(TetraProducts<Real>& tetra) {
  for (Real& product : tetra.product)
    product = -1;
}

template<class Real>
KOKKOS_INLINE_FUNCTION MetricFault find_fault(const LocalMetric& metric, const double edge[6][3]) {
  double longest = 0;
  for (int k = 0; k < 6; ++k) {
    const double square = metric(edge[k], edge[k]);
    if (square < 0)
      return MetricFault::contrast;
    longest = square <= longest ? longest : square; // NaN stays
  }
  if (!(longest <= longest_edge_time * longest_edge_time))
    return MetricFault::slow;
  constexpr double least = shortest_edge_time<Real> * shortest_edge_time<Real>;
  return longest > 0 && longest < least ? MetricFault::fast : MetricFault::none;
}

template<class Exec, class Metric, class Real>
struct FillMetric {
  TissueArrays<Exec> tissue;
  Array<TetraPoints, Exec> tetra;
  Array<Metric, Exec> metric;

  /// `first`: the least of 4 times the tetrahedron plus its fault.
  KOKKOS_FUNCTION void operator()(std::int64_t t, std::int64_t& first) const {
    if (tissue.slowness(3 * std::int64_t(tissue.tissue(t))) < 0) {
      store_no_metric(metric(t));
      return;
    }
    double edge[6][3];
    tetra_edges<Exec>(tissue.point, tetra(t), edge);
    const LocalMetric local = local_metric(tissue, t);
    store_metric(local, edge, metric(t));
    const MetricFault fault = find_fault<Real>(local, edge);
    const std::int64_t key = 4 * t + std::int64_t(fault);
    first = fault != MetricFault::none && key < first ? key : first;
  }
};

} // namespace detail

/// metric(t) for all tetrahedra. Fences.
template<class Exec, template<class> class Metric, class Real>
BadMetric fill_tetra_metric(const Exec& exec, const TissueArrays<Exec>& tissue,
                            const Array<TetraPoints, Exec>& tetra,
                            const Array<Metric<Real>, Exec>& metric) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t first = none;
  Kokkos::parallel_reduce("ossatura::fill_tetra_metric", range(exec, tetra.extent(0)),
                          detail::FillMetric<Exec, Metric<Real>, Real>{tissue, tetra, metric},
                          Kokkos::Min<std::int64_t>(first));
  fence(exec, "ossatura::fill_tetra_metric");
  if (first == none)
    return {};
  return {MetricFault(first % 4), first / 4};
}

} // namespace ossatura
