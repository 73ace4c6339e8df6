// SPDX-License-Identifier: Apache-2.0
// Hyper-dual numbers re + a e1 + b e2 + ab e1 e2, with e1^2 = e2^2 = 0, carry the exact first
// derivatives of a function along two directions, and its second one along both [1].
//
// [1] J. A. Fike, J. J. Alonso. The development of hyper-dual numbers for exact second-derivative
//     calculations. AIAA 2011-886, doi:10.2514/6.2011-886.
#pragma once

#include <Kokkos_Core.hpp>

namespace ossatura::detail {

/// Of its own, so that its functions do not hide those of numbers.
namespace hyper_dual {

struct HyperDual {
  double re, a = 0, b = 0, ab = 0;

  KOKKOS_INLINE_FUNCTION HyperDual(double value = 0)
      : re(value) {}
  KOKKOS_INLINE_FUNCTION HyperDual(double value, double along_1, double along_2, double along_both)
      : re(value)
      , a(along_1)
      , b(along_2)
      , ab(along_both) {}
};

/// f(x) of f, f', f'' at x.re.
KOKKOS_INLINE_FUNCTION HyperDual chain(const HyperDual& x, double f, double f1, double f2) {
  return {f, f1 * x.a, f1 * x.b, f1 * x.ab + f2 * x.a * x.b};
}

KOKKOS_INLINE_FUNCTION HyperDual operator+(const HyperDual& x, const HyperDual& y) {
  return {x.re + y.re, x.a + y.a, x.b + y.b, x.ab + y.ab};
}

KOKKOS_INLINE_FUNCTION HyperDual operator-(const HyperDual& x, const HyperDual& y) {
  return {x.re - y.re, x.a - y.a, x.b - y.b, x.ab - y.ab};
}

KOKKOS_INLINE_FUNCTION HyperDual operator*(const HyperDual& x, const HyperDual& y) {
  return {x.re * y.re, x.re * y.a + x.a * y.re, x.re * y.b + x.b * y.re,
          x.re * y.ab + x.a * y.b + x.b * y.a + x.ab * y.re};
}

KOKKOS_INLINE_FUNCTION HyperDual operator/(const HyperDual& x, const HyperDual& y) {
  const double inverse = 1 / y.re;
  return x * chain(y, inverse, -inverse * inverse, 2 * inverse * inverse * inverse);
}

KOKKOS_INLINE_FUNCTION HyperDual cbrt(const HyperDual& x) {
  const double root = ::cbrt(x.re), inverse = 1 / x.re;
  return chain(x, root, root * inverse / 3, -2.0 / 9 * root * inverse * inverse);
}

KOKKOS_INLINE_FUNCTION HyperDual log(const HyperDual& x) {
  const double inverse = 1 / x.re;
  return chain(x, ::log(x.re), inverse, -inverse * inverse);
}

} // namespace hyper_dual

using hyper_dual::HyperDual;

} // namespace ossatura::detail
