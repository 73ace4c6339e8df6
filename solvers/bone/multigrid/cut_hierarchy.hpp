// SPDX-License-Identifier: Apache-2.0
// The hierarchy of a voxel model that is cut among processes: levels are cut as the voxels are
// until superblocks are places, and every process has all of the levels from there on.
#pragma once

#include <ossatura/core/comm/together.hpp>
#include <ossatura/kernels/algebra/ranks/owned_entries.hpp>
#include <ossatura/kernels/bone/cells/cut_cells.hpp>
#include <ossatura/kernels/bone/local_material.hpp>
#include <ossatura/kernels/image/voxel_ranks.hpp>
#include <ossatura/solvers/bone/multigrid/hierarchy.hpp>

#include <type_traits>

namespace ossatura {

namespace detail {

template<class Exec, class FineGrid>
CoarseLevel<Exec> make_cut_level(const Exec& exec, const VoxelRanks<Exec>& ranks,
                                 const FineGrid& fine, const Array<std::uint8_t, Exec>& fine_held,
                                 double fine_edge, const CutCells<Exec>& cut, bool renewable) {
  const DeviceComm<Exec>& comm = ranks.comm;
  CoarseLevel<Exec> level{
      cut.cells, cut.transfer, coarsen_held(exec, comm, cut, fine, fine_held), 2 * fine_edge, {}};
  level.share = {cut.is_everywhere,
                 cut.share,
                 cut.plan,
                 cut.group_begin,
                 cut.num_elem,
                 cut.cells.owned.global_count,
                 0};
  level.share.num_held_dofs =
      count_held_dofs(exec, comm.communicator(), cut.share, level.held.mask);
  if (renewable) {
    if constexpr (std::is_same_v<FineGrid, CellGrid<Exec>>) // voxels are found by their places
      level.children = list_children(exec, fine, cut.transfer, cut.cells.num_elem);
    level.cell_plan = make_cell_plan(exec, comm.communicator(), ranks.cut, cut);
  }
  return level;
}

} // namespace detail

/// Whether the levels of a cut model can have such a cycle.
inline bool can_be_cut(const MultigridOptions& options) {
  return options.block_jacobi && options.coarse_solver == CoarseSolver::direct;
}

/// As make_voxel_hierarchy, from what this process sees: `grid` is local, `held` has the components
/// of ghosts, too. Called by all processes. Throws UsageError where `options` do not allow a cut.
/// Fences.
template<class Exec>
VoxelHierarchy<Exec> make_cut_hierarchy(const Exec& exec, const VoxelRanks<Exec>& ranks,
                                        const VoxelGrid<Exec>& grid, const LameField<Exec>& lame,
                                        const Constraints<Exec>& held, double edge,
                                        const MultigridOptions& options) {
  const Communicator& comm = ranks.comm.communicator();
  together(comm, [&] { // all find the same, and one says it
    if (options.max_levels <= ranks.cut.bits)
      fail<UsageError>("a model that is cut among processes in blocks of 2^", ranks.cut.bits,
                       " voxels a side has more than ", options.max_levels,
                       " levels: allow more, or run in one process");
    if (!can_be_cut(options))
      fail<UsageError>("the cycle of a model that is cut among processes scales by blocks and "
                       "solves its coarsest level directly: choose that, or run in one process");
  });
  VoxelHierarchy<Exec> hierarchy{
      grid, lame, held, edge,      comm.max(bound_scaled_eigenvalue(exec, lame)),
      {},   {},   true, ranks.comm};
  CutCells<Exec> fine =
      coarsen_cells(exec, comm, ranks.cut, ranks.table, grid, lame, options.coarsening);
  hierarchy.share = {false,
                     grid.owned,
                     ranks.plan,
                     find_groups(exec, ranks, grid),
                     count_owned_voxels(exec, comm, grid, lame),
                     grid.owned.global_count,
                     count_held_dofs(exec, comm, grid.owned, held.mask)};
  hierarchy.coarse.push_back(
      detail::make_cut_level(exec, ranks, grid, held.mask, edge, fine, options.renewable));
  for (int l = 2; l <= ranks.cut.bits; ++l) {
    const CoarseLevel<Exec> above = hierarchy.coarse.back();
    CutCells<Exec> level =
        coarsen_cells(exec, comm, ranks.cut, ranks.table, l, fine, options.coarsening);
    if (options.coarsening == Coarsening::split &&
        double(level.cells.owned.global_count) >
            detail::most_split_nodes * double(above.share.num_nodes))
      level = coarsen_cells(exec, comm, ranks.cut, ranks.table, l, fine, Coarsening::averaged);
    hierarchy.coarse.push_back(detail::make_cut_level(exec, ranks, above.cells, above.held.mask,
                                                      above.edge, level, options.renewable));
    fine = level;
  }
  detail::add_coarser_levels(exec, options, hierarchy);
  return hierarchy;
}

} // namespace ossatura
