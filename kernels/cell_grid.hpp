// SPDX-License-Identifier: BSD-3-Clause
// A coarse level of the voxel multigrid: congruent cubes with explicit corners, so that cells at
// one place may belong to parts of the structure that do not touch.
#pragma once

#include "kernels/voxel_grid.hpp"

namespace femura {

/// Cubes of one edge length. Several cells may lie at one place, and several nodes at one site; two
/// cells share a node only if their parts of the structure are connected there.
template<class Exec>
struct CellGrid {
  using exec_space = Exec;
  Kokkos::Array<int, 3> shape{}; ///< places along x, y, z
  int num_nodes = 0;
  int num_elem = 0;
  Array<int, Exec> corner; ///< [8 num_elem] node of corner v of cell e at 8 e + v; v as in a voxel
  Array<std::uint64_t, Exec> place; ///< [num_elem] packed site of the lowest corner, in cell edges
  Array<int, Exec> node_begin;      ///< [num_nodes + 1] into node_corner
  Array<int, Exec> node_corner; ///< [8 num_elem] entries 8 e + v of `corner`, by node, ascending
  Array<float, Exec> lambda_value, mu_value; ///< [num_elem]; the same array for one Poisson ratio
  double lambda_scale = 1, mu_scale = 1;     ///< constants in MPa are scale times value

  std::int64_t num_dofs() const { return 3 * std::int64_t(num_nodes); }
};

/// How the nodes of a finer level hang on the cells of a coarser one: a fine node interpolates
/// trilinearly from the corners of one cell. Other cells that contain it have the same nodes where
/// the weights are not zero.
template<class Exec>
struct CellTransfer {
  Array<int, Exec> parent; ///< [fine nodes] cell
  Array<std::uint8_t, Exec>
      position; ///< [fine nodes] 0..26: x + 3 y + 9 z, each 0 (low), 1, 2 (high)

  /// Fine nodes of cell e: fine_node(fine_begin(e)) .. fine_node(fine_begin(e + 1) - 1), ascending.
  /// Both are empty where the finer level is a VoxelGrid, which finds nodes by their places.
  Array<int, Exec> fine_begin, fine_node;
};

} // namespace femura
