// SPDX-License-Identifier: Apache-2.0
// This file has options and report of the voxel multigrid, apart from its templates.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/core/parallel/launch_graph.hpp>
#include <ossatura/kernels/bone/cells/merge.hpp>
#include <ossatura/solvers/krylov/smoothing_weights.hpp>

#include <cstdint>

namespace ossatura {

enum class CoarseSolver {
  direct, ///< dense inverse, formed once
  cg      ///< Jacobi-preconditioned conjugate gradients, as ParOSol
};

constexpr Names<CoarseSolver> names_of(CoarseSolver) {
  return {{CoarseSolver::direct, "direct"}, {CoarseSolver::cg, "cg"}};
}

/// The way in which several cycles solve a level below the finest.
enum class Repetition {
  weighted, ///< as Chebyshev's iteration on it, for the spectrum of the cycle: the AMLI cycle of
            ///< O. Axelsson, P. Vassilevski, SIAM J. Numer. Anal. 27 (1990) 1569-1590
  smoothed  ///< each followed by smoothing on the level above: the W-cycle
};

struct MultigridOptions {
  Coarsening coarsening = Coarsening::split;
  SmootherOptions smoother;
  bool block_jacobi = true; ///< smoothers scale by the 3 x 3 blocks of the diagonal (the finest by
                            ///< their norms), else by the diagonal
  int coarse_degree = 3;    ///< of the smoothers below the finest level; 0: as there
  Repetition repetition = Repetition::weighted;
  int fine_cycles = 1;   ///< of level 1 for each on the finest level
  int coarse_cycles = 2; ///< of level l + 1 for each on level l > 0
  int max_levels = 32;
  int direct_nodes = 0;   ///< coarsening stops when a level has no more nodes than this; 0: the
                          ///< backend's default_direct_nodes
  int lanczos_steps = 12; ///< products spent on the largest eigenvalue of each level, unless the
                          ///< smoother scales by blocks: that has a bound
  int cycle_steps = 8; ///< cycles spent on the spectrum of the cycle on each level that repeats it
  CoarseSolver coarse_solver = CoarseSolver::direct;
  bool launch_graphs = true; ///< coarse levels as one launch, on backends that can
  bool renewable = false;    ///< keeps what VoxelSolver::renew needs: half a byte a voxel, about
  int resident_nodes = 0; ///< levels of up to so many nodes run as one kernel, which keeps them on
                          ///< chip, where that fits; 0: the backend's default_resident_nodes; -1:
                          ///< none do

  /// The cycle of P. Arbenz, C. Flaig, D. Kellenberger, J. Parallel Distrib. Comput. 74 (2014)
  /// 2941-2950, but for the direct solve.
  static MultigridOptions paper() {
    MultigridOptions options;
    options.coarsening = Coarsening::averaged;
    options.smoother.kind = SmootherKind::first_kind;
    options.smoother.degree = 10;
    options.coarse_degree = 0;
    options.block_jacobi = false;
    options.repetition = Repetition::smoothed;
    options.fine_cycles = 2;
    options.direct_nodes = 160;
    return options;
  }
};

/// Up to this many nodes a dense inverse is cheaper than another level, which costs launches on
/// devices and arithmetic elsewhere.
template<class Exec>
constexpr int default_direct_nodes = BackendTraits<Exec>::is_device ? 1500 : 400;

/// Levels of more nodes do not fit on a chip. Cores gain nothing.
template<class Exec>
constexpr int default_resident_nodes = BackendTraits<Exec>::is_device ? 150'000 : -1;

/// Sizes of one level, for reports.
struct MultigridLevelInfo {
  std::int64_t num_elem, num_nodes, num_held_dofs;
  double largest_eigenvalue; ///< of the Jacobi-scaled matrix; 0 on the coarsest level
  bool is_resident = false;  ///< runs on chip, with the levels below (resident_nodes)
};

} // namespace ossatura
