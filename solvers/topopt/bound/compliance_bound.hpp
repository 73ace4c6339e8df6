// SPDX-License-Identifier: Apache-2.0
// ComplianceBound finds a number that the compliance of no design is below, and by it how far a
// design is from the best one at most.
//
// With load cases k of weights w_k, forces f_k and imposed displacements, the compliance is a
// maximum over all displacements u_k that supports and the case admit (analysis.hpp),
//   c(rho) = max_u  sum_k w_k (2 f_k . u_k - u_k . K(rho) u_k).
// SIMP with p >= 1 is nowhere stiffer than the linear law L(rho) = E_0 (e + (1 - e) rho), and
// filters, projections and processes choose among the densities from 0 to 1 of the volume V. So for
// ANY admissible u the compliance of EVERY design is at least
//   b(u) = 2 sum_k w_k f_k . u_k - max { sum_e L(rho_e) q_e : 0 <= rho <= 1, sum_e v_e rho_e <= V
//   },
// with q_e = sum_k w_k u_k . K_e u_k for a modulus of 1, and the maximum is a knapsack's
// (kernels/topopt/largest_energy.hpp). Where nothing is imposed t u is admissible, too, and the
// best t gives
//   b = (sum w f . u)^2 / max.
// Nowhere is u a solution of anything: what residual a solve has makes the bound no less valid,
// only lower.
//
// A good u is that of the best design of the linear law, the variable thickness sheet [1]. That
// problem is convex, its optimum is the largest b [2], and optimality criteria find it: the
// compliances of its designs fall to that optimum, and the bounds by their displacements rise to
// it.
//
// Rounding: sums have positive terms, in parts of few thousands, and energies are of differences of
// displacements; both are right to about 1e-12, and 1e-9 is taken off, as is what moduli are
// rounded by.
//
// [1] M. P. Rossow, J. E. Taylor. A finite element method for the optimal design of variable
//     thickness sheets. AIAA J. 11 (1973) 1566-1569, doi:10.2514/3.50631.
// [2] K. Svanberg. On the convexity and concavity of compliances. Struct. Optim. 7 (1994) 42-46,
//     doi:10.1007/BF01742502.
#pragma once

#include <ossatura/kernels/topopt/largest_energy.hpp>
#include <ossatura/solvers/topopt/analysis.hpp>
#include <ossatura/solvers/topopt/bound/options.hpp>
#include <ossatura/solvers/topopt/densities.hpp>

#include <functional>
#include <string>

namespace ossatura {

/// Why the compliance of a problem is given no bound, and empty where it is.
std::string describe_no_bound(const DesignProblem& problem, const DesignOptions& options);

template<class Exec>
class ComplianceBound {
public:
  using Vector = Array<double, Exec>;

  /// `law` is that of the design whose densities are there. All outlive it.
  ComplianceBound(const Exec& exec, const DesignOptions& options, const SimpLaw& law,
                  DesignBody<Exec>& body, DesignAnalysis<Exec>& analysis,
                  const DesignDensities<Exec>& densities);

  /// Steps until the bound is as good as the options ask, or goes_on() is false. Overwrites the
  /// moduli and displacements of the analysis. Fences.
  DesignBound find(const Exec& exec, const DesignBoundOptions& options,
                   const std::function<bool()>& goes_on);

private:
  void improve(const Exec& exec, DesignBound& bound);
  void redistribute(const Exec& exec);
  /// [num_elem], between solves, made where the body has room.
  Vector room(const Exec& exec, int which) const;

  DesignBody<Exec>& body_;
  DesignAnalysis<Exec>& analysis_;
  MaterialRoom<Exec> material_;
  double multiplier_tolerance_;
  Vector density_; ///< [num_elem] of the linear law
  Vector kept_;    ///< [3, num_elem] where the body has no room
};

} // namespace ossatura
