// SPDX-License-Identifier: Apache-2.0
// The hierarchy of a unit cell, the image of which repeats without end. The voxels have a rim,
// whose nodes are held and get the values of what they copy before each product; coarse levels are
// periodic grids of cells, where nothing is held. The matrices of all levels are semidefinite:
// their null spaces hold translations at least. Loads of a unit cell have no part there.
#pragma once

#include <ossatura/kernels/bone/cells/coarsen_unit_cell.hpp>
#include <ossatura/solvers/bone/multigrid/cut_hierarchy.hpp>

namespace ossatura {

/// As make_voxel_hierarchy, of a `grid` with a rim, whose ghosts are what `held` holds. There is a
/// coarse level, however small the cell is. Throws UsageError where `options` do not allow that.
/// Fences.
template<class Exec>
VoxelHierarchy<Exec>
make_periodic_hierarchy(const Exec& exec, const PeriodicRim<Exec>& rim, const VoxelGrid<Exec>& grid,
                        const LameField<Exec>& lame, const Constraints<Exec>& held, double edge,
                        const MultigridOptions& options) {
  if (options.max_levels < 2)
    fail<UsageError>("a periodic unit cell needs two levels at least: allow more");
  if (!can_be_cut(options))
    fail<UsageError>("the cycle of a periodic unit cell scales by blocks and solves its coarsest "
                     "level directly: choose that");
  VoxelHierarchy<Exec> hierarchy{grid, lame, held,  edge, bound_scaled_eigenvalue(exec, lame),
                                 {},   {},   false, {}};
  const std::int64_t num_nodes = grid.num_nodes - std::int64_t(rim.plan.ghost.extent(0));
  const CoarseCells<Exec> coarse = coarsen_unit_cell(exec, grid, rim, lame, options.coarsening);
  const Constraints<Exec> none = make_constraints(
      exec, make_zeros<std::uint8_t>(exec, coarse.cells.num_nodes, "ossatura::held_mask"));
  hierarchy.share = detail::share_all(grid, held);
  hierarchy.share.plan = rim.plan;
  hierarchy.share.num_elem = list_voxels_of_cell(exec, grid, rim, lame).extent(0);
  hierarchy.share.num_nodes = num_nodes;
  hierarchy.share.num_held_dofs = 0;
  hierarchy.coarse.push_back(
      {coarse.cells, coarse.transfer, none, 2 * edge, detail::share_all(coarse.cells, none)});
  detail::add_coarser_levels(exec, options, hierarchy);
  return hierarchy;
}

} // namespace ossatura
