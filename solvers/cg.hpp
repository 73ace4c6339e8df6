// SPDX-License-Identifier: BSD-3-Clause
// Preconditioned conjugate gradients (M. Hestenes, E. Stiefel, J. Res. NBS 49 (1952) 409-436) that
// reports convergence only of the true residual.
#pragma once

#include "core/vector.hpp"

#include <cmath>
#include <functional>

namespace femura {

struct CgOptions {
  double tolerance = 1e-6;   ///< on |b - A x| / |b - A x0|, Euclidean norms
  int max_iterations = 1000; ///< of all restarts together
};

struct SolveResult {
  int iterations = 0;
  double initial_residual = 0;       ///< |b - A x0|
  double relative_residual = 0;      ///< of the recurrence, at the last iteration
  double true_relative_residual = 0; ///< |b - A x| / |b - A x0|, computed afresh
  bool converged = false;            ///< the true residual meets the tolerance
};

/// Called after each iteration with its number (0 before the first) and the relative residual.
using IterationObserver = std::function<void(int iteration, double relative_residual)>;

/// Solves A x = b from the given x. `apply(p, q)` sets q = A p; `residual(x, r)` sets r = b - A x;
/// `precondition(r, z)` sets z = M r with M symmetric positive definite. All are zero at held
/// components. r, z, p, q are scratch of the size of x, distinct. When the recurrence meets the
/// tolerance and the true residual does not, the iteration restarts from the true residual; it
/// gives up when a restart gains less than a factor of two. Fences.
template<class Exec, class Scalar, class Apply, class Residual, class Precondition>
SolveResult conjugate_gradients(const Exec& exec, const CgOptions& options, const Apply& apply,
                                const Residual& residual, const Precondition& precondition,
                                const Array<Scalar, Exec>& x, const Array<Scalar, Exec>& r,
                                const Array<Scalar, Exec>& z, const Array<Scalar, Exec>& p,
                                const Array<Scalar, Exec>& q,
                                const IterationObserver& observe = {}) {
  SolveResult result;
  residual(x, r);
  double norm = std::sqrt(dot(exec, r, r));
  result.initial_residual = norm;
  // NaN if the right-hand side or x is not finite, or too large to be squared.
  result.relative_residual = result.true_relative_residual = norm == 0 ? 0 : norm / norm;
  if (observe)
    observe(0, result.relative_residual);
  if (norm == 0 || !std::isfinite(norm)) {
    result.converged = norm == 0;
    return result;
  }
  const double start = norm;
  while (true) {
    const double before = result.true_relative_residual;
    precondition(r, z);
    copy(exec, z, p);
    double rz = dot(exec, r, z);
    while (norm > options.tolerance * start && result.iterations < options.max_iterations) {
      apply(p, q);
      const double pq = dot(exec, p, q);
      if (!(pq > 0) || !(rz > 0)) // lost positivity to rounding, or NaN
        break;
      norm = std::sqrt(step_and_norm2(exec, Scalar(rz / pq), p, q, x, r));
      ++result.iterations;
      result.relative_residual = norm / start;
      if (observe)
        observe(result.iterations, result.relative_residual);
      if (norm <= options.tolerance * start)
        break;
      precondition(r, z);
      const double next = dot(exec, r, z);
      axpby(exec, Scalar(1), z, Scalar(next / rz), p);
      rz = next;
    }
    residual(x, r);
    norm = std::sqrt(dot(exec, r, r));
    result.true_relative_residual = norm / start;
    result.converged = norm <= options.tolerance * start;
    const bool gained = result.true_relative_residual < 0.5 * before;
    if (result.converged || !gained || result.iterations >= options.max_iterations)
      return result;
  }
}

} // namespace femura
