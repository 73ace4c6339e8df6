// SPDX-License-Identifier: Apache-2.0
// A ResidualMonitor decides after each step of conjugate gradients whether they go on. It believes
// convergence only of the true residual, b - A x computed afresh. Where the iteration has less
// precision than the solution, the true residual replaces that of the recurrence from time to
// time [1].
//
// [1] H. van der Vorst, Q. Ye. Residual replacement strategies for Krylov subspace iterative
//     methods for the convergence of true residuals. SIAM J. Sci. Comput. 22 (2000) 835-852,
//     doi:10.1137/S1064827599353865.
#pragma once

#include <ossatura/kernels/krylov/cg_steps.hpp>
#include <ossatura/kernels/krylov/vector_sums.hpp>
#include <ossatura/solvers/krylov/cg_options.hpp>
#include <ossatura/solvers/krylov/solve_result.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ossatura::detail {

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

/// The iteration stores the residual times a power of two, so that its norm is about 1: forces of
/// any size fit single precision. `Vectors` are CgVectors; `residual(x, scale, r)` sets
/// r = scale (b - A x).
template<class Exec, class Vectors, class Residual>
class ResidualMonitor {
  using Vector = typename decltype(Vectors::r)::value_type;

public:
  /// Computes r, and fills b with it unless the iteration is done already.
  ResidualMonitor(const Exec& exec, const CgOptions& options, const Residual& residual,
                  const Vectors& vectors, const IterationObserver& observe,
                  const VectorSums<Exec>& sums = {})
      : exec_(exec)
      , sums_(sums)
      , options_(options)
      , residual_(residual)
      , v_(vectors)
      , observe_(observe)
      , watch_(options.stall_window) {
    norm_ = compute_first();
    replaced_ = restarted_ = norm_;
    result_.reference = options.reference > 0 ? options.reference : norm_;
    // Not finite if the right-hand side or x is not, or too large to be squared.
    result_.residual = result_.recurrent_residual = norm_ == 0 ? 0 : norm_ / result_.reference;
    result_.converged = std::isfinite(norm_) && meets_tolerance();
    result_.broken = !std::isfinite(norm_);
    if (observe_)
      observe_(0, result_.recurrent_residual);
    done_ = result_.converged || result_.broken || options.max_iterations <= 0;
    if (!done_)
      rescale();
  }

  bool is_done() const { return done_; }
  const SolveResult& result() const { return result_; }
  /// By which the stored residual is larger than b - A x.
  double scale() const { return scale_; }
  /// By which the scale grew since p was formed; 0: p is to start from z alone.
  double growth() const { return growth_; }

  /// Takes the sums of a step. Calls the observer.
  void look(const CgScalars& sums) {
    growth_ = 1;
    // Positivity is lost to rounding, or NaN: no step was taken.
    const bool broken = !(sums.pq > 0 && sums.rz > 0);
    bool ends = false;
    if (!broken) {
      norm_ = std::sqrt(sums.norm2) / scale_;
      ++result_.iterations;
      result_.recurrent_residual = norm_ / result_.reference;
      ends = watch_.stalls(norm_);
      if (observe_)
        observe_(result_.iterations, result_.recurrent_residual);
    }
    ends = ends || result_.iterations >= options_.max_iterations;
    const bool claims = meets_tolerance() || !std::isfinite(norm_);
    if (claims || ends || broken || norm_ <= options_.replacement * replaced_)
      replace(claims, broken, ends);
  }

private:
  bool meets_tolerance() const { return norm_ <= options_.tolerance * result_.reference; }

  /// Replaces the recurrent residual by the true one, and ends where that converged, where the
  /// iteration `ends` anyway, or where it gains nothing.
  void replace(bool claims, bool broken, bool ends) {
    const double recurrent = norm_;
    norm_ = compute();
    result_.residual = norm_ / result_.reference;
    result_.converged = meets_tolerance();
    result_.broken = !result_.converged && (broken || !std::isfinite(norm_));
    const bool agrees = !broken && norm_ <= 2 * recurrent;
    done_ = result_.converged || ends || !std::isfinite(norm_) ||
            ((claims || !agrees) && !gains(agrees));
    if (done_)
      return;
    replaced_ = norm_;
    const double factor = rescale();
    growth_ = agrees ? factor : 0;
  }

  /// Whether the iteration may go on after a claim that was wrong, or from a residual with which
  /// the recurrence does not agree: each time a factor of two is gained, or else a few times.
  bool gains(bool agrees) {
    const bool gained = norm_ < 0.5 * restarted_;
    failed_claims_ = gained ? 0 : failed_claims_ + 1;
    restarted_ = std::min(restarted_, norm_);
    return gained || (agrees && failed_claims_ <= 2);
  }

  /// Stores the true residual in the present scale, and returns its norm.
  double compute() {
    residual_(v_.x, scale_, v_.r);
    return std::sqrt(sums_.dot(exec_, v_.r, v_.r)) / scale_;
  }

  /// For the first residual no scale is known.
  double compute_first() {
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

  /// Scales for the present norm, finite and positive, and fills b. Returns the growth.
  double rescale() {
    // The sum is split so that no power of two overflows before it is applied.
    const int present = std::ilogb(scale_), wanted = -std::ilogb(norm_);
    const double factor = std::ldexp(1.0, wanted - present);
    scale_residual(exec_, Vector(factor), v_.r, v_.b);
    scale_ = std::ldexp(1.0, wanted);
    return factor;
  }

  const Exec& exec_;
  const VectorSums<Exec> sums_;
  const CgOptions& options_;
  const Residual& residual_;
  const Vectors& v_;
  const IterationObserver& observe_;
  StallWatch watch_;
  SolveResult result_;
  bool done_ = false;
  double scale_ = 1, growth_ = 0;
  double norm_ = 0;       ///< |b - A x|, of the recurrence or true
  double replaced_ = 0;   ///< norm at the last replacement
  double restarted_ = 0;  ///< true norm at the last claim that failed
  int failed_claims_ = 0; ///< since a claim gained a factor of two
};

} // namespace ossatura::detail
