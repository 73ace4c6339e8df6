// SPDX-License-Identifier: Apache-2.0
// The travel-time metric G = D^-1 of tetrahedra from fibres and velocities: squared lengths and
// products of their edges, formed in double and stored in the solver's precision.
//
//   e.Ge' = (e.f)(e'.f)/v_f^2 + (e.s)(e'.s)/v_s^2 + (e.n)(e'.n)/v_n^2,  n = f x s.
#pragma once

#include "kernels/gray_code.hpp"
#include "kernels/tetra_topology.hpp"

namespace femura {

/// What the metric is made of, in the order of a topology.
template<class Exec>
struct TissueArrays {
  Array<double, Exec> point;    ///< [num_points, 3], mm
  Array<int, Exec> tissue;      ///< [num_tetra] row of `slowness`
  Array<float, Exec> fibre;     ///< [num_tetra, 3] or empty
  Array<float, Exec> sheet;     ///< [num_tetra, 3] or empty
  Array<double, Exec> slowness; ///< [num_tissues, 3] squared, ms^2/mm^2: fibre, sheet, normal
};

namespace detail {

KOKKOS_INLINE_FUNCTION double dot3(const double* a, const double* b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

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
  const double* slowness = &tissue.slowness(3 * tissue.tissue(t));
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

template<class Exec, class Metric>
struct FillMetric {
  TissueArrays<Exec> tissue;
  Array<TetraPoints, Exec> tetra;
  Array<Metric, Exec> metric;

  KOKKOS_FUNCTION void operator()(std::int64_t t) const {
    double edge[6][3];
    tetra_edges<Exec>(tissue.point, tetra(t), edge);
    store_metric(local_metric(tissue, t), edge, metric(t));
  }
};

} // namespace detail

/// metric(t) for all tetrahedra; Metric is TetraLengths or TetraProducts. Does not fence.
template<class Exec, class Metric>
void fill_tetra_metric(const Exec& exec, const TissueArrays<Exec>& tissue,
                       const Array<TetraPoints, Exec>& tetra, const Array<Metric, Exec>& metric) {
  Kokkos::parallel_for("femura::fill_tetra_metric", range(exec, tetra.extent(0)),
                       detail::FillMetric<Exec, Metric>{tissue, tetra, metric});
}

} // namespace femura
