// SPDX-License-Identifier: BSD-3-Clause
// The inverse of the diagonal of the voxel stiffness matrix.
#pragma once

#include "kernels/lame_field.hpp"
#include "kernels/voxel_element.hpp"

namespace femura {

namespace detail {
template<class Exec, class Scalar>
struct InvertDiagonal {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  double edge;
  Array<Scalar, Exec> inverse;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    double lambda = 0, mu = 0;
    for (int q = 0; q < 8; ++q) {
      const int lowest = grid.find(s.x - (q & 1), s.y - (q >> 1 & 1), s.z - (q >> 2));
      if (lowest >= 0 && lame.solid(lowest)) {
        lambda += lame.lambda(lowest);
        mu += lame.mu(lowest);
      }
    }
    inverse(node) = Scalar(1 / VoxelStiffnessEntries<double>(edge * lambda, edge * mu).diagonal());
  }
};
} // namespace detail

/// [num_nodes] inverse of the diagonal entry, which a node's three components share because the
/// cube is isotropic in its axes. `edge` in mm. Does not fence.
template<class Scalar, class Exec>
Array<Scalar, Exec> make_inverse_diagonal(const Exec& exec, const VoxelGrid<Exec>& grid,
                                          const LameField<Exec>& lame, double edge) {
  Array<Scalar, Exec> inverse =
      make_uninitialized<Scalar>(exec, grid.num_nodes, "femura::inverse_diagonal");
  Kokkos::parallel_for("femura::make_inverse_diagonal", range(exec, grid.num_nodes),
                       detail::InvertDiagonal<Exec, Scalar>{grid, lame, edge, inverse});
  return inverse;
}

} // namespace femura
