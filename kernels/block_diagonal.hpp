// SPDX-License-Identifier: BSD-3-Clause
// The inverse of the block diagonal of the stiffness matrix, 3 x 3 for each node: what smoothers
// scale residuals with (BlockSmoothingStep).
#pragma once

#include "kernels/cell_grid.hpp"
#include "kernels/lame_field.hpp"
#include "kernels/node_update.hpp"
#include "kernels/voxel_element.hpp"

namespace femura {

namespace detail {

/// The inverse of the free part of a symmetric positive definite 3 x 3 block, zero rows and columns
/// at the bits of `held`. Both as xx, yy, zz, xy, yz, zx. Scaled first, so that determinants
/// neither overflow nor vanish.
KOKKOS_INLINE_FUNCTION void invert_block(const double (&block)[6], int held, double (&inverse)[6]) {
  const double scale = 1 / (block[0] + block[1] + block[2]);
  const bool free[3] = {!(held & 1), !(held & 2), !(held & 4)};
  double diagonal[3], off[3]; // off[c] couples c and c + 1; held components are decoupled
  for (int c = 0; c < 3; ++c) {
    diagonal[c] = free[c] ? scale * block[c] : 1;
    off[c] = free[c] && free[(c + 1) % 3] ? scale * block[3 + c] : 0;
  }
  double cofactor[6];
  for (int c = 0; c < 3; ++c) {
    const int d = (c + 1) % 3, e = (c + 2) % 3;
    cofactor[c] = diagonal[d] * diagonal[e] - off[d] * off[d];
    cofactor[3 + c] = off[d] * off[e] - off[c] * diagonal[e];
  }
  const double determinant =
      diagonal[0] * cofactor[0] + off[0] * cofactor[3] + off[2] * cofactor[5];
  for (int c = 0; c < 3; ++c) {
    inverse[c] = free[c] ? scale * cofactor[c] / determinant : 0;
    inverse[3 + c] = free[c] && free[(c + 1) % 3] ? scale * cofactor[3 + c] / determinant : 0;
  }
}

/// Adds the block of vertex v of a cube; `lambda` and `mu` times its edge.
KOKKOS_INLINE_FUNCTION void add_vertex_block(double lambda, double mu, int v, double (&block)[6]) {
  const VoxelStiffnessEntries<double> k(lambda, mu);
  for (int c = 0; c < 3; ++c) {
    block[c] += k(v, c, v, c);
    block[3 + c] += k(v, c, v, (c + 1) % 3);
  }
}

template<class Exec, class Scalar>
struct InvertCellBlocks {
  CellGrid<Exec> cells;
  double edge;
  Array<std::uint8_t, Exec> held;
  Array<Scalar, Exec> inverse;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    double block[6] = {0, 0, 0, 0, 0, 0}, inverted[6];
    for (int i = cells.node_begin(node); i < cells.node_begin(node + 1); ++i) {
      const int cell = cells.node_corner(i) / 8, v = cells.node_corner(i) % 8;
      add_vertex_block(edge * cells.lambda_scale * cells.lambda_value(cell),
                       edge * cells.mu_scale * cells.mu_value(cell), v, block);
    }
    invert_block(block, held(node), inverted);
    for (int k = 0; k < 6; ++k)
      inverse(6 * node + k) = Scalar(inverted[k]);
  }
};

template<class Exec, class Scalar>
struct InvertVoxelBlocks {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double edge;
  Array<std::uint8_t, Exec> held;
  Array<Scalar, Exec> inverse;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    double block[6] = {0, 0, 0, 0, 0, 0}, inverted[6];
    for (int v = 0; v < 8; ++v) {
      const int lowest = grid.find(s.x - (v & 1), s.y - (v >> 1 & 1), s.z - (v >> 2));
      if (lowest >= 0 && lame.solid(lowest))
        add_vertex_block(edge * lame.lambda(lowest), edge * lame.mu(lowest), v, block);
    }
    invert_block(block, held(node), inverted);
    for (int k = 0; k < 6; ++k)
      inverse(6 * node + k) = Scalar(inverted[k]);
  }
};

} // namespace detail

/// [6 num_nodes] inverse 3 x 3 blocks of the nodes' free components as xx, yy, zz, xy, yz, zx, zero
/// rows and columns where `held` (Constraints::mask). Worked out in double. `edge` in mm. Does not
/// fence.
template<class Scalar, class Exec>
Array<Scalar, Exec> make_inverse_diagonal_blocks(const Exec& exec, const CellGrid<Exec>& cells,
                                                 double edge,
                                                 const Array<std::uint8_t, Exec>& held) {
  const Array<Scalar, Exec> inverse =
      make_uninitialized<Scalar>(exec, 6 * std::int64_t(cells.num_nodes), "femura::inverse_blocks");
  Kokkos::parallel_for("femura::make_inverse_diagonal_blocks", range(exec, cells.num_nodes),
                       detail::InvertCellBlocks<Exec, Scalar>{cells, edge, held, inverse});
  return inverse;
}

/// The same for voxels.
template<class Scalar, class Exec>
Array<Scalar, Exec> make_inverse_diagonal_blocks(const Exec& exec, const VoxelGrid<Exec>& grid,
                                                 const LameField<Exec>& lame, double edge,
                                                 const Array<std::uint8_t, Exec>& held) {
  const Array<Scalar, Exec> inverse =
      make_uninitialized<Scalar>(exec, 6 * std::int64_t(grid.num_nodes), "femura::inverse_blocks");
  Kokkos::parallel_for("femura::make_inverse_diagonal_blocks", range(exec, grid.num_nodes),
                       detail::InvertVoxelBlocks<Exec, Scalar>{grid, lame, edge, held, inverse});
  return inverse;
}

} // namespace femura
