// SPDX-License-Identifier: Apache-2.0
// These updates (fused.hpp defines the word) store products and residuals at free
// components. The iteration around the multigrid cycle uses them.
#pragma once

#include <ossatura/kernels/algebra/fused_updates/fused.hpp>

namespace ossatura {

/// y = A x at free components, 0 where held.
template<class Exec, class Scalar>
struct StoreFreeProduct {
  Array<std::uint8_t, Exec> held; ///< Constraints::mask
  Array<Scalar, Exec> y;          ///< may alias the product's scratch

  struct Operands {
    int held;
  };
  KOKKOS_FUNCTION Operands load(int node) const { return {held(node)}; }
  KOKKOS_FUNCTION void finish(int node, const Operands& at, const Scalar (&)[3],
                              const Scalar (&product)[3]) const {
    for (int c = 0; c < 3; ++c)
      y(3 * std::int64_t(node) + c) = at.held >> c & 1 ? Scalar(0) : product[c];
  }
};

/// The same, and x . y, for operators that sum up.
template<class Exec, class Scalar>
struct StoreFreeProductDot {
  StoreFreeProduct<Exec, Scalar> store;
  double* partial_sum;

  using Operands = typename StoreFreeProduct<Exec, Scalar>::Operands;
  KOKKOS_FUNCTION Operands load(int node) const { return store.load(node); }
  KOKKOS_FUNCTION double finish(int node, const Operands& at, const Scalar (&x)[3],
                                const Scalar (&product)[3]) const {
    store.finish(node, at, x, product);
    double sum = 0;
    for (int c = 0; c < 3; ++c)
      sum += at.held >> c & 1 ? 0 : double(x[c]) * double(product[c]);
    return sum;
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

  struct Operands {
    Scalar f[3];
    int held;
  };
  KOKKOS_FUNCTION Operands load(int node) const {
    Operands at{{0, 0, 0}, held(node)};
    if (f.extent(0) > 0)
      for (int c = 0; c < 3; ++c)
        at.f[c] = f(3 * std::int64_t(node) + c);
    return at;
  }
  KOKKOS_FUNCTION void finish(int node, const Operands& at, const Scalar (&)[3],
                              const Scalar (&product)[3]) const {
    for (int c = 0; c < 3; ++c)
      r(3 * std::int64_t(node) + c) =
          at.held >> c & 1 ? Stored(0) : Stored(scale * (at.f[c] - product[c]));
  }
};

} // namespace ossatura
