// SPDX-License-Identifier: Apache-2.0
// A cell grid is a coarse level of the voxel multigrid: congruent cubes with explicit corners, so
// that cells at one place may belong to parts of the structure that do not touch.
#pragma once

#include <ossatura/kernels/image/grid.hpp>

#include <type_traits>

namespace ossatura {

/// Nodes of a level of cells in patches of consecutive ones: patch p has the nodes
/// [begin(p), begin(p + 1)) and lists the cells with a node among them, each once, in the order of
/// their first node of the patch. Among the cells of `cell`, no two have a node of the
/// patch at the same corner; `late` are those that would. They lie where an earlier cell of the
/// patch lies, on split levels.
template<class Exec>
struct CellPatches {
  int num_patches = 0;
  int most_nodes = 1;                      ///< of a patch
  Array<int, Exec> begin;                  ///< [num_patches + 1] nodes
  Array<int, Exec> cell_begin, late_begin; ///< [num_patches + 1]
  Array<int, Exec> cell, late;
};

/// Cubes of one edge length. Several cells may lie at one place, and several nodes at one site; two
/// cells share a node only if their parts of the structure are connected there. Cells with
/// patches need node_begin and node_corner only until they are coarsened (drop_node_lists).
template<class Exec>
struct CellGrid {
  using exec_space = Exec;
  Kokkos::Array<int, 3> shape{}; ///< places along x, y, z
  int num_nodes = 0;
  int num_elem = 0;
  OwnedNodes owned;        ///< sums are for these; all, unless the image is cut
  Array<int, Exec> corner; ///< [8 num_elem] node of corner v of cell e at 8 e + v; v as in a voxel
  Array<std::uint64_t, Exec> place; ///< [num_elem] packed site of the lowest corner, in cell edges
  Array<int, Exec> node_begin;      ///< [num_nodes + 1] into node_corner
  Array<int, Exec> node_corner; ///< [8 num_elem] entries 8 e + v of `corner`, by node, ascending
  Array<float, Exec> lambda_value, mu_value; ///< [num_elem]; the same array for one Poisson ratio
  double lambda_scale = 1, mu_scale = 1;     ///< constants in MPa are scale times value
  CellPatches<Exec> patches;                 ///< for products and restriction; none on small levels
  /// Places repeat along all axes: the last has the first as its neighbour, and a cell may have one
  /// node at several corners.
  bool is_periodic = false;

  std::int64_t num_dofs() const { return 3 * std::int64_t(num_nodes); }
};

/// Frees what sums over cells do not use: 36 of some 90 bytes per cell.
template<class Exec>
void drop_node_lists(CellGrid<Exec>& cells) {
  if (cells.patches.num_patches > 0)
    cells.node_begin = cells.node_corner = {};
}

/// The map from the nodes of a finer level to the cells of a coarser one: a fine node interpolates
/// trilinearly from the corners of one cell. Other cells that contain it have the same nodes where
/// the weights are not zero.
template<class Exec>
struct CellTransfer {
  Array<int, Exec> parent; ///< [fine nodes] cell; on cores until drop_parents()
  Array<std::uint8_t, Exec>
      position; ///< [fine nodes] 0..26: x + 3 y + 9 z, each 0 (low), 1, 2 (high)

  /// The fine nodes of each cell. [cells] bit p is the fine node at position p, where nodes are
  /// found by their places (finds_fine_nodes); else those of cell e are fine_node(fine_begin(e)) ..
  /// fine_node(fine_begin(e + 1) - 1), ascending.
  Array<std::uint32_t, Exec> fine_mask;
  Array<int, Exec> fine_begin, fine_node;
};

/// Whether the fine nodes of a cell are found by their places: in a VoxelGrid by devices, which
/// have the operations to spare and want the memory. Cores take longer for it than for the rest.
template<class Exec, class FineGrid>
constexpr bool finds_fine_nodes = BackendTraits<Exec>::is_device &&
                                  (std::is_same_v<FineGrid, VoxelGrid<Exec>>);

/// Frees what transfers do not use: cores go by cells alone.
template<class Exec>
void drop_parents(CellTransfer<Exec>& transfer) {
  if (!BackendTraits<Exec>::is_device)
    transfer.parent = {};
}

} // namespace ossatura
