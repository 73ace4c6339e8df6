// SPDX-License-Identifier: Apache-2.0
// An optimality-criteria trial [1] updates the densities for trial values l of the multiplier:
//   x_new = min(upper, max(lower, B / l)),   B = x (- df / dv)^damping.
// A pass takes several values of l at once, so that a bisection of four halvings costs one pass.
//
// [1] M. Bendsoe, O. Sigmund. Topology Optimization: Theory, Methods and Applications. Springer
//     (2003), section 1.2, doi:10.1007/978-3-662-05086-6.
#pragma once

#include <ossatura/kernels/algebra/reproducible_sums/parts.hpp>
#include <ossatura/kernels/topopt/element_volumes.hpp>

namespace ossatura {

/// Bounds that are kept, [num_elem] each; lower = upper: does not move. MoveRange
/// (design_variables.hpp) computes them where they are asked for.
template<class Exec>
struct KeptBounds {
  Array<double, Exec> low, high;
  KOKKOS_FUNCTION double lower(std::int64_t e) const { return low(e); }
  KOKKOS_FUNCTION double upper(std::int64_t e) const { return high(e); }
};

namespace detail {

/// own [2]: v B and v of what can move. Also stores B.
template<class Exec, class Bounds>
struct OcNumerators {
  Bounds bounds;
  ElementVolumes<Exec> volume;
  Array<double, Exec> x, df, dv, numerator;
  double damping;

  KOKKOS_FUNCTION void operator()(std::int64_t e, double* own) const {
    const double ratio = df(e) < 0 && dv(e) > 0 ? -df(e) / dv(e) : 0;
    const double b = x(e) * (damping == 0.5 ? sqrt(ratio) : pow(ratio, damping));
    numerator(e) = b;
    if (bounds.upper(e) > bounds.lower(e)) {
      own[0] += volume(e) * b;
      own[1] += volume(e);
    }
  }
};

KOKKOS_INLINE_FUNCTION double oc_variable(double numerator, double lower, double upper, double l) {
  const double wanted = numerator / l;
  return wanted > lower ? (wanted < upper ? wanted : upper) : lower;
}

template<class Exec, class Bounds, int count>
struct OcTrials {
  Bounds bounds;
  Array<double, Exec> x, dv, numerator;
  double multiplier[count];

  KOKKOS_FUNCTION void operator()(std::int64_t e, double* own) const {
    const double here = x(e), weight = dv(e), b = numerator(e);
    const double low = bounds.lower(e), high = bounds.upper(e);
    for (int k = 0; k < count; ++k)
      own[k] += weight * (oc_variable(b, low, high, multiplier[k]) - here);
  }
};

template<class Exec, class Bounds>
struct OcUpdate {
  Bounds bounds;
  Array<double, Exec> numerator, result;
  double multiplier;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    result(e) = oc_variable(numerator(e), bounds.lower(e), bounds.upper(e), multiplier);
  }
};

} // namespace detail

/// numerator = B; returns its mean by volume over elements with lower < upper. Arrays [num_elem].
/// Fences.
template<class Exec, class Bounds>
double oc_numerators(const Exec& exec, const Bounds& bounds, const Array<double, Exec>& x,
                     const Array<double, Exec>& df, const Array<double, Exec>& dv,
                     const ElementVolumes<Exec>& volume, double damping,
                     const Array<double, Exec>& numerator) {
  const auto sums = part_sums<2>(
      exec, "ossatura::oc_numerators", x.extent(0),
      detail::OcNumerators<Exec, Bounds>{bounds, volume, x, df, dv, numerator, damping});
  return sums[1] > 0 ? sums[0] / sums[1] : 0;
}

/// Sum of dv (x_new - x) for each multiplier, > 0. Fences.
template<int count, class Exec, class Bounds>
std::array<double, count> oc_trials(const Exec& exec, const Bounds& bounds,
                                    const Array<double, Exec>& x, const Array<double, Exec>& dv,
                                    const Array<double, Exec>& numerator,
                                    const std::array<double, count>& multiplier) {
  detail::OcTrials<Exec, Bounds, count> trials{bounds, x, dv, numerator, {}};
  for (int k = 0; k < count; ++k)
    trials.multiplier[k] = multiplier[std::size_t(k)];
  return part_sums<count>(exec, "ossatura::oc_trials", x.extent(0), trials);
}

/// result = x_new, which may alias the numerator. Does not fence.
template<class Exec, class Bounds>
void oc_update(const Exec& exec, const Bounds& bounds, const Array<double, Exec>& numerator,
               double multiplier, const Array<double, Exec>& result) {
  Kokkos::parallel_for("ossatura::oc_update", range(exec, result.extent(0)),
                       detail::OcUpdate<Exec, Bounds>{bounds, numerator, result, multiplier});
}

} // namespace ossatura
