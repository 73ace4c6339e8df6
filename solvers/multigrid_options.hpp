// SPDX-License-Identifier: BSD-3-Clause
// Options and report of the voxel multigrid, apart from its templates.
#pragma once

#include "core/launch_graph.hpp"
#include "kernels/cell_merge.hpp"
#include "solvers/smoothing_polynomial.hpp"

#include <cstdint>

namespace femura {

enum class CoarseSolver {
  direct, ///< dense inverse, formed once
  cg      ///< Jacobi-preconditioned conjugate gradients, as ParOSol
};

struct MultigridOptions {
  Coarsening coarsening = Coarsening::split;
  SmootherOptions smoother;
  bool block_jacobi = true; ///< smoothers scale by the 3 x 3 blocks of the diagonal (the finest by
                            ///< their norms), else by the diagonal
  int coarse_degree = 0;    ///< of the smoothers below the finest level; 0: as there
  int fine_cycles = 1;      ///< visits of level 1 per cycle on the finest level
  int coarse_cycles = 2;    ///< visits of level l + 1 per visit of level l > 0: 1 = V, 2 = W
  int repeated_levels = 0;  ///< coarse levels, from the top, that do so; deeper ones visit the next
                            ///< once; 0: the backend's default_repeated_levels
  int max_levels = 32;
  int direct_nodes = 0;   ///< coarsening stops when a level has no more nodes than this; 0: the
                          ///< backend's default_direct_nodes
  int lanczos_steps = 12; ///< products spent on the largest eigenvalue of each level
  CoarseSolver coarse_solver = CoarseSolver::direct;
  bool launch_graphs = true; ///< coarse levels as one launch, on backends that can

  /// The cycle of P. Arbenz, C. Flaig, D. Kellenberger, J. Parallel Distrib. Comput. 74 (2014)
  /// 2941-2950, but for the direct solve.
  static MultigridOptions paper() {
    MultigridOptions options;
    options.coarsening = Coarsening::averaged;
    options.smoother.kind = SmootherKind::first_kind;
    options.smoother.degree = 10;
    options.block_jacobi = false;
    options.fine_cycles = 2;
    options.repeated_levels = options.max_levels;
    options.direct_nodes = 160;
    return options;
  }
};

/// What the dense inverse of so many nodes costs to form and to apply is small against what
/// further levels cost: on devices in launches, elsewhere in arithmetic.
template<class Exec>
constexpr int default_direct_nodes = BackendTraits<Exec>::is_device ? 1000 : 400;

/// Each level of a W-cycle has twice the visits of the one above. On devices a small level costs
/// launches and dependent steps, not arithmetic, so that deep ones would take as long as the
/// voxels.
template<class Exec>
constexpr int default_repeated_levels = BackendTraits<Exec>::is_device ? 3 : 32;

/// What one level looks like, for reports.
struct MultigridLevelInfo {
  std::int64_t num_elem, num_nodes, num_held_dofs;
  double largest_eigenvalue; ///< of the Jacobi-scaled matrix; 0 on the coarsest level
};

} // namespace femura
