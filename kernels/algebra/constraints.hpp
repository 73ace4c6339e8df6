// SPDX-License-Identifier: Apache-2.0
// Constraints hold degrees of freedom at a prescribed displacement.
#pragma once

#include <ossatura/core/base/morton.hpp>
#include <ossatura/core/base/vector.hpp>

namespace ossatura {

/// Which components of which nodes are held. Solvers work on the free subspace: vectors are zero at
/// held components, and `clear` restores that after a product.
template<class Exec>
struct Constraints {
  Array<std::uint8_t, Exec> mask; ///< [num_nodes] bit c set: component c is held
  Array<int, Exec> node;          ///< nodes with any bit set, ascending
  std::int64_t num_dofs = 0;      ///< held components
};

namespace detail {
template<class Exec>
struct CountHeldNodes {
  Array<std::uint8_t, Exec> mask;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum) const { sum += mask(i) != 0; }
};

template<class Exec>
struct ListHeldNodes {
  Array<std::uint8_t, Exec> mask;
  Array<int, Exec> node;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum, bool final) const {
    if (mask(i) == 0)
      return;
    if (final)
      node(sum) = int(i);
    ++sum;
  }
};

template<class Exec>
struct CountHeldDofs {
  Array<std::uint8_t, Exec> mask;
  Array<int, Exec> node;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum) const {
    sum += count_ones(std::uint32_t(mask(node(i))));
  }
};
} // namespace detail

/// Lists the nodes of a mask. Fences.
template<class Exec>
Constraints<Exec> make_constraints(const Exec& exec, const Array<std::uint8_t, Exec>& mask) {
  Constraints<Exec> held;
  held.mask = mask;
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::make_constraints::count", range(exec, mask.extent(0)),
                          detail::CountHeldNodes<Exec>{mask}, count);
  held.node = make_uninitialized<int>(exec, count, "ossatura::held_nodes");
  const Array<int, Exec> node = held.node;
  Kokkos::parallel_scan("ossatura::make_constraints::list", range(exec, mask.extent(0)),
                        detail::ListHeldNodes<Exec>{mask, node});
  Kokkos::parallel_reduce("ossatura::make_constraints::dofs", range(exec, count),
                          detail::CountHeldDofs<Exec>{mask, node}, held.num_dofs);
  return held;
}

namespace detail {
template<class Exec, class Scalar>
struct Clear {
  Constraints<Exec> held;
  Array<Scalar, Exec> x;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int node = held.node(i);
    for (int c = 0; c < 3; ++c)
      if (held.mask(node) >> c & 1)
        x(3 * std::int64_t(node) + c) = 0;
  }
};
} // namespace detail

/// x = 0 at the held components. Does not fence.
template<class Exec, class Scalar>
void clear(const Exec& exec, const Constraints<Exec>& held, const Array<Scalar, Exec>& x) {
  if (held.node.extent(0) == 0)
    return;
  Kokkos::parallel_for("ossatura::clear", range(exec, held.node.extent(0)),
                       detail::Clear<Exec, Scalar>{held, x});
}

} // namespace ossatura
