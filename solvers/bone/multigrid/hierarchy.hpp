// SPDX-License-Identifier: Apache-2.0
// The hierarchy holds the levels of a voxel model without matrices and vectors, so that all
// precisions share the levels.
#pragma once

#include <ossatura/kernels/algebra/ranks/halo.hpp>
#include <ossatura/kernels/bone/cells/coarsen.hpp>
#include <ossatura/kernels/bone/cells/renew.hpp>
#include <ossatura/kernels/bone/cells/transfer.hpp>
#include <ossatura/kernels/bone/eigenvalue_bound.hpp>
#include <ossatura/solvers/bone/multigrid/options.hpp>

#include <cmath>
#include <vector>

namespace ossatura {

/// The part of a process of a level: all of it, unless the model is cut among processes.
template<class Exec>
struct LevelShare {
  bool is_everywhere = true;    ///< every process has all of the level
  OwnedNodes nodes;             ///< to which this process restricts
  HaloPlan<Exec> plan;          ///< of ghosts, where not everywhere, or of a unit cell
  std::vector<int> group_begin; ///< [groups + 1] nodes with which sums by groups begin
  std::int64_t num_elem = 0, num_nodes = 0, num_held_dofs = 0; ///< of all processes
};

/// A level of cells below a finer one.
template<class Exec>
struct CoarseLevel {
  CellGrid<Exec> cells;
  CellTransfer<Exec> transfer; ///< to the next finer level
  Constraints<Exec> held;
  double edge; ///< of a cell, in mm
  LevelShare<Exec> share;
  InverseMap<Exec> children{}; ///< cells of the next finer level, where they are kept
  HaloPlan<Exec> cell_plan{};  ///< of cells that other processes join, where they are kept
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
  LevelShare<Exec> share; ///< of the voxels
  bool is_cut = false;    ///< among the processes of `comm`
  DeviceComm<Exec> comm;

