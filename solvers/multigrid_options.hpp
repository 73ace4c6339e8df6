// SPDX-License-Identifier: BSD-3-Clause
// Options and report of the voxel multigrid, apart from its templates.
#pragma once

#include "solvers/chebyshev.hpp"

#include <cstdint>

namespace femura {

enum class CoarseSolver {
  direct, ///< dense inverse, formed once
  cg      ///< Jacobi-preconditioned conjugate gradients, as ParOSol
};

struct MultigridOptions {
  ChebyshevOptions smoother;
  int fine_cycles = 2;   ///< visits of level 1 per cycle on the finest level
  int coarse_cycles = 2; ///< visits of level l + 1 per visit of level l > 0: 1 = V, 2 = W
  int max_levels = 32;
  int direct_nodes = 160; ///< coarsening stops when a level has no more nodes than this
  int lanczos_steps = 12; ///< products spent on the largest eigenvalue of each level
  CoarseSolver coarse_solver = CoarseSolver::direct;
};

/// What one level looks like, for reports.
struct MultigridLevelInfo {
  std::int64_t num_elem, num_nodes, num_held_dofs;
  double largest_eigenvalue; ///< of D^-1 A; 0 on the coarsest level
};

} // namespace femura
