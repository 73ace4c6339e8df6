// SPDX-License-Identifier: Apache-2.0
// A few Lanczos steps estimate the ends of the spectrum of a preconditioned matrix, in the form of
// conjugate gradients (Y. Saad, Iterative Methods for Sparse Linear Systems, 2nd ed., section
// 6.7.3).
#pragma once

#include <ossatura/kernels/algebra/jacobi.hpp>
#include <ossatura/kernels/krylov/vector_sums.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace ossatura {

/// The k-th eigenvalue from below, k = 0, 1, ..., of a symmetric positive definite tridiagonal
/// matrix, by bisection on Sturm counts.
inline double tridiagonal_eigenvalue(const std::vector<double>& diagonal,
                                     const std::vector<double>& off_diagonal, std::size_t k) {
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
    (below <= k ? low : high) = middle;
  }
  return high;
}

/// The ends of a spectrum.
struct Spectrum {
  double smallest, largest;
};

/// The tridiagonal matrix of a Lanczos process, from the coefficients of conjugate gradients.
class LanczosMatrix {
public:
  /// Adds the step x += alpha p, alpha = r . z / p . A p, for which p = z + beta p was formed;
  /// beta = 0 at the first. False, and nothing is added, if what is left is of the null space or
  /// rounding errors.
  bool add_step(double rz, double pq, double beta) {
    if (!(pq > 1e-4 * rz * largest_quotient_))
      return false;
    const double alpha = rz / pq;
    largest_quotient_ = std::max(largest_quotient_, 1 / alpha);
    diagonal_.push_back(1 / alpha + (diagonal_.empty() ? 0 : beta / alpha_));
    if (diagonal_.size() > 1)
      off_diagonal_.push_back(std::sqrt(beta) / alpha_);
    alpha_ = alpha;
    return true;
  }
  /// {0, 0} without a step.
  Spectrum spectrum() const {
    if (diagonal_.empty())
      return {0, 0};
    return {tridiagonal_eigenvalue(diagonal_, off_diagonal_, 0),
            tridiagonal_eigenvalue(diagonal_, off_diagonal_, diagonal_.size() - 1)};
  }

private:
  std::vector<double> diagonal_, off_diagonal_;
  double alpha_ = 1; ///< of the last step
  double largest_quotient_ = 0;
};

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
  LanczosMatrix lanczos;
  double beta = 0;
  for (int k = 0; k < steps && rz > 1e-12 * start; ++k) {
    add_jacobi(exec, jacobi, r, Scalar(beta), p); // not read at first: beta = 0
    clear(p);                                     // blocks mix held components in
    apply(p, q);
    const double pq = dot(exec, p, q);
    if (!lanczos.add_step(rz, pq, beta))
      break;
    axpby(exec, Scalar(-rz / pq), q, Scalar(1), r);
    const double next = jacobi_dot(exec, jacobi, r);
    beta = next / rz;
    rz = next;
  }
  return lanczos.spectrum().largest;
}

/// Estimates the spectrum of M A, M and A symmetric positive definite, from inside with `steps`
/// products: the largest eigenvalue closely, the smallest as far as the steps reach. From r, which
/// is lost. `precondition(r)` returns z = M r, `apply(x, q)` sets q = A x; q may share the memory
/// of z, nothing else may. {0, 0} if A acts on nothing. Cut vectors come with their sums. Fences.
template<class Exec, class Scalar, class Precondition, class Apply>
Spectrum estimate_spectrum(const Exec& exec, int steps, const Precondition& precondition,
                           const Apply& apply, const Array<Scalar, Exec>& r,
                           const Array<Scalar, Exec>& p, const Array<Scalar, Exec>& q,
                           const VectorSums<Exec>& sums = {}) {
  LanczosMatrix lanczos;
  double rz = 0, start = 0;
  for (int k = 0; k < steps; ++k) {
    const Array<Scalar, Exec> z = precondition(r);
    const double next = sums.dot(exec, r, z);
    if (!(next > 1e-10 * start)) // converged, as far as single precision goes
      break;
    const double beta = k > 0 ? next / rz : 0;
    rz = next;
    if (k == 0)
      start = rz;
    axpby(exec, Scalar(1), z, Scalar(beta), p); // not read at first: beta = 0
    apply(p, q);
    const double pq = sums.dot(exec, p, q);
    if (!lanczos.add_step(rz, pq, beta))
      break;
    axpby(exec, Scalar(-rz / pq), q, Scalar(1), r);
  }
  return lanczos.spectrum();
}

} // namespace ossatura
