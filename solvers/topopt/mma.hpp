// SPDX-License-Identifier: Apache-2.0
// The method of moving asymptotes [1] minimises f(x) under few constraints g_j(x) <= 0 and bounds
// on many variables x, step by step: the caller evaluates f and g with their gradients at x, and a
// step gives the next x. An interior point method [2] solves the convex separable subproblem in its
// dual; constraints that cannot be met at once are relaxed at a cost.
//
// [1] K. Svanberg. The method of moving asymptotes: a new method for structural optimization. Int.
//     J. Numer. Methods Eng. 24 (1987) 359-373, doi:10.1002/nme.1620240207.
// [2] N. Aage, B. Lazarov. Parallel framework for topology optimization using the method of moving
//     asymptotes. Struct. Multidiscip. Optim. 47 (2013) 493-505, doi:10.1007/s00158-012-0869-2.
#pragma once

#include <ossatura/kernels/topopt/mma_terms.hpp>

#include <vector>

namespace ossatura {

struct MmaOptions {
  double first = 0.5;            ///< distance of the first asymptotes, of the width of the bounds
  double shrink = 0.7;           ///< of the distance where a variable turns back
  double grow = 1.2;             ///< where it goes on
  double relaxation_cost = 1000; ///< a multiplier from which on constraints give way
};

/// The history on which a step depends.
template<class Exec>
struct MmaHistory {
  int steps = 0;
  Array<double, Exec> x_old, x_older; ///< [n] designs of the last two steps
  Array<double, Exec> low, high;      ///< [n] asymptotes of the last step
};

template<class Exec>
class Mma {
public:
  /// n variables, up to max_mma_constraints constraints. Does not fence.
  Mma(const Exec& exec, std::int64_t n, int num_constraints, const MmaOptions& options = {});

  /// The next x for f of gradient scale * df [n], values g [num_constraints], gradients dg
  /// [num_constraints, n] and bounds, which may be other ones each step; lower = upper holds a
  /// variable. x_new aliases none. Returns the multipliers of the constraints, NaN where numbers
  /// are not finite. The history stays until `accept`. Fences.
  std::vector<double> propose(const Exec& exec, const Array<double, Exec>& x, double scale,
                              const Array<double, Exec>& df, const std::vector<double>& g,
                              const Array<double, Exec>& dg, const Array<double, Exec>& lower,
                              const Array<double, Exec>& upper, const Array<double, Exec>& x_new);

  /// Makes the last proposal, made from x, part of the history. Does not fence.
  void accept(const Exec& exec, const Array<double, Exec>& x);

  /// To be written to for a resumed run.
  MmaHistory<Exec>& history() { return history_; }
  const MmaHistory<Exec>& history() const { return history_; }

private:
  MmaOptions options_;
  int num_constraints_;
  MmaHistory<Exec> history_;
  Array<double, Exec> low_, high_; ///< of the proposal
};

} // namespace ossatura
