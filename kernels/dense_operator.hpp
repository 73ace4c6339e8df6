// SPDX-License-Identifier: Apache-2.0
// Small dense matrices: assembly of a coarse voxel level and the product with its inverse.
#pragma once

#include "kernels/cell_grid.hpp"
#include "kernels/constraints.hpp"
#include "kernels/lame_field.hpp"
#include "kernels/voxel_element.hpp"

#include <vector>

namespace femura {

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
  FEMURA_REQUIRE(n <= 12000, "a dense matrix of " << n << " rows");
  // Corner nodes of each voxel, from the device's grid; -1 where a node names no voxel.
  Kokkos::View<int* [8], Kokkos::LayoutRight, typename Exec::memory_space> corners(
      "femura::corners", grid.num_nodes);
  Kokkos::parallel_for("femura::assemble_dense::corners", range(exec, grid.num_nodes),
                       detail::ListCornersOrNone<Exec>{grid, lame, corners});
  fence(exec, "femura::assemble_dense");
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
  FEMURA_REQUIRE(n <= 12000, "a dense matrix of " << n << " rows");
  fence(exec, "femura::assemble_dense");
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

namespace detail {
template<class Exec, class Scalar>
struct ApplyDense {
  std::int64_t n;
  Array<Scalar, Exec> matrix;
  Array<Scalar, Exec> x;
  Array<Scalar, Exec> y;

  /// One row.
  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Scalar* const row = &matrix(i * n);
    Scalar partial[8] = {}; // independent sums, which compilers vectorise
    std::int64_t j = 0;
    for (; j + 8 <= n; j += 8)
      for (int k = 0; k < 8; ++k)
        partial[k] += row[j + k] * x(j + k);
    Scalar sum = 0;
    for (; j < n; ++j)
      sum += row[j] * x(j);
    for (int k = 0; k < 8; ++k)
      sum += partial[k];
    y(i) = sum;
  }

  /// A row for each thread of the team; its vector lanes read side by side.
  KOKKOS_FUNCTION void
  operator()(const typename Kokkos::TeamPolicy<Exec>::member_type& team) const {
    const std::int64_t i = std::int64_t(team.league_rank()) * team.team_size() + team.team_rank();
    if (i >= n)
      return;
    const Scalar* const row = &matrix(i * n);
    const Array<Scalar, Exec>& entries = x;
    // Four entries at a time, so that as many loads are under way.
    const int length = int(n), quarter = (length + 3) / 4;
    Scalar sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(team, quarter),
        [&](int first, Scalar& partial) {
          Scalar product[4];
          for (int k = 0; k < 4; ++k) {
            const int j = first + k * quarter;
            product[k] = j < length ? row[j] * entries(j) : Scalar(0);
          }
          partial += (product[0] + product[1]) + (product[2] + product[3]);
        },
        sum);
    const Array<Scalar, Exec>& result = y;
    Kokkos::single(Kokkos::PerThread(team), [&] { result(i) = sum; });
  }
};
} // namespace detail

/// y = M x for a symmetric dense M [n * n]. Does not fence.
template<class Exec, class Scalar>
void apply_dense(const Exec& exec, const Array<Scalar, Exec>& matrix, const Array<Scalar, Exec>& x,
                 const Array<Scalar, Exec>& y) {
  const std::int64_t n = x.extent(0);
  const detail::ApplyDense<Exec, Scalar> rows{n, matrix, x, y};
  if constexpr (BackendTraits<Exec>::is_device)
    Kokkos::parallel_for("femura::apply_dense",
                         Kokkos::TeamPolicy<Exec>(exec, int((n + 3) / 4), 4, 32), rows);
  else
    Kokkos::parallel_for("femura::apply_dense", range(exec, n), rows);
}

} // namespace femura
