// SPDX-License-Identifier: Apache-2.0
// Merging ends a coarsening step: corners of cells become nodes.
#pragma once

#include <ossatura/kernels/algebra/sparse/inverse_map.hpp>
#include <ossatura/kernels/algebra/union_find.hpp>
#include <ossatura/kernels/bone/cells/patches.hpp>

#include <limits>

namespace ossatura {

/// A coarsening makes cells and nodes of a coarser level from 2 x 2 x 2 voxels or cells of the
/// finer level.
enum class Coarsening {
  averaged, ///< one cell per place, one node per site [1]: parts that do not touch are glued
  split     ///< a cell and a node for each part that is connected [2]
};

/// A coarser level and how the finer one hangs on it.
template<class Exec>
struct CoarseCells {
  CellGrid<Exec> cells;
  CellTransfer<Exec> transfer;
};

namespace detail {

/// Merges the corners that cell `other`, `step` places away from `cell`, has in common with it.
/// `slot`: union-find over the corners, 8 cell + v.
KOKKOS_INLINE_FUNCTION void merge_common_corners(int* slot, int cell, int other, const Site& step) {
  const int shift[3] = {step.x, step.y, step.z};
  for (int v = 0; v < 8; ++v) {
    int w = 0; // the corner of `other` at corner v of `cell`
    bool common = true;
    for (int d = 0; d < 3; ++d) {
      const int coordinate = (v >> d & 1) - shift[d];
      common = common && coordinate >= 0 && coordinate <= 1;
      w |= (coordinate & 1) << d;
    }
    if (common)
      unite(slot, 8 * cell + v, 8 * other + w);
  }
}

/// Space for num_elem cells, their corners not merged. Lame's arrays: one if `uniform`.
template<class Exec>
CellGrid<Exec> make_cells(const Exec& exec, std::int64_t num_elem, bool uniform) {
  OSSATURA_REQUIRE(8 * num_elem <= std::numeric_limits<int>::max(),
                   num_elem << " coarse cells have more corners than 32-bit numbers hold");
  CellGrid<Exec> cells;
  cells.num_elem = int(num_elem);
  cells.corner = make_singletons(exec, 8 * num_elem, "ossatura::cells::corner");
  cells.place = make_uninitialized<std::uint64_t>(exec, num_elem, "ossatura::cells::place");
  cells.mu_value = make_uninitialized<float>(exec, num_elem, "ossatura::cells::mu");
  cells.lambda_value = uniform
                           ? cells.mu_value
                           : make_uninitialized<float>(exec, num_elem, "ossatura::cells::lambda");
  return cells;
}

/// Lists the fine nodes of each cell by their parents. Does not fence.
template<class Exec>
void list_fine_nodes(const Exec& exec, std::int64_t num_cells, CellTransfer<Exec>& transfer) {
  const InverseMap<Exec> nodes = invert_map(exec, transfer.parent, num_cells);
  transfer.fine_begin = nodes.begin;
  transfer.fine_node = nodes.member;
}

/// Up to how many nodes a level is summed node by node: as many as keep a device less than busy.
template<class Exec>
constexpr int most_nodes_without_patches = BackendTraits<Exec>::is_device ? 30'000 : 0;

/// Lists the corners of each node of cells whose corners are nodes.
template<class Exec>
void list_node_corners(const Exec& exec, CellGrid<Exec>& cells) {
  const InverseMap<Exec> inverse = invert_map(exec, cells.corner, cells.num_nodes);
  cells.node_begin = inverse.begin;
  cells.node_corner = inverse.member;
}

/// Makes the merged corners of cells nodes, numbered in the order of the cells, all owned; lists
/// the corners of each, and cuts the nodes of large levels into patches.
template<class Exec>
void finish_cells(const Exec& exec, CellGrid<Exec>& cells) {
  cells.num_nodes = number_sets(exec, cells.corner);
  cells.owned = own_all(cells.num_nodes);
  list_node_corners(exec, cells);
  if (cells.num_nodes > most_nodes_without_patches<Exec>)
    cells.patches = make_cell_patches(exec, cells, choose_patch_nodes<Exec>(cells.num_nodes));
}

} // namespace detail
} // namespace ossatura
