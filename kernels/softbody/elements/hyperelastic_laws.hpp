// SPDX-License-Identifier: Apache-2.0
// A hyperelastic law is an isotropic energy W(I1, I2, J) of C = F^T F, I2 = (I1^2 - tr C^2) / 2, as
// a sum of functions of J times powers of I1 and I2 (multiplicative Jacobian energy decomposition
// [1]). Elements need the derivatives of W alone, and no inverse of C.
//
// [1] S. Marchesseau, T. Heimann, S. Chatelin, R. Willinger, H. Delingette. Fast porous
//     visco-hyperelastic soft tissue model for surgery simulation. Prog. Biophys. Mol. Biol. 103
//     (2010), doi:10.1016/j.pbiomolbio.2010.09.005.
// [2] B. Smith, F. De Goes, T. Kim. Stable neo-Hookean flesh simulation. ACM Trans. Graph. 37
//     (2018), doi:10.1145/3180491.
#pragma once

#include <ossatura/kernels/softbody/elements/material.hpp>

#include <Kokkos_Core.hpp>

namespace ossatura::detail {

/// w1 = dW/dI1, wj = dW/dJ, w1j = d2W/dI1 dJ and so on; those that are not here are 0 in all laws.
/// Real: double, or HyperDual for the derivatives of these. All are linear in the coefficients.
template<class Real>
struct LawDerivatives {
  Real w1 = 0, w2 = 0, wj = 0, w11 = 0, w1j = 0, w2j = 0, wjj = 0;
};

/// `coefficient` is lambda, mu.
struct StVenantKirchhoff {
  static constexpr bool uses_i2 = true, uses_j = false, needs_volume = false;

  static KOKKOS_INLINE_FUNCTION double energy(const double* coefficient, double i1, double i2,
                                              double) {
    const double lambda = coefficient[0], mu = coefficient[1];
    return 0.125 * lambda * (i1 - 3) * (i1 - 3) + 0.25 * mu * (i1 * i1 - 2 * i2 - 2 * i1 + 3);
  }

  template<class Real>
  static KOKKOS_INLINE_FUNCTION LawDerivatives<Real> derivatives(const double* coefficient, Real i1,
                                                                 Real, Real) {
    const double lambda = coefficient[0], mu = coefficient[1];
    LawDerivatives<Real> w;
    w.w1 = 0.25 * lambda * (i1 - 3) + 0.5 * mu * (i1 - 1);
    w.w2 = -0.5 * mu;
    w.w11 = 0.25 * lambda + 0.5 * mu;
    return w;
  }
};

/// `coefficient` is c1, c2, bulk; J > 0.
struct MooneyRivlin {
  static constexpr bool uses_i2 = true, uses_j = true, needs_volume = true;

  static KOKKOS_INLINE_FUNCTION double energy(const double* coefficient, double i1, double i2,
                                              double j) {
    const double scale = 1 / cbrt(j * j), log_j = log(j); // J^-2/3
    return coefficient[0] * (scale * i1 - 3) + coefficient[1] * (scale * scale * i2 - 3) +
           0.5 * coefficient[2] * log_j * log_j;
  }

  template<class Real>
  static KOKKOS_INLINE_FUNCTION LawDerivatives<Real> derivatives(const double* coefficient, Real i1,
                                                                 Real i2, Real j) {
    const Real scale = 1 / cbrt(j * j), log_j = log(j), inverse = 1 / j;
    const double bulk = coefficient[2];
    LawDerivatives<Real> w;
    w.w1 = coefficient[0] * scale;
    w.w2 = coefficient[1] * scale * scale;
    w.w1j = -2.0 / 3 * inverse * w.w1;
    w.w2j = -4.0 / 3 * inverse * w.w2;
    w.wj = i1 * w.w1j + i2 * w.w2j + bulk * log_j * inverse;
    w.wjj = (-5.0 / 3 * i1 * w.w1j - 7.0 / 3 * i2 * w.w2j + bulk * (1 - log_j) * inverse) * inverse;
    return w;
  }
};

/// Per [2], without its logarithm: mu / 2 (I1 - 3) + (lambda + mu) / 2 (J - alpha)^2 less its value
/// at rest, alpha = 1 + mu / (lambda + mu): at rest it is Hooke's law with `coefficient` lambda,
/// mu.
struct StableNeoHookean {
  static constexpr bool uses_i2 = false, uses_j = true, needs_volume = false;

  static KOKKOS_INLINE_FUNCTION double energy(const double* coefficient, double i1, double,
                                              double j) {
    const double mu = coefficient[1], sum = coefficient[0] + mu;
    // (J - alpha)^2 - (1 - alpha)^2 without cancellation
    return 0.5 * mu * (i1 - 3) + 0.5 * (j - 1) * (sum * (j - 1) - 2 * mu);
  }

  template<class Real>
  static KOKKOS_INLINE_FUNCTION LawDerivatives<Real> derivatives(const double* coefficient, Real,
                                                                 Real, Real j) {
    const double mu = coefficient[1], sum = coefficient[0] + mu;
    LawDerivatives<Real> w;
    w.w1 = 0.5 * mu;
    w.wj = sum * (j - 1) - mu;
    w.wjj = sum;
    return w;
  }
};

} // namespace ossatura::detail
