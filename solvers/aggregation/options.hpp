// SPDX-License-Identifier: Apache-2.0
// These options say how smoothed aggregation coarsens and smooths.
#pragma once

#include <ossatura/solvers/krylov/smoothing_weights.hpp>

namespace ossatura {

struct AggregationOptions {
  SmootherOptions smoother;   ///< on every level but the coarsest, scaled by blocks of the diagonal
  int coarse_degree = 4;      ///< its degree on coarse levels, where products cost little
  int max_coarse_dofs = 1000; ///< a level of at most as many is solved by its dense inverse
  int max_levels = 10;
  double prolongator_damping = 4.0 / 3; ///< omega of I - omega / lmax D^-1 A
  int lanczos_steps = 12;               ///< of the estimates of lmax
};

} // namespace ossatura
