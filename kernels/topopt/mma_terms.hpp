// SPDX-License-Identifier: Apache-2.0
// The method of moving asymptotes [1, 2] makes these passes over the design variables. Around the
// present x, with asymptotes L < x < U, the objective and each constraint are replaced by
//   f(y) = sum of p / (U - y) + q / (y - L) + constant
// of the same gradient at x. p and q are not kept: passes form them from the gradients.
//
// [1] K. Svanberg. The method of moving asymptotes: a new method for structural optimization. Int.
//     J. Numer. Methods Eng. 24 (1987) 359-373, doi:10.1002/nme.1620240207.
// [2] K. Svanberg. A class of globally convergent optimization methods based on conservative convex
//     separable approximations. SIAM J. Optim. 12 (2002) 555-573, doi:10.1137/S1052623499362822.
#pragma once

#include <ossatura/kernels/algebra/reproducible_sums/parts.hpp>

namespace ossatura {

inline constexpr int max_mma_constraints = 4;

/// The arrays that a step reads; [n] each, dg [num_constraints, n].
template<class Exec>
struct MmaArrays {
  Array<double, Exec> x, lower, upper; ///< lower = upper: does not move
  Array<double, Exec> df, dg;
  Array<double, Exec> low, high; ///< asymptotes
  double scale = 1;              ///< of the objective
  int num_constraints = 1;
};

namespace detail {

/// own [max_mma_constraints]: p / (U - x) + q / (x - L) of the constraints at x.
template<class Exec>
struct MoveAsymptotes {
  MmaArrays<Exec> a;
  Array<double, Exec> x_old, x_older, low_old, high_old;
  bool start; ///< no history to go by
  double first, shrink, grow;

  KOKKOS_FUNCTION void operator()(std::int64_t i, double* own) const {
    const double x = a.x(i), width = a.upper(i) - a.lower(i);
    double low = x - first * width, high = x + first * width;
    if (!start) {
      const double before = x_old(i), turned = (x - before) * (before - x_older(i));
      const double factor = turned < 0 ? shrink : turned > 0 ? grow : 1;
      const double unit = width > 1e-5 ? width : 1e-5;
      low = Kokkos::clamp(x - factor * (before - low_old(i)), x - 10 * unit, x - 0.01 * unit);
      high = Kokkos::clamp(x + factor * (high_old(i) - before), x + 0.01 * unit, x + 10 * unit);
    }
    a.low(i) = low;
    a.high(i) = high;
    if (!(width > 0))
      return;
    for (int j = 0; j < a.num_constraints; ++j) {
      const double slope = a.dg(j * std::int64_t(a.x.extent(0)) + i);
      own[j] += slope > 0 ? slope * (high - x) : -slope * (x - low);
    }
  }
};

constexpr int mma_hessian_begin = max_mma_constraints;
constexpr int mma_num_sums =
    max_mma_constraints + max_mma_constraints * (max_mma_constraints + 1) / 2;

/// The minimiser y(i) of the Lagrangian for given multipliers. own [mma_num_sums]: the constraints'
/// p / (U - y) + q / (y - L), then the upper triangle of their second derivatives by multipliers.
template<class Exec>
struct MmaDual {
  MmaArrays<Exec> a;
  Array<double, Exec> y;
  double multiplier[max_mma_constraints];

  KOKKOS_FUNCTION void operator()(std::int64_t i, double* own) const {
    const double x = a.x(i), lower = a.lower(i), upper = a.upper(i);
    if (!(upper > lower)) {
      y(i) = x;
      return;
    }
    const double low = a.low(i), high = a.high(i);
    const double to_high = (high - x) * (high - x), to_low = (x - low) * (x - low);
    // Per [2], every approximation of the objective is strictly convex.
    const double slope = a.scale * a.df(i), size = fabs(slope);
    const double curved = 0.001 * size + 0.5e-6 / (high - low);
    double p = to_high * ((slope > 0 ? size : 0) + curved);
    double q = to_low * ((slope < 0 ? size : 0) + curved);
    double pj[max_mma_constraints], qj[max_mma_constraints];
    for (int j = 0; j < a.num_constraints; ++j) {
      const double dg = a.dg(j * std::int64_t(a.x.extent(0)) + i);
      pj[j] = dg > 0 ? to_high * dg : 0;
      qj[j] = dg < 0 ? -to_low * dg : 0;
      p += multiplier[j] * pj[j];
      q += multiplier[j] * qj[j];
    }
    const double root_p = sqrt(p), root_q = sqrt(q);
    const double wanted = (root_p * low + root_q * high) / (root_p + root_q);
    const double near_low = 0.9 * low + 0.1 * x, near_high = 0.9 * high + 0.1 * x;
    const double least = Kokkos::max(near_low, lower);
    const double most = Kokkos::min(near_high, upper);
    const double here = Kokkos::min(Kokkos::max(wanted, least), most); // least may round above most
    y(i) = here;
    const double u = 1 / (high - here), l = 1 / (here - low);
    const bool inside = here == wanted;
    const double bend = 2 * (p * u * u * u + q * l * l * l);
    double push[max_mma_constraints];
    for (int j = 0; j < a.num_constraints; ++j) {
      own[j] += pj[j] * u + qj[j] * l;
      push[j] = pj[j] * u * u - qj[j] * l * l;
    }
    if (!inside)
      return;
    int next = int(mma_hessian_begin);
    for (int j = 0; j < a.num_constraints; ++j)
      for (int k = j; k < a.num_constraints; ++k)
        own[next++] -= push[j] * push[k] / bend;
  }
};

} // namespace detail

/// Sets the asymptotes from those before and the last two designs (`start`: from the bounds alone),
/// by the factors of [1]. Returns each constraint's p / (U - x) + q / (x - L) at x. No aliases.
/// Fences.
template<class Exec>
std::array<double, max_mma_constraints>
move_asymptotes(const Exec& exec, const MmaArrays<Exec>& arrays, bool start,
                const Array<double, Exec>& x_old, const Array<double, Exec>& x_older,
                const Array<double, Exec>& low_old, const Array<double, Exec>& high_old,
                double first, double shrink, double grow) {
  return part_sums<max_mma_constraints>(exec, "ossatura::move_asymptotes", arrays.x.extent(0),
                                        detail::MoveAsymptotes<Exec>{arrays, x_old, x_older,
                                                                     low_old, high_old, start,
                                                                     first, shrink, grow});
}

/// The dual function's derivatives.
struct MmaDualSums {
  double value[max_mma_constraints];                        ///< of the constraints' sums
  double hessian[max_mma_constraints][max_mma_constraints]; ///< negative semidefinite
};

/// y = the minimiser for the multipliers [num_constraints], >= 0. Fences.
template<class Exec>
MmaDualSums mma_dual(const Exec& exec, const MmaArrays<Exec>& arrays, const double* multiplier,
                     const Array<double, Exec>& y) {
  detail::MmaDual<Exec> dual{arrays, y, {}};
  for (int j = 0; j < arrays.num_constraints; ++j)
    dual.multiplier[j] = multiplier[j];
  const auto sums =
      part_sums<detail::mma_num_sums>(exec, "ossatura::mma_dual", arrays.x.extent(0), dual);
  MmaDualSums result{};
  std::size_t next = detail::mma_hessian_begin;
  for (int j = 0; j < arrays.num_constraints; ++j) {
    result.value[j] = sums[std::size_t(j)];
    for (int k = j; k < arrays.num_constraints; ++k)
      result.hessian[j][k] = result.hessian[k][j] = sums[next++];
  }
  return result;
}

} // namespace ossatura
