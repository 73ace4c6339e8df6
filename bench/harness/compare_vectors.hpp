// SPDX-License-Identifier: Apache-2.0
// relative_difference measures how far two results are apart, before either is timed.
#pragma once

#include <ossatura/core/base/vector.hpp>

#include <cmath>

namespace ossatura::bench {

/// |x - y| / |y| in Euclidean norms; infinite if y is zero or either is not finite. Fences.
template<class Exec, class Scalar>
double relative_difference(const Exec& exec, const Array<Scalar, Exec>& x,
                           const Array<Scalar, Exec>& y) {
  const Array<Scalar, Exec> difference =
      make_uninitialized<Scalar>(exec, y.extent(0), "ossatura::bench::difference");
  copy(exec, x, difference);
  const double distance = std::sqrt(subtract_and_norm2(exec, y, difference));
  const double norm = std::sqrt(dot(exec, y, y));
  return norm > 0 && std::isfinite(norm) && std::isfinite(distance) ? distance / norm : INFINITY;
}

/// Bound on it for one product with the same matrix in another order of additions.
template<class Scalar>
constexpr double rounding_bound = sizeof(Scalar) == 8 ? 1e-12 : 1e-5;

} // namespace ossatura::bench
