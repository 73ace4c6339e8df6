// SPDX-License-Identifier: Apache-2.0
// Trilinear prolongation between two levels of a voxel grid, and its transpose. Both gather, so
// both are bitwise reproducible.
#pragma once

#include "kernels/constraints.hpp"

namespace femura {

namespace detail {
template<class Exec, class Scalar>
struct ProlongAdd {
  VoxelGrid<Exec> coarse_grid;
  Array<Scalar, Exec> coarse;
  VoxelGrid<Exec> fine_grid;
  Constraints<Exec> fine_held;
  Array<Scalar, Exec> fine;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = fine_grid.site(int(node));
    // A coordinate that is odd lies between two coarse nodes, with weight 1/2 each.
    const int odd_x = s.x & 1, odd_y = s.y & 1, odd_z = s.z & 1;
    Scalar sum[3] = {0, 0, 0};
    for (int dz = 0; dz <= odd_z; ++dz)
      for (int dy = 0; dy <= odd_y; ++dy)
        for (int dx = 0; dx <= odd_x; ++dx) {
          const std::int64_t c = coarse_grid.find(s.x / 2 + dx, s.y / 2 + dy, s.z / 2 + dz);
          for (int d = 0; d < 3; ++d)
            sum[d] += coarse(3 * c + d);
        }
    const Scalar weight = Scalar(1) / Scalar(1 << (odd_x + odd_y + odd_z));
    const int held = fine_held.mask(node);
    for (int d = 0; d < 3; ++d)
      if (!(held >> d & 1))
        fine(3 * node + d) += weight * sum[d];
  }
};
} // namespace detail

/// fine += P coarse at the free fine components. `coarse` is zero where held. Does not fence.
template<class Exec, class Scalar>
void prolong_add(const Exec& exec, const VoxelGrid<Exec>& coarse_grid,
                 const Array<Scalar, Exec>& coarse, const VoxelGrid<Exec>& fine_grid,
                 const Constraints<Exec>& fine_held, const Array<Scalar, Exec>& fine) {
  Kokkos::parallel_for(
      "femura::prolong_add", range(exec, fine_grid.num_nodes),
      detail::ProlongAdd<Exec, Scalar>{coarse_grid, coarse, fine_grid, fine_held, fine});
}

namespace detail {
template<class Exec, class Scalar>
struct RestrictResidual {
  VoxelGrid<Exec> fine_grid;
  Array<Scalar, Exec> fine;
  VoxelGrid<Exec> coarse_grid;
  Constraints<Exec> coarse_held;
  Array<Scalar, Exec> coarse;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = coarse_grid.site(int(node));
    Scalar sum[3] = {0, 0, 0};
    for (int k = 0; k < 27; ++k) {
      const int dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1;
      const std::int64_t f = fine_grid.find(2 * s.x + dx, 2 * s.y + dy, 2 * s.z + dz);
      if (f < 0)
        continue;
      const Scalar weight = Scalar(1) / Scalar(1 << ((dx & 1) + (dy & 1) + (dz & 1)));
      for (int d = 0; d < 3; ++d)
        sum[d] += weight * fine(3 * f + d);
    }
    const int held = coarse_held.mask(node);
    for (int d = 0; d < 3; ++d)
      coarse(3 * node + d) = held >> d & 1 ? Scalar(0) : sum[d];
  }
};
} // namespace detail

/// coarse = P^T fine, zero at held coarse components. `fine` is zero where held. Does not fence.
template<class Exec, class Scalar>
void restrict_residual(const Exec& exec, const VoxelGrid<Exec>& fine_grid,
                       const Array<Scalar, Exec>& fine, const VoxelGrid<Exec>& coarse_grid,
                       const Constraints<Exec>& coarse_held, const Array<Scalar, Exec>& coarse) {
  Kokkos::parallel_for(
      "femura::restrict_residual", range(exec, coarse_grid.num_nodes),
      detail::RestrictResidual<Exec, Scalar>{fine_grid, fine, coarse_grid, coarse_held, coarse});
}

} // namespace femura
