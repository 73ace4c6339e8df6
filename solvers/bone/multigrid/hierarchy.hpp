// SPDX-License-Identifier: Apache-2.0
// The hierarchy holds the levels of a voxel model without matrices and vectors, so that all
// precisions share the levels.
#pragma once

#include <ossatura/kernels/bone/cells/coarsen.hpp>
#include <ossatura/kernels/bone/cells/transfer.hpp>
#include <ossatura/kernels/bone/eigenvalue_bound.hpp>
#include <ossatura/solvers/bone/multigrid/options.hpp>

#include <vector>

namespace ossatura {

/// A level of cells below a finer one.
template<class Exec>
struct CoarseLevel {
  CellGrid<Exec> cells;
  CellTransfer<Exec> transfer; ///< to the next finer level
  Constraints<Exec> held;
  double edge; ///< of a cell, in mm
};

/// Voxels and the levels of cells below them, the coarsest last.
template<class Exec>
struct VoxelHierarchy {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  Constraints<Exec> held;
  double edge = 1;             ///< of a voxel, in mm
  double eigenvalue_bound = 0; ///< of every level, its matrix scaled by 3 x 3 blocks
  std::vector<CoarseLevel<Exec>> coarse;
};

namespace detail {

template<class Exec, class Grid>
bool is_coarsest(const Grid& grid, const Constraints<Exec>& held, int direct_nodes) {
  return grid.num_nodes <= direct_nodes || held.num_dofs == grid.num_dofs() ||
         (grid.shape[0] == 1 && grid.shape[1] == 1 && grid.shape[2] == 1);
}

template<class Exec, class Grid>
CoarseLevel<Exec> make_coarse_level(const Exec& exec, const Grid& fine,
                                    const Constraints<Exec>& fine_held, double fine_edge,
                                    const CoarseCells<Exec>& coarse) {
  return {coarse.cells, coarse.transfer,
          coarsen_held(exec, coarse.transfer, fine, coarse.cells, fine_held.mask), 2 * fine_edge};
}

} // namespace detail

/// Coarsens until a level has no more than `direct_nodes` nodes, nothing free or one place. Parts
/// of the structure that lie apart stay apart when split, however small: a level that would be
/// hardly smaller for that is averaged. Fences.
template<class Exec>
VoxelHierarchy<Exec>
make_voxel_hierarchy(const Exec& exec, const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                     const Constraints<Exec>& held, double edge, const MultigridOptions& options) {
  const int direct_nodes =
      options.direct_nodes > 0 ? options.direct_nodes : default_direct_nodes<Exec>;
  VoxelHierarchy<Exec> hierarchy{grid, lame, held, edge, bound_scaled_eigenvalue(exec, lame), {}};
  if (options.max_levels < 2 || detail::is_coarsest(grid, held, direct_nodes))
    return hierarchy;
  hierarchy.coarse.push_back(detail::make_coarse_level(
      exec, grid, held, edge, coarsen_cells(exec, grid, lame, options.coarsening)));
  while (int(hierarchy.coarse.size()) + 1 < options.max_levels) {
    const CoarseLevel<Exec> fine = hierarchy.coarse.back();
    if (detail::is_coarsest(fine.cells, fine.held, direct_nodes))
      break;
    CoarseCells<Exec> coarse = coarsen_cells(exec, fine.cells, options.coarsening);
    if (options.coarsening == Coarsening::split &&
        coarse.cells.num_nodes > 0.8 * fine.cells.num_nodes)
      coarse = coarsen_cells(exec, fine.cells, Coarsening::averaged);
    hierarchy.coarse.push_back(
        detail::make_coarse_level(exec, fine.cells, fine.held, fine.edge, coarse));
  }
  for (CoarseLevel<Exec>& level : hierarchy.coarse) {
    drop_node_lists(level.cells);
    drop_parents(level.transfer);
  }
  return hierarchy;
}

} // namespace ossatura
