// SPDX-License-Identifier: Apache-2.0
// assemble_dense makes the stiffness matrix of a small grid of voxels or cells as a dense matrix on
// the host.
#pragma once

#include <ossatura/kernels/algebra/constraints.hpp>
#include <ossatura/kernels/bone/cells/grid.hpp>
#include <ossatura/kernels/bone/element.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>

#include <vector>

namespace ossatura {

namespace detail {
template<class Exec>
struct ListCornersOrNone {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  Kokkos::View<int* [8], Kokkos::LayoutRight, typename Exec::memory_space> corners;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    for (int v = 0; v < 8; ++v)
      corners(node, v) =
          lame.solid(int(node)) ? grid.find(s.x + (v & 1), s.y + (v >> 1 & 1), s.z + (v >> 2)) : -1;
  }
};

/// Adds the stiffness of a cube to a row-major matrix of n rows, but nothing at held components.
/// `corner` [8] nodes; `lambda` and `mu` times the edge; `mask` as in Constraints, on the host.
inline void add_cube(const int* corner, double lambda, double mu, const std::uint8_t* mask,
                     std::size_t n, std::vector<double>& matrix) {
  const VoxelStiffnessEntries<double> k(lambda, mu);
  for (int a = 0; a < 24; ++a)
    for (int b = 0; b < 24; ++b) {
      const int row = corner[a / 3], column = corner[b / 3];
      if (!(mask[row] >> a % 3 & 1) && !(mask[column] >> b % 3 & 1))
        matrix[(3 * row + a % 3) * n + 3 * column + b % 3] += k(a / 3, a % 3, b / 3, b % 3);
    }
}
} // namespace detail

/// The stiffness matrix of a small grid on the host, row-major [n][n], n = 3 num_nodes, with zero
/// rows and columns at held components. Fences.
template<class Exec>
std::vector<double> assemble_dense(const Exec& exec, const VoxelGrid<Exec>& grid,
                                   const LameField<Exec>& lame, const Constraints<Exec>& held,
                                   double edge) {
  const std::size_t n = std::size_t(grid.num_dofs());
  OSSATURA_REQUIRE(n <= 12000, "a dense matrix of " << n << " rows");
  // Corner nodes of each voxel, from the device's grid; -1 where a node names no voxel.
  Kokkos::View<int* [8], Kokkos::LayoutRight, typename Exec::memory_space> corners(
      "ossatura::corners", grid.num_nodes);
  Kokkos::parallel_for("ossatura::assemble_dense::corners", range(exec, grid.num_nodes),
                       detail::ListCornersOrNone<Exec>{grid, lame, corners});
  fence(exec, "ossatura::assemble_dense");
  const auto corner = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), corners);
  const auto mask = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), held.mask);
  const auto lambda = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), lame.lambda_value);
  const auto mu = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), lame.mu_value);

  std::vector<double> matrix(n * n, 0.0);
  for (int e = 0; e < grid.num_nodes; ++e)
    if (corner(e, 0) >= 0)
      detail::add_cube(&corner(e, 0), edge * lame.lambda_scale * lambda(e),
                       edge * lame.mu_scale * mu(e), mask.data(), n, matrix);
  return matrix;
}

/// The same for a small level of cells. Fences.
template<class Exec>
std::vector<double> assemble_dense(const Exec& exec, const CellGrid<Exec>& cells,
                                   const Constraints<Exec>& held, double edge) {
  const std::size_t n = std::size_t(cells.num_dofs());
  OSSATURA_REQUIRE(n <= 12000, "a dense matrix of " << n << " rows");
  fence(exec, "ossatura::assemble_dense");
  const auto corner = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), cells.corner);
  const auto mask = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), held.mask);
  const auto lambda = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), cells.lambda_value);
  const auto mu = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), cells.mu_value);

  std::vector<double> matrix(n * n, 0.0);
  for (int e = 0; e < cells.num_elem; ++e)
    detail::add_cube(&corner(8 * e), edge * cells.lambda_scale * lambda(e),
                     edge * cells.mu_scale * mu(e), mask.data(), n, matrix);
  return matrix;
}

} // namespace ossatura
