// SPDX-License-Identifier: BSD-3-Clause
// Degrees of freedom held at a prescribed displacement.
#pragma once

#include "kernels/voxel_grid.hpp"

namespace femura {

/// Which components of which nodes are held. Solvers work on the free subspace: vectors are zero at
/// held components, and `clear` restores that after a product.
template<class Exec>
struct Constraints {
  Array<std::uint8_t, Exec> mask; ///< [num_nodes] bit c set: component c is held
  Array<int, Exec> node;          ///< nodes with any bit set, ascending
  std::int64_t num_dofs = 0;      ///< held components
};

/// Lists the nodes of a mask. Fences.
template<class Exec>
Constraints<Exec> make_constraints(const Exec& exec, const Array<std::uint8_t, Exec>& mask) {
  Constraints<Exec> held;
  held.mask = mask;
  std::int64_t count = 0;
  Kokkos::parallel_reduce(
      "femura::make_constraints::count", range(exec, mask.extent(0)),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & sum) { sum += mask(i) != 0; }, count);
  held.node = make_uninitialized<int>(exec, count, "femura::held_nodes");
  const Array<int, Exec> node = held.node;
  Kokkos::parallel_scan(
      "femura::make_constraints::list", range(exec, mask.extent(0)),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & sum, bool final) {
        if (mask(i) == 0)
          return;
        if (final)
          node(sum) = int(i);
        ++sum;
      });
  Kokkos::parallel_reduce(
      "femura::make_constraints::dofs", range(exec, count),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & sum) { sum += count_ones(mask(node(i))); },
      held.num_dofs);
  return held;
}

/// x = 0 at the held components. Does not fence.
template<class Exec, class Scalar>
void clear(const Exec& exec, const Constraints<Exec>& held, const Array<Scalar, Exec>& x) {
  if (held.node.extent(0) == 0)
    return;
  Kokkos::parallel_for(
      "femura::clear", range(exec, held.node.extent(0)), KOKKOS_LAMBDA(std::int64_t i) {
        const int node = held.node(i);
        for (int c = 0; c < 3; ++c)
          if (held.mask(node) >> c & 1)
            x(3 * std::int64_t(node) + c) = 0;
      });
}

} // namespace femura
