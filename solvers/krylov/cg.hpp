// SPDX-License-Identifier: Apache-2.0
// Preconditioned conjugate gradients [1] report convergence only of the true residual, in one
// precision or in several: the solution, the vectors of the iteration and the preconditioner may
// each have their own. Where the iteration is less precise than the solution, the true residual
// replaces the recurrence's residual from time to time [2].
//
// [1] M. Hestenes, E. Stiefel, J. Res. NBS 49 (1952) 409-436.
// [2] H. van der Vorst, Q. Ye. Residual replacement strategies for Krylov subspace iterative
//     methods for the convergence of true residuals. SIAM J. Sci. Comput. 22 (2000) 835-852,
//     doi:10.1137/S1064827599353865.
#pragma once

#include <ossatura/kernels/algebra/cg_steps.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>

namespace ossatura {

struct CgOptions {
  double tolerance = 1e-6;   ///< on |b - A x| / |b - A x0|, Euclidean norms
  int max_iterations = 1000; ///< of all restarts together
  double replacement = 0;    ///< the true residual replaces the recurrent one at each drop by this
                             ///< factor; 0: only when the recurrence meets the tolerance
  double reference = 0;      ///< if positive, residuals are relative to it, not to |b - A x0|
  int stall_window = 0;      ///< gives up where the least residual of so many iterations is not 1 %
                             ///< below the least of as many before; 0: never
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

/// What an iteration works on; all of one size, none aliased but b to r where their types agree.
template<class Exec, class Solution, class Vector, class Cycle>
struct CgVectors {
  Array<Solution, Exec> x; ///< the initial guess, and the solution
  Array<Vector, Exec> r, p, q;
  Array<Cycle, Exec> b; ///< r, for the preconditioner
};

namespace detail {

/// Compares the least residual of each window of iterations with that of the window before: they go
/// up and down, and may rise for long at the start, but an iteration that works gets lower.
class StallWatch {
public:
  explicit StallWatch(int window)
      : window_(window) {}

  /// Notes the residual of an iteration; whether it was the last of a window without progress.
  bool stalls(double residual) {
    if (window_ <= 0)
      return false;
    least_ = std::min(least_, residual);
    if (++count_ % window_ != 0)
      return false;
    const bool stalled = count_ > window_ && !(least_ < 0.99 * before_);
    before_ = least_;
    least_ = std::numeric_limits<double>::infinity();
    return stalled;
  }

private:
  int window_;
  std::int64_t count_ = 0;
  double least_ = std::numeric_limits<double>::infinity(), before_ = least_;
};

/// The residual of an iteration, stored as a power of two times itself, so that its norm is about
/// 1: forces of any size fit single precision.
template<class Exec, class Solution, class Vector, class Cycle, class Residual>
class ScaledResidual {
public:
  ScaledResidual(const Exec& exec, const Residual& residual,
                 const CgVectors<Exec, Solution, Vector, Cycle>& v)
      : exec_(exec)
      , residual_(residual)
      , v_(v) {}

  double scale() const { return scale_; }

