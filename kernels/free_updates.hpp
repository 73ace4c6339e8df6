// SPDX-License-Identifier: BSD-3-Clause
// Updates of the iteration around the multigrid cycle: products and residuals at free components
// (node_update.hpp says what an update is).
#pragma once

#include "kernels/node_update.hpp"

namespace femura {

/// y = A x at free components, 0 where held.
template<class Exec, class Scalar>
struct StoreFreeProduct {
  Array<std::uint8_t, Exec> held; ///< Constraints::mask
  Array<Scalar, Exec> y;          ///< may alias the product's scratch

  KOKKOS_FUNCTION void operator()(std::int64_t node, const Scalar (&product)[3]) const {
    const int mask = held(node);
    for (int c = 0; c < 3; ++c)
      y(3 * node + c) = mask >> c & 1 ? Scalar(0) : product[c];
  }
};

/// r = scale (f - A u) at free components, 0 where held: worked out in the precision of u, stored
/// in that of r. An empty f is zero.
template<class Exec, class Scalar, class Stored>
struct StoreScaledResidual {
  Array<std::uint8_t, Exec> held;
  Array<Scalar, Exec> f;
  Scalar scale;
  Array<Stored, Exec> r; ///< may alias f or the product's scratch

  KOKKOS_FUNCTION void operator()(std::int64_t node, const Scalar (&product)[3]) const {
    const int mask = held(node);
    const bool loaded = f.extent(0) > 0;
    for (int c = 0; c < 3; ++c) {
      const std::int64_t i = 3 * node + c;
      r(i) = mask >> c & 1 ? Stored(0) : Stored(scale * ((loaded ? f(i) : Scalar(0)) - product[c]));
    }
  }
};

} // namespace femura
