// SPDX-License-Identifier: BSD-3-Clause
// Chebyshev polynomial smoother of the first kind [1], [2, algorithm 12.1], Jacobi-scaled.
//
// [1] M. Adams, M. Brezina, J. Hu, R. Tuminaro. Parallel multigrid smoothing: polynomial versus
//     Gauss-Seidel. J. Comput. Phys. 188 (2003) 593-610, doi:10.1016/S0021-9991(03)00194-3.
// [2] Y. Saad. Iterative Methods for Sparse Linear Systems, 2nd ed., SIAM 2003.
#pragma once

#include "kernels/chebyshev_step.hpp"

namespace femura {

struct ChebyshevOptions {
  int degree = 10; ///< matrix products of one smoothing (from zero: one fewer)
  double smoothing_ratio =
      16; ///< the polynomial is small on [lmax / ratio, 1.05 lmax] (as ParOSol)
};

/// Smooths A x = b, where `apply(x, q)` sets q = A x, zero at held components, and lmax estimates
/// the largest eigenvalue of D^-1 A. With `from_zero` x is taken as zero and not read. p and q are
/// scratch. As a polynomial in D^-1 A the smoother is symmetric in the A inner product. Does not
/// fence.
template<class Exec, class Scalar, class Apply>
void chebyshev_smooth(const Exec& exec, const ChebyshevOptions& options, double lmax,
                      const Array<Scalar, Exec>& inverse_diagonal, const Apply& apply,
                      const Array<Scalar, Exec>& b, const Array<Scalar, Exec>& x, bool from_zero,
                      const Array<Scalar, Exec>& p, const Array<Scalar, Exec>& q) {
  const double high = 1.05 * lmax, low = lmax / options.smoothing_ratio;
  const double centre = (high + low) / 2, half_width = (high - low) / 2;
  const double sigma = centre / half_width;
  double rho = 1 / sigma;
  if (from_zero) {
    chebyshev_start(exec, inverse_diagonal, Scalar(1 / centre), b, p, x);
  } else {
    apply(x, q);
    chebyshev_step(exec, inverse_diagonal, Scalar(0), Scalar(1 / centre), b, q, p, x);
  }
  for (int k = 1; k < options.degree; ++k) {
    const double next = 1 / (2 * sigma - rho);
    apply(x, q);
    chebyshev_step(exec, inverse_diagonal, Scalar(next * rho), Scalar(2 * next / half_width), b, q,
                   p, x);
    rho = next;
  }
}

} // namespace femura
