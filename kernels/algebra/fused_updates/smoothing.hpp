// SPDX-License-Identifier: Apache-2.0
// A fused smoothing step is an update (fused.hpp) that consumes the product A x node by
// node: one factor of a polynomial smoother, without a pass over vectors of its own.
#pragma once

#include <ossatura/kernels/algebra/fused_updates/fused.hpp>

namespace ossatura {

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

/// The same, and b . y, for operators that sum up.
template<class Exec, class Scalar>
struct SmoothingStepDot {
  SmoothingStep<Exec, Scalar> step;
  double* partial_sum;

  using Operands = typename SmoothingStep<Exec, Scalar>::Operands;
  KOKKOS_FUNCTION Operands load(int node) const { return step.load(node); }
  KOKKOS_FUNCTION double finish(int node, const Operands& at, const Scalar (&x)[3],
                                const Scalar (&product)[3]) const {
    const Scalar scale = step.omega * at.inverse_diagonal;
    double sum = 0;
    for (int c = 0; c < 3; ++c) {
      const Scalar y = at.held >> c & 1 ? Scalar(0) : x[c] + scale * (at.b[c] - product[c]);
      step.y(3 * std::int64_t(node) + c) = y;
      sum += double(at.b[c]) * double(y);
    }
    return sum;
  }
};

namespace detail {
/// y = B r for a symmetric 3 x 3 block stored as xx, yy, zz, xy, yz, zx.
template<class Scalar>
KOKKOS_INLINE_FUNCTION void apply_block(const Scalar (&b)[6], const Scalar (&r)[3],
                                        Scalar (&y)[3]) {
  y[0] = b[0] * r[0] + b[3] * r[1] + b[5] * r[2];
  y[1] = b[3] * r[0] + b[1] * r[1] + b[4] * r[2];
  y[2] = b[5] * r[0] + b[4] * r[1] + b[2] * r[2];
}

/// The same for the block of a node of `blocks` [6 num_nodes].
template<class Exec, class Scalar>
KOKKOS_INLINE_FUNCTION void apply_block(const Array<Scalar, Exec>& blocks, std::int64_t node,
                                        const Scalar (&r)[3], Scalar (&y)[3]) {
  Scalar b[6];
  for (int k = 0; k < 6; ++k)
    b[k] = blocks(6 * node + k);
  apply_block(b, r, y);
}
} // namespace detail

/// y = x + omega B (b - A x) with B = the inverse of the block diagonal, whose rows and columns are
/// zero at held components: there y = x = 0. y must not alias x, which neighbours still read.
template<class Exec, class Scalar>
struct BlockSmoothingStep {
  Scalar omega;
  Array<Scalar, Exec> blocks; ///< [6 num_nodes]
  Array<Scalar, Exec> b, y;

  struct Operands {
    Scalar b[3], block[6];
  };
  KOKKOS_FUNCTION Operands load(int node) const {
    const std::int64_t i = 3 * std::int64_t(node);
    Operands at{{b(i), b(i + 1), b(i + 2)}, {}};
    for (int k = 0; k < 6; ++k)
      at.block[k] = blocks(2 * i + k);
    return at;
  }
  KOKKOS_FUNCTION void finish(int node, const Operands& at, const Scalar (&x)[3],
                              const Scalar (&product)[3]) const {
    const Scalar r[3] = {at.b[0] - product[0], at.b[1] - product[1], at.b[2] - product[2]};
    Scalar step[3];
    detail::apply_block(at.block, r, step);
    for (int c = 0; c < 3; ++c)
      y(3 * std::int64_t(node) + c) = x[c] + omega * step[c];
  }
};

} // namespace ossatura
