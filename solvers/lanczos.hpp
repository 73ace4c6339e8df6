// SPDX-License-Identifier: BSD-3-Clause
// Largest eigenvalue of a Jacobi-scaled matrix by a few Lanczos steps, in the form of conjugate
// gradients (Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., section 6.7.3).
#pragma once

#include "kernels/jacobi.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace femura {

/// Largest eigenvalue of the symmetric tridiagonal matrix, by bisection on Sturm counts.
inline double largest_tridiagonal_eigenvalue(const std::vector<double>& diagonal,
                                             const std::vector<double>& off_diagonal) {
  const std::size_t n = diagonal.size();
  double low = 0, high = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double radius =
        (i > 0 ? std::abs(off_diagonal[i - 1]) : 0) + (i + 1 < n ? std::abs(off_diagonal[i]) : 0);
    high = std::max(high, diagonal[i] + radius);
  }
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    std::size_t below = 0;
    double pivot = 1;
    for (std::size_t i = 0; i < n; ++i) {
      const double square = i > 0 ? off_diagonal[i - 1] * off_diagonal[i - 1] : 0;
      pivot = diagonal[i] - middle - (i > 0 ? square / (pivot == 0 ? 1e-300 : pivot) : 0);
      below += pivot < 0;
    }
    (below < n ? low : high) = middle;
  }
  return high;
}

/// Estimates, from below, the largest eigenvalue of S A with `steps` products. `apply(x, q)` sets
/// q = A x and `clear(r)` sets r = 0, both at held components; r, p, q are scratch of equal size.
/// Returns 0 if A acts on nothing. Fences.
template<class Exec, class Scalar, class Jacobi, class Apply, class Clear>
double estimate_largest_eigenvalue(const Exec& exec, int steps, const Jacobi& jacobi,
                                   const Apply& apply, const Clear& clear,
                                   const Array<Scalar, Exec>& r, const Array<Scalar, Exec>& p,
                                   const Array<Scalar, Exec>& q) {
  // S^1/2 r is the vector that the symmetric S^1/2 A S^1/2 sees: about random there, so that stiff
  // and soft parts weigh the same.
  fill_random(exec, 1, r);
  apply_root_diagonal(exec, jacobi, r);
  clear(r);
  double rz = jacobi_dot(exec, jacobi, r);
  const double start = rz;
  std::vector<double> diagonal, off_diagonal;
  double alpha = 1, beta = 0;
  for (int k = 0; k < steps && rz > 1e-12 * start; ++k) {
    add_jacobi(exec, jacobi, r, Scalar(beta), p); // not read at first: beta = 0
    clear(p);                                     // blocks mix held components in
    apply(p, q);
    const double pq = dot(exec, p, q);
    if (!(pq > 0))
      break;
    const double previous = alpha;
    alpha = rz / pq;
    diagonal.push_back(1 / alpha + (k > 0 ? beta / previous : 0));
    if (k > 0)
      off_diagonal.push_back(std::sqrt(beta) / previous);
    axpby(exec, Scalar(-alpha), q, Scalar(1), r);
    const double next = jacobi_dot(exec, jacobi, r);
    beta = next / rz;
    rz = next;
  }
  return diagonal.empty() ? 0 : largest_tridiagonal_eigenvalue(diagonal, off_diagonal);
}

} // namespace femura