  /// Computes it afresh, in the present scale, and returns its norm.
  double compute() {
    residual_(v_.x, scale_, v_.r);
    return std::sqrt(dot(exec_, v_.r, v_.r)) / scale_;
  }
  /// The first one, for which no scale is known.
  double start() {
    double norm = compute();
    if constexpr (std::is_same_v<Vector, float>) {
      if (!(norm < 1e30))
        scale_ = std::ldexp(1.0, -200);
      else if (norm < 1e-30)
        scale_ = std::ldexp(1.0, 200);
      if (scale_ != 1)
        norm = compute();
    }
    return norm;
  }
  /// Scales for `norm`, finite and positive, and fills b. Returns the factor by which the scale
  /// grew.
  double rescale(double norm) {
    // The sum is split so that no power of two overflows before it is applied.
    const int present = std::ilogb(scale_), wanted = -std::ilogb(norm);
    const double factor = std::ldexp(1.0, wanted - present);
    scale_residual(exec_, Vector(factor), v_.r, v_.b);
    scale_ = std::ldexp(1.0, wanted);
    return factor;
  }

private:
  const Exec& exec_;
  const Residual& residual_;
  const CgVectors<Exec, Solution, Vector, Cycle>& v_;
  double scale_ = 1;
};

} // namespace detail

/// Solves A x = b from the given x. `apply(p, q)` sets q = A p; `residual(x, scale, r)` sets
/// r = scale (b - A x) for a power of two; `precondition(b)` returns an array z = M b, M symmetric
/// positive definite, which stays as it is until p is formed: it may share memory with q. All are
/// zero at held components. When the recurrence meets the tolerance and the true residual does not,
/// the iteration goes on from the true residual; it gives up when that gains less than a factor of
/// two several times, and where the recurrence stalls (CgOptions). Fences, once an iteration.
template<class Exec, class Solution, class Vector, class Cycle, class Apply, class Residual,
         class Precondition>
SolveResult conjugate_gradients(const Exec& exec, const CgOptions& options, const Apply& apply,
                                const Residual& residual, const Precondition& precondition,
                                const CgVectors<Exec, Solution, Vector, Cycle>& vectors,
                                const IterationObserver& observe = {}) {
  const auto& [x, r, p, q, b] = vectors;
  const CgScalarArray<Exec> scalars = make_zeros<double>(exec, 4, "ossatura::cg::scalars");
  detail::ScaledResidual<Exec, Solution, Vector, Cycle, Residual> scaled(exec, residual, vectors);
  SolveResult result;
  double norm = scaled.start();
  result.initial_residual = norm;
  const double start = options.reference > 0 ? options.reference : norm;
  // Not finite if the right-hand side or x is not, or too large to be squared.
  result.relative_residual = result.true_relative_residual = norm == 0 ? 0 : norm / start;
  if (observe)
    observe(0, result.relative_residual);
  result.converged = std::isfinite(norm) && norm <= options.tolerance * start;
  if (result.converged || !std::isfinite(norm) || options.max_iterations <= 0)
    return result;

  double replaced = norm;  // norm at the last replacement
  double restarted = norm; // true norm at the last claim that failed
  int failed_claims = 0;   // since a claim gained a factor of two
  detail::StallWatch watch(options.stall_window);
  scaled.rescale(norm);
  double rescaled = 0; // by which the residual's scale grew since p was formed; 0: p is to start
  while (true) {
    const Array<Cycle, Exec> z = precondition(b);
    cg_angle(exec, r, z, scalars);
    cg_direction(exec, rescaled, z, p, scalars);
    rescaled = 1;
    apply(p, q);
    cg_curvature(exec, p, q, scalars);
    cg_step(exec, 1 / scaled.scale(), p, q, x, r, b, scalars);
    const CgScalars sums = read_scalars(exec, scalars);
    // Positivity is lost to rounding, or NaN: no step was taken.
    const bool broken = !(sums.pq > 0 && sums.rz > 0);
    bool stalled = false;
    if (!broken) {
      norm = std::sqrt(sums.norm2) / scaled.scale();
      ++result.iterations;
      result.relative_residual = norm / start;
      stalled = watch.stalls(norm);
      if (observe)
        observe(result.iterations, result.relative_residual);
    }
    const bool claim = norm <= options.tolerance * start || !std::isfinite(norm);
    const bool exhausted = result.iterations >= options.max_iterations;
    if (!claim && !exhausted && !broken && !stalled && norm > options.replacement * replaced)
      continue;

    const double recurrent = norm;
    norm = scaled.compute();
    result.true_relative_residual = norm / start;
    result.converged = norm <= options.tolerance * start;
    if (result.converged || exhausted || stalled || !std::isfinite(norm))
      return result;
    const bool agrees = !broken && norm <= 2 * recurrent;
    if (claim || !agrees) {
      const bool gained = norm < 0.5 * restarted;
      failed_claims = gained ? 0 : failed_claims + 1;
      if (!gained && (!agrees || failed_claims > 2))
        return result;
      restarted = std::min(restarted, norm);
    }
    replaced = norm;
    const double factor = scaled.rescale(norm);
    rescaled = agrees ? factor : 0;
  }
}

} // namespace ossatura
