// SPDX-License-Identifier: Apache-2.0
// assemble_dense makes the stiffness matrix of a small grid of voxels or cells as a dense matrix.
#pragma once

#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/bone/cells/grid.hpp>
#include <ossatura/kernels/bone/element.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>

namespace ossatura {

namespace detail {
template<class Exec>
struct ListCornersOrNone {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  Array<int, Exec> corner; ///< [8 num_nodes]

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    for (int v = 0; v < 8; ++v)
      corner(8 * node + v) =
          lame.solid(int(node)) ? grid.find(s.x + (v & 1), s.y + (v >> 1 & 1), s.z + (v >> 2)) : -1;
  }
};

/// Adds the stiffness of cubes to a matrix of zeros, but nothing at held components. A row is of
/// one index, which takes cubes in ascending order: sums have the same bits each time. It looks
/// through all cubes for those of its node, which costs nothing beside what dense matrices are made
/// for.
template<class Exec>
struct AddCubes {
  static constexpr int per_node = BackendTraits<Exec>::is_device ? 9 : 1; ///< indices

  int num_nodes, num_cubes;
  Array<int, Exec> corner; ///< [8 num_cubes] nodes; -1 where there is no cube
  Array<float, Exec> lambda, mu;
  double lambda_scale, mu_scale;  ///< times the edge
  Array<std::uint8_t, Exec> held; ///< as Constraints::mask
  Array<double, Exec> matrix;     ///< [3 num_nodes][3 num_nodes]

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if constexpr (per_node == 9) // a thread for each pair of components
      add_rows(int(i / 9), int(i % 9 / 3), int(i % 9 / 3) + 1, int(i % 3), int(i % 3) + 1);
    else
      add_rows(int(i), 0, 3, 0, 3);
  }

private:
  /// Of the components from `c0` to `c1` - 1 of a node, columns of the components from `d0` on.
  KOKKOS_FUNCTION void add_rows(int node, int c0, int c1, int d0, int d1) const {
    for (int e = 0; e < num_cubes; ++e)
      for (int v = 0; v < 8; ++v)
        if (corner(8 * std::int64_t(e) + v) == node)
          add_corner(e, v, node, c0, c1, d0, d1);
  }

  KOKKOS_FUNCTION void add_corner(int e, int v, int node, int c0, int c1, int d0, int d1) const {
    const VoxelStiffnessEntries<double> k(lambda_scale * lambda(e), mu_scale * mu(e));
    const std::int64_t n = 3 * std::int64_t(num_nodes);
    for (int b = 0; b < 8; ++b) {
      const int column = corner(8 * std::int64_t(e) + b);
      for (int c = c0; c < c1; ++c)
        for (int d = d0; d < d1; ++d)
          if (!(held(node) >> c & 1) && !(held(column) >> d & 1))
            matrix((3 * std::int64_t(node) + c) * n + 3 * column + d) += k(v, c, b, d);
    }
  }
};

template<class Exec>
Array<double, Exec> assemble_cubes(const Exec& exec, AddCubes<Exec> add) {
  const std::int64_t n = 3 * std::int64_t(add.num_nodes);
  OSSATURA_REQUIRE(n <= 12000, "a dense matrix of " << n << " rows");
  add.matrix = make_zeros<double>(exec, n * n, "ossatura::coarse_matrix");
  Kokkos::parallel_for("ossatura::assemble_dense",
                       range(exec, std::int64_t(add.num_nodes) * add.per_node), add);
  return add.matrix;
}
} // namespace detail

/// The stiffness matrix of a small grid, row-major [n][n], n = 3 num_nodes, with zero rows and
/// columns at held components. Does not fence.
template<class Exec>
Array<double, Exec> assemble_dense(const Exec& exec, const VoxelGrid<Exec>& grid,
                                   const LameField<Exec>& lame, const Constraints<Exec>& held,
                                   double edge) {
  const std::int64_t count = grid.num_nodes;
  const auto corner = make_uninitialized<int>(exec, 8 * count, "ossatura::corners");
  Kokkos::parallel_for("ossatura::assemble_dense::corners", range(exec, count),
                       detail::ListCornersOrNone<Exec>{grid, lame, corner});
  return detail::assemble_cubes<Exec>(exec, {grid.num_nodes,
                                             grid.num_nodes,
                                             corner,
                                             lame.lambda_value,
                                             lame.mu_value,
                                             edge * lame.lambda_scale,
                                             edge * lame.mu_scale,
                                             held.mask,
                                             {}});
}

/// The same for a small level of cells. Does not fence.
template<class Exec>
Array<double, Exec> assemble_dense(const Exec& exec, const CellGrid<Exec>& cells,
                                   const Constraints<Exec>& held, double edge) {
  return detail::assemble_cubes<Exec>(exec, {cells.num_nodes,
                                             cells.num_elem,
                                             cells.corner,
                                             cells.lambda_value,
                                             cells.mu_value,
                                             edge * cells.lambda_scale,
                                             edge * cells.mu_scale,
                                             held.mask,
                                             {}});
}

} // namespace ossatura
