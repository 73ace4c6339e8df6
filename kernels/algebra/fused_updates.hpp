// SPDX-License-Identifier: Apache-2.0
// A fused update consumes a stiffness product node by node, in place of a later pass over vectors.
// An operator that finishes whole nodes calls an update where it would store the product, so that
// smoothing steps and residuals cost no pass of their own; other operators store the product and a
// second pass calls the update. An update names the vectors that it reads besides x and A x
// (`load`), so that an operator can fetch them long before the product is there.
#pragma once

#include <ossatura/kernels/algebra/constraints.hpp>

namespace ossatura {

/// y = A x.
template<class Exec, class Scalar>
struct StoreProduct {
  Array<Scalar, Exec> y;

  struct Operands {};
  KOKKOS_FUNCTION Operands load(int) const { return {}; }
  template<class Product>
  KOKKOS_FUNCTION void finish(int node, const Operands&, const Product (&)[3],
                              const Product (&product)[3]) const {
    for (int c = 0; c < 3; ++c)
      y(3 * std::int64_t(node) + c) = Scalar(product[c]);
  }
};

/// r = b - A x at free components, 0 where held.
template<class Exec, class Scalar>
struct StoreResidual {
  Array<std::uint8_t, Exec> held; ///< Constraints::mask
  Array<Scalar, Exec> b, r;       ///< b may alias r

  struct Operands {
    Scalar b[3];
    int held;
  };
  KOKKOS_FUNCTION Operands load(int node) const {
    const std::int64_t i = 3 * std::int64_t(node);
    return {{b(i), b(i + 1), b(i + 2)}, held(node)};
  }
  template<class Product>
  KOKKOS_FUNCTION void finish(int node, const Operands& at, const Product (&)[3],
                              const Product (&product)[3]) const {
    for (int c = 0; c < 3; ++c)
      r(3 * std::int64_t(node) + c) = at.held >> c & 1 ? Scalar(0) : Scalar(at.b[c] - product[c]);
  }
};

/// y = x + omega D^-1 (b - A x) at free components, 0 where held: one factor of a polynomial
/// smoother. D is one number per node. y must not alias x, which neighbours still read.
template<class Exec, class Scalar>
struct SmoothingStep {
  Scalar omega;
  Array<Scalar, Exec> inverse_diagonal; ///< [num_nodes]
  Array<std::uint8_t, Exec> held;
  Array<Scalar, Exec> b, y;

  struct Operands {
    Scalar b[3], inverse_diagonal;
    int held;
  };
  KOKKOS_FUNCTION Operands load(int node) const {
    const std::int64_t i = 3 * std::int64_t(node);
    return {{b(i), b(i + 1), b(i + 2)}, inverse_diagonal(node), held(node)};
  }
  KOKKOS_FUNCTION void finish(int node, const Operands& at, const Scalar (&x)[3],
                              const Scalar (&product)[3]) const {
    const Scalar scale = omega * at.inverse_diagonal;
    for (int c = 0; c < 3; ++c)
      y(3 * std::int64_t(node) + c) =
          at.held >> c & 1 ? Scalar(0) : x[c] + scale * (at.b[c] - product[c]);
  }
};

/// Finishes a node whose product is there; `x` is the vector that was multiplied.
template<class Update, class X, class Scalar>
KOKKOS_INLINE_FUNCTION void finish_node(const Update& update, int node, const X& x,
                                        const Scalar (&product)[3]) {
  const std::int64_t i = 3 * std::int64_t(node);
  const Scalar x_node[3] = {x(i), x(i + 1), x(i + 2)};
  update.finish(node, update.load(node), x_node, product);
}

namespace detail {
/// y = B r for a symmetric 3 x 3 block stored at 6 node as xx, yy, zz, xy, yz, zx.
template<class Exec, class Scalar>
KOKKOS_INLINE_FUNCTION void apply_block(const Array<Scalar, Exec>& blocks, std::int64_t node,
                                        const Scalar (&r)[3], Scalar (&y)[3]) {
  Scalar b[6];
  for (int k = 0; k < 6; ++k)
    b[k] = blocks(6 * node + k);
  y[0] = b[0] * r[0] + b[3] * r[1] + b[5] * r[2];
  y[1] = b[3] * r[0] + b[1] * r[1] + b[4] * r[2];
  y[2] = b[5] * r[0] + b[4] * r[1] + b[2] * r[2];
}
} // namespace detail

/// y = x + omega B (b - A x) with B = the inverse of the block diagonal, whose rows and columns are
/// zero at held components: there y = x = 0. y must not alias x, which neighbours
/// still read.
template<class Exec, class Scalar>
struct BlockSmoothingStep {
  Scalar omega;
  Array<Scalar, Exec> blocks; ///< [6 num_nodes]
  Array<Scalar, Exec> b, y;

  struct Operands {
    Scalar b[3];
  };
  KOKKOS_FUNCTION Operands load(int node) const {
    const std::int64_t i = 3 * std::int64_t(node);
    return {{b(i), b(i + 1), b(i + 2)}};
  }
  KOKKOS_FUNCTION void finish(int node, const Operands& at, const Scalar (&x)[3],
                              const Scalar (&product)[3]) const {
    const Scalar r[3] = {at.b[0] - product[0], at.b[1] - product[1], at.b[2] - product[2]};
    Scalar step[3];
    detail::apply_block<Exec>(blocks, node, r, step);
    for (int c = 0; c < 3; ++c)
      y(3 * std::int64_t(node) + c) = x[c] + omega * step[c];
  }
};

namespace detail {
template<class Exec, class Scalar>
struct BlockSmoothingStart {
  Scalar omega;
  Array<Scalar, Exec> blocks, b, x;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Scalar r[3] = {b(3 * node), b(3 * node + 1), b(3 * node + 2)};
    Scalar step[3];
    apply_block<Exec>(blocks, node, r, step);
    for (int c = 0; c < 3; ++c)
      x(3 * node + c) = omega * step[c];
  }
};
} // namespace detail

/// x = omega B b: the step of BlockSmoothingStep from x = 0. x may alias b. Does not fence.
template<class Exec, class Scalar>
void block_smoothing_start(const Exec& exec, Scalar omega, const Array<Scalar, Exec>& blocks,
                           const Array<Scalar, Exec>& b, const Array<Scalar, Exec>& x) {
  Kokkos::parallel_for("ossatura::block_smoothing_start", range(exec, blocks.extent(0) / 6),
                       detail::BlockSmoothingStart<Exec, Scalar>{omega, blocks, b, x});
}

namespace detail {
template<class Exec, class Scalar, class Update>
struct UpdateNodes {
  Array<Scalar, Exec> x, product;
  Update update;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Scalar p[3] = {product(3 * node), product(3 * node + 1), product(3 * node + 2)};
    finish_node(update, int(node), x, p);
  }
};
} // namespace detail

/// Finishes every node with `update`. Operators with
/// `fuses_updates` do it in the product; for others `scratch` [3 num_nodes] takes A x. Does not
/// fence.
template<class Exec, class Operator, class Scalar, class Update>
void apply_then(const Exec& exec, const Operator& matrix, const Array<Scalar, Exec>& x,
                const Array<Scalar, Exec>& scratch, const Update& update) {
  if constexpr (Operator::fuses_updates) {
    matrix.apply_then(exec, x, update);
  } else {
    matrix.apply(exec, x, scratch);
    Kokkos::parallel_for("ossatura::apply_then", range(exec, scratch.extent(0) / 3),
                         detail::UpdateNodes<Exec, Scalar, Update>{x, scratch, update});
  }
}

} // namespace ossatura