  /// Whether the voxels are those of a unit cell (periodic_hierarchy.hpp).
  bool is_periodic() const { return share.plan.ghost.extent(0) > 0; }
};

namespace detail {

/// A split level that would have more of the nodes of the finer one is averaged.
constexpr double most_split_nodes = 0.8;

template<class Exec, class Grid>
bool is_coarsest(const Grid& grid, const Constraints<Exec>& held, int direct_nodes) {
  return grid.num_nodes <= direct_nodes || held.num_dofs == grid.num_dofs() ||
         (grid.shape[0] == 1 && grid.shape[1] == 1 && grid.shape[2] == 1);
}

/// All of a level.
template<class Exec, class Grid>
LevelShare<Exec> share_all(const Grid& grid, const Constraints<Exec>& held) {
  return {true,          own_all(grid.num_nodes), {},           {0, grid.num_nodes},
          grid.num_elem, grid.num_nodes,          held.num_dofs};
}

template<class Exec, class Grid>
CoarseLevel<Exec> make_coarse_level(const Exec& exec, const Grid& fine,
                                    const Constraints<Exec>& fine_held, double fine_edge,
                                    const CoarseCells<Exec>& coarse) {
  const Constraints<Exec> held =
      coarsen_held(exec, coarse.transfer, fine, coarse.cells, fine_held.mask);
  return {coarse.cells, coarse.transfer, held, 2 * fine_edge, share_all(coarse.cells, held)};
}

/// A coarsest level that has more nodes because levels are too few is refused: its dense inverse
/// takes minutes, and a level more milliseconds.
constexpr std::int64_t most_inverted_nodes = 1500;

template<class Exec>
void require_invertible(const VoxelHierarchy<Exec>& hierarchy, const MultigridOptions& options,
                        int direct_nodes) {
  const CoarseLevel<Exec>& last = hierarchy.coarse.back();
  const std::int64_t n = last.cells.num_nodes;
  if (options.coarse_solver != CoarseSolver::direct || n <= most_inverted_nodes ||
      is_coarsest(last.cells, last.held, direct_nodes))
    return;
  const double gigabytes = 9 * double(n) * double(n) * sizeof(double) / 1e9;
  fail<UsageError>("the coarsest of ", options.max_levels, " levels has ", n,
                   " nodes, whose dense inverse would take ", std::ceil(10 * gigabytes) / 10,
                   " GB and minutes: allow more levels, or use the cg coarse solver");
}

/// Adds levels below the last, which every process has, as make_voxel_hierarchy says.
template<class Exec>
void add_coarser_levels(const Exec& exec, const MultigridOptions& options,
                        VoxelHierarchy<Exec>& hierarchy) {
  const int direct_nodes =
      options.direct_nodes > 0 ? options.direct_nodes : default_direct_nodes<Exec>;
  while (int(hierarchy.coarse.size()) + 1 < options.max_levels) {
    const CoarseLevel<Exec> fine = hierarchy.coarse.back();
    if (is_coarsest(fine.cells, fine.held, direct_nodes))
      break;
    CoarseCells<Exec> coarse = coarsen_cells(exec, fine.cells, options.coarsening);
    if (options.coarsening == Coarsening::split &&
        coarse.cells.num_nodes > most_split_nodes * fine.cells.num_nodes)
      coarse = coarsen_cells(exec, fine.cells, Coarsening::averaged);
    hierarchy.coarse.push_back(make_coarse_level(exec, fine.cells, fine.held, fine.edge, coarse));
    if (options.renewable)
      hierarchy.coarse.back().children =
          list_children(exec, fine.cells, coarse.transfer, coarse.cells.num_elem);
  }
  require_invertible(hierarchy, options, direct_nodes);
  for (CoarseLevel<Exec>& level : hierarchy.coarse) {
    drop_node_lists(level.cells);
    drop_parents(level.transfer);
  }
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
  VoxelHierarchy<Exec> hierarchy{grid, lame, held,  edge, bound_scaled_eigenvalue(exec, lame),
                                 {},   {},   false, {}};
  hierarchy.share = detail::share_all(grid, held);
  if (options.max_levels < 2 || detail::is_coarsest(grid, held, direct_nodes))
    return hierarchy;
  hierarchy.coarse.push_back(detail::make_coarse_level(
      exec, grid, held, edge, coarsen_cells(exec, grid, lame, options.coarsening)));
  detail::add_coarser_levels(exec, options, hierarchy);
  return hierarchy;
}

namespace detail {

/// The constants of cells that other processes have joined become theirs. By all processes. Does
/// not fence but as Halo::exchange.
template<class Exec>
void exchange_means(const Exec& exec, const DeviceComm<Exec>& comm,
                    const CoarseLevel<Exec>& level) {
  const Halo<Exec, float> halo(exec, comm, level.cell_plan, 1);
  halo.exchange(exec, level.cells.mu_value);
  if (level.cells.lambda_value.data() != level.cells.mu_value.data())
    halo.exchange(exec, level.cells.lambda_value);
  fence(exec, "ossatura::exchange_means"); // before the buffer goes
}

} // namespace detail

/// After other moduli were written to the arrays of hierarchy.lame: means of the cells of all
/// levels and the bound of their spectra are what make_voxel_hierarchy would make of them, or
/// make_cut_hierarchy, to the bit. The hierarchy was made to be renewable. Called by all processes
/// of a cut. Fences.
template<class Exec>
void renew_means(const Exec& exec, VoxelHierarchy<Exec>& hierarchy) {
  hierarchy.eigenvalue_bound =
      hierarchy.comm.communicator().max(bound_scaled_eigenvalue(exec, hierarchy.lame));
  bool is_finer_cut = hierarchy.is_cut;
  for (std::size_t l = 0; l < hierarchy.coarse.size(); ++l) {
    const CoarseLevel<Exec>& level = hierarchy.coarse[l];
    if (l == 0)
      renew_cells(exec, hierarchy.grid, hierarchy.lame, level.cells);
    else
      renew_cells(exec, hierarchy.coarse[l - 1].cells, level.children, level.cells);
    if (is_finer_cut)
      detail::exchange_means(exec, hierarchy.comm, level);
    is_finer_cut = is_finer_cut && !level.share.is_everywhere;
  }
}

} // namespace ossatura
