// SPDX-License-Identifier: Apache-2.0
// solve_with_fallback tries a fast form of a solve, such as one in single precision, before a safe
// one.
#pragma once

#include <ossatura/solvers/krylov/cg_options.hpp>
#include <ossatura/solvers/krylov/solve_result.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

/// Solves in the fast form and, where that does not converge although iterations are left, in the
/// safe one. `iterate(options, observe)` goes on from the present x and returns its SolveResult;
/// `fall_back(tried)` makes it the safe form, and x another where the fast form spoilt it. Both
/// forms share one reference, one tolerance and `options.max_iterations`. The fast form ends after
/// `first_iterations`: a preconditioner that rounding made indefinite may go on for ever without a
/// stall that is seen. An x that is not finite stays so: no form could go on from it.
template<class Iterate, class FallBack>
SolveResult solve_with_fallback(const CgOptions& options, int first_iterations,
                                const Iterate& iterate, const FallBack& fall_back,
                                const IterationObserver& observe) {
  CgOptions part = options;
  part.max_iterations = std::min(options.max_iterations, first_iterations);
  const SolveResult tried = iterate(part, observe);
  if (tried.converged || !std::isfinite(tried.residual) ||
      tried.iterations >= options.max_iterations)
    return tried;

  fall_back(tried);
  part.reference = tried.reference;
  part.max_iterations = options.max_iterations - tried.iterations;
  SolveResult result = iterate(part, [&](int iteration, double recurrent_residual) {
    if (observe && iteration > 0)
      observe(tried.iterations + iteration, recurrent_residual);
  });
  result.iterations += tried.iterations;
  result.fell_back = true;
  return result;
}

} // namespace ossatura
