// SPDX-License-Identifier: Apache-2.0
// These checks find hierarchical hexahedra without a stiffness: Jacobians must be positive and D
// positive definite at all points.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/pfem/hexa_point.hpp>

#include <limits>

namespace ossatura {

/// No element, for the checks of a batch.
inline constexpr int no_element = std::numeric_limits<int>::max();

namespace detail {

/// Whether the symmetric matrix of 6 x 6 is positive definite: by its factors L D L^T.
KOKKOS_INLINE_FUNCTION bool is_positive_definite(const double* upper) {
  double factor[6][6], pivot[6];
  for (int j = 0; j < 6; ++j) {
    pivot[j] = upper[elasticity_entry(j, j)];
    for (int k = 0; k < j; ++k)
      pivot[j] -= factor[j][k] * factor[j][k] * pivot[k];
    if (!(pivot[j] > 1e-14 * upper[elasticity_entry(j, j)]) || !(pivot[j] < 1e300))
      return false;
    for (int i = j + 1; i < 6; ++i) {
      double entry = upper[elasticity_entry(i, j)];
      for (int k = 0; k < j; ++k)
        entry -= factor[i][k] * factor[j][k] * pivot[k];
      factor[i][j] = entry / pivot[j];
    }
  }
  return true;
}

template<class Exec>
struct FindInvertedPoint {
  HexaBatchPointers batch;
  Array<int, Exec> elem;

  KOKKOS_FUNCTION void operator()(std::int64_t item, int& first) const {
    const std::int64_t e = item / batch.num_points();
    if (!(determinant(batch.jacobian(e, int(item % batch.num_points()))) > 0) && elem(e) < first)
      first = elem(e);
  }
};

template<class Exec>
struct FindBadElasticity {
  HexaBatchPointers batch;
  int points; ///< of an element, with a D each
  Array<int, Exec> elem;

  KOKKOS_FUNCTION void operator()(std::int64_t item, int& first) const {
    const std::int64_t e = item / points;
    if (!is_positive_definite(batch.elasticity(e, int(item % points))) && elem(e) < first)
      first = elem(e);
  }
};

} // namespace detail

/// The lowest number in the mesh of an element whose Jacobian is not positive at a quadrature
/// point, or no_element. Fences.
template<class Exec>
int find_inverted_element(const Exec& exec, const HexaBatch<Exec>& batch) {
  int first = no_element;
  Kokkos::parallel_reduce(
      "ossatura::find_inverted_element", range(exec, batch.num_elem * batch.num_points()),
      detail::FindInvertedPoint<Exec>{detail::HexaBatchPointers(batch), batch.elem},
      Kokkos::Min<int>(first));
  return first;
}

/// The lowest number in the mesh of an element with a D that is not positive definite, or
/// no_element. Fences.
template<class Exec>
int find_bad_elasticity(const Exec& exec, const HexaBatch<Exec>& batch) {
  const int points = batch.point_stride == 0 ? 1 : batch.num_points();
  const std::int64_t num_elem = batch.elem_stride == 0 ? 1 : batch.num_elem;
  int first = no_element;
  Kokkos::parallel_reduce(
      "ossatura::find_bad_elasticity", range(exec, num_elem * points),
      detail::FindBadElasticity<Exec>{detail::HexaBatchPointers(batch), points, batch.elem},
      Kokkos::Min<int>(first));
  return first;
}

} // namespace ossatura
