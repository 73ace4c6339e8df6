// SPDX-License-Identifier: Apache-2.0
// These kernels invert the block diagonal of the stiffness matrix of voxels or cells, 3 x 3 for
// each node. Smoothers scale residuals with the inverse blocks (BlockSmoothingStep).
#pragma once

#include <ossatura/kernels/algebra/dense/invert_block.hpp>
#include <ossatura/kernels/bone/cells/sums.hpp>
#include <ossatura/kernels/bone/element.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>

namespace ossatura {

namespace detail {

/// Adds the block of vertex v of a cube; `lambda` and `mu` times its edge.
KOKKOS_INLINE_FUNCTION void add_vertex_block(double lambda, double mu, int v, double (&block)[6]) {
  const VoxelStiffnessEntries<double> k(lambda, mu);
  for (int c = 0; c < 3; ++c) {
    block[c] += k(v, c, v, c);
    block[3 + c] += k(v, c, v, (c + 1) % 3);
  }
}

/// The contribution of a cell to the blocks of its corners: xx, yy, zz, or xy, yz, zx.
template<class Exec, class Scalar>
struct CellBlocks {
  Array<float, Exec> lambda, mu;
  double lambda_scale, mu_scale; ///< times the edge
  int first;                     ///< 0 or 3

  KOKKOS_FUNCTION void add_corner(int cell, const int*, int v, Scalar (&sum)[3]) const {
    double block[6] = {0, 0, 0, 0, 0, 0};
    add_vertex_block(lambda_scale * lambda(cell), mu_scale * mu(cell), v, block);
    for (int c = 0; c < 3; ++c)
      sum[c] += Scalar(first == 0 ? block[c] : block[3 + c]);
  }
  KOKKOS_FUNCTION void operator()(int cell, const int (&node)[8], Scalar (&u)[24]) const {
    for (int v = 0; v < 8; ++v) {
      Scalar sum[3] = {0, 0, 0};
      add_corner(cell, node, v, sum);
      for (int c = 0; c < 3; ++c)
        u[3 * v + c] = sum[c];
    }
  }
};

template<class Exec, class Scalar>
struct StoreBlockEntries {
  int first;
  Array<Scalar, Exec> blocks;

  KOKKOS_FUNCTION void operator()(int node, const Scalar (&sum)[3]) const {
    for (int c = 0; c < 3; ++c)
      blocks(6 * std::int64_t(node) + first + c) = sum[c];
  }
};

template<class Exec, class Scalar>
struct InvertBlocks {
  Array<std::uint8_t, Exec> held;
  Array<Scalar, Exec> blocks;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    double block[6], inverse[6];
    for (int k = 0; k < 6; ++k)
      block[k] = blocks(6 * node + k);
    invert_block(block, held(node), inverse);
    for (int k = 0; k < 6; ++k)
      blocks(6 * node + k) = Scalar(inverse[k]);
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
/// rows and columns where `held` (Constraints::mask), zero at ghosts. `edge` in mm. Does not fence.
template<class Scalar, class Exec>
Array<Scalar, Exec> make_inverse_diagonal_blocks(const Exec& exec, const CellGrid<Exec>& cells,
                                                 double edge,
                                                 const Array<std::uint8_t, Exec>& held) {
  const Array<Scalar, Exec> inverse =
      make_zeros<Scalar>(exec, 6 * std::int64_t(cells.num_nodes), "ossatura::inverse_blocks");
  for (int first : {0, 3})
    sum_over_cells<Scalar>(exec, "ossatura::make_inverse_diagonal_blocks::sum", cells,
                           detail::CellBlocks<Exec, Scalar>{cells.lambda_value, cells.mu_value,
                                                            edge * cells.lambda_scale,
                                                            edge * cells.mu_scale, first},
                           detail::StoreBlockEntries<Exec, Scalar>{first, inverse});
  const OwnedNodes& owned = cells.owned;
  Kokkos::parallel_for(
      "ossatura::make_inverse_diagonal_blocks", range(exec, owned.count()),
      detail::InvertBlocks<Exec, Scalar>{
          Array<std::uint8_t, Exec>(held.data() + owned.begin, std::size_t(owned.count())),
          Array<Scalar, Exec>(inverse.data() + 6 * std::int64_t(owned.begin),
                              6 * std::size_t(owned.count()))});
  return inverse;
}

/// The same for voxels.
template<class Scalar, class Exec>
Array<Scalar, Exec> make_inverse_diagonal_blocks(const Exec& exec, const VoxelGrid<Exec>& grid,
                                                 const LameField<Exec>& lame, double edge,
                                                 const Array<std::uint8_t, Exec>& held) {
  const Array<Scalar, Exec> inverse = make_uninitialized<Scalar>(
      exec, 6 * std::int64_t(grid.num_nodes), "ossatura::inverse_blocks");
  Kokkos::parallel_for("ossatura::make_inverse_diagonal_blocks", range(exec, grid.num_nodes),
                       detail::InvertVoxelBlocks<Exec, Scalar>{grid, lame, edge, held, inverse});
  return inverse;
}

} // namespace ossatura
