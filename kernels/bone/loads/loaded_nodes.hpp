// SPDX-License-Identifier: Apache-2.0
// find_loaded_nodes finds the nodes that a force moves.
#pragma once

#include <ossatura/kernels/algebra/constraints.hpp>

namespace ossatura {

namespace detail {
template<class Exec>
struct MarkLoaded {
  Array<std::uint8_t, Exec> held;
  Array<double, Exec> force;
  Array<std::uint8_t, Exec> mask;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    std::uint8_t loaded = 0;
    for (int c = 0; c < 3; ++c)
      if (!(held(node) >> c & 1) && force(3 * node + c) != 0)
        loaded = std::uint8_t(loaded | 1 << c);
    mask(node) = loaded;
  }
};
} // namespace detail

/// Nodes on whose free components a force [3 num_nodes] acts; `mask` has these components. Fences.
template<class Exec>
Constraints<Exec> find_loaded_nodes(const Exec& exec, const Constraints<Exec>& held,
                                    const Array<double, Exec>& force) {
  const std::int64_t n = held.mask.extent(0);
  const auto mask = make_uninitialized<std::uint8_t>(exec, n, "ossatura::loaded_mask");
  Kokkos::parallel_for("ossatura::find_loaded_nodes", range(exec, n),
                       detail::MarkLoaded<Exec>{held.mask, force, mask});
  return make_constraints(exec, mask);
}

} // namespace ossatura
