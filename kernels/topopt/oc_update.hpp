// SPDX-License-Identifier: Apache-2.0
// An optimality-criteria trial [1] updates the densities for trial values l of the multiplier:
//   x_new = min(upper, max(lower, B / l)),   B = x (- df / dv)^damping.
// A pass takes several values of l at once, so that a bisection of four halvings costs one pass.
//
// [1] M. Bendsoe, O. Sigmund. Topology Optimization: Theory, Methods and Applications. Springer
//     (2003), section 1.2, doi:10.1007/978-3-662-05086-6.
#pragma once

#include <ossatura/kernels/algebra/sums/parts.hpp>

namespace ossatura {

namespace detail {

/// own [2]: v B and v of what can move. Also stores B.
template<class Exec>
struct OcNumerators {
  Array<double, Exec> x, lower, upper, df, dv, volume, numerator;
  double damping;

  KOKKOS_FUNCTION void operator()(std::int64_t e, double* own) const {
    const double ratio = df(e) < 0 && dv(e) > 0 ? -df(e) / dv(e) : 0;
    const double b = x(e) * (damping == 0.5 ? sqrt(ratio) : pow(ratio, damping));
    numerator(e) = b;
    if (upper(e) > lower(e)) {
      own[0] += volume(e) * b;
      own[1] += volume(e);
    }
  }
};

KOKKOS_INLINE_FUNCTION double oc_variable(double numerator, double lower, double upper, double l) {
  const double wanted = numerator / l;
  return wanted > lower ? (wanted < upper ? wanted : upper) : lower;
}

template<class Exec, int count>
struct OcTrials {
  Array<double, Exec> x, lower, upper, dv, numerator;
  double multiplier[count];

  KOKKOS_FUNCTION void operator()(std::int64_t e, double* own) const {
    const double here = x(e), weight = dv(e), low = lower(e), high = upper(e), b = numerator(e);
    for (int k = 0; k < count; ++k)
      own[k] += weight * (oc_variable(b, low, high, multiplier[k]) - here);
  }
};

template<class Exec>
struct OcUpdate {
  Array<double, Exec> lower, upper, numerator, result;
  double multiplier;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    result(e) = oc_variable(numerator(e), lower(e), upper(e), multiplier);
  }
};

} // namespace detail

/// numerator = B; returns its mean by volume over elements with lower < upper. Arrays [num_elem].
/// Fences.
template<class Exec>
double oc_numerators(const Exec& exec, const Array<double, Exec>& x,
                     const Array<double, Exec>& lower, const Array<double, Exec>& upper,
                     const Array<double, Exec>& df, const Array<double, Exec>& dv,
                     const Array<double, Exec>& volume, double damping,
                     const Array<double, Exec>& numerator) {
  const auto sums =
      part_sums<2>(exec, "ossatura::oc_numerators", x.extent(0),
                   detail::OcNumerators<Exec>{x, lower, upper, df, dv, volume, numerator, damping});
  return sums[1] > 0 ? sums[0] / sums[1] : 0;
}

/// Sum of dv (x_new - x) for each multiplier, > 0. Fences.
template<int count, class Exec>
std::array<double, count>
oc_trials(const Exec& exec, const Array<double, Exec>& x, const Array<double, Exec>& lower,
          const Array<double, Exec>& upper, const Array<double, Exec>& dv,
          const Array<double, Exec>& numerator, const std::array<double, count>& multiplier) {
  detail::OcTrials<Exec, count> trials{x, lower, upper, dv, numerator, {}};
  for (int k = 0; k < count; ++k)
    trials.multiplier[k] = multiplier[std::size_t(k)];
  return part_sums<count>(exec, "ossatura::oc_trials", x.extent(0), trials);
}

/// result = x_new. Does not fence.
template<class Exec>
void oc_update(const Exec& exec, const Array<double, Exec>& lower, const Array<double, Exec>& upper,
               const Array<double, Exec>& numerator, double multiplier,
               const Array<double, Exec>& result) {
  Kokkos::parallel_for("ossatura::oc_update", range(exec, lower.extent(0)),
                       detail::OcUpdate<Exec>{lower, upper, numerator, result, multiplier});
}

} // namespace ossatura
