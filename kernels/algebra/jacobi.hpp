// SPDX-License-Identifier: Apache-2.0
// Jacobi's scaling is z = S r, where S is D^-1 with one number per node, or the inverses of the 3 x
// 3 blocks of a diagonal (for 6 x 6 blocks: kernels/aggregation/block_rows.hpp). This file also has
// the vector work of smoothers and eigenvalue estimates with this scaling.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/fused_updates/smoothing.hpp>

#include <cmath>

namespace ossatura {

/// S = D^-1, the same for the three components of a node.
template<class Exec, class Scalar>
struct PointJacobi {
  static constexpr int components = 3;  ///< of a node
  Array<Scalar, Exec> inverse_diagonal; ///< [num_nodes]

  int num_nodes() const { return int(inverse_diagonal.extent(0)); }

  /// z = S r at one node.
  KOKKOS_FUNCTION void multiply(std::int64_t node, const Scalar (&r)[3], Scalar (&z)[3]) const {
    for (int c = 0; c < 3; ++c)
      z[c] = inverse_diagonal(node) * r[c];
  }
  /// About the diagonal of S^-1.
  KOKKOS_FUNCTION Scalar diagonal(std::int64_t node, int) const {
    return inverse_diagonal(node) > 0 ? 1 / inverse_diagonal(node) : Scalar(0);
  }
  /// The update y = x + omega S (b - A x): see fused_updates/fused.hpp.
  SmoothingStep<Exec, Scalar> step(Scalar omega, const Array<std::uint8_t, Exec>& held,
                                   const Array<Scalar, Exec>& b,
                                   const Array<Scalar, Exec>& y) const {
    return {omega, inverse_diagonal, held, b, y};
  }
};

/// S = the inverse of the block diagonal, zero at held components.
template<class Exec, class Scalar>
struct BlockJacobi {
  static constexpr int components = 3;
  Array<Scalar, Exec> blocks; ///< [6 num_nodes]

  int num_nodes() const { return int(blocks.extent(0) / 6); }

  KOKKOS_FUNCTION void multiply(std::int64_t node, const Scalar (&r)[3], Scalar (&z)[3]) const {
    detail::apply_block<Exec>(blocks, node, r, z);
  }
  KOKKOS_FUNCTION Scalar diagonal(std::int64_t node, int c) const {
    const Scalar inverse = blocks(6 * node + c);
    return inverse > 0 ? 1 / inverse : Scalar(0);
  }
  BlockSmoothingStep<Exec, Scalar> step(Scalar omega, const Array<std::uint8_t, Exec>&,
                                        const Array<Scalar, Exec>& b,
                                        const Array<Scalar, Exec>& y) const {
    return {omega, blocks, b, y};
  }
};

namespace detail {
template<class Exec, class Scalar, int components>
KOKKOS_FUNCTION void load_node(const Array<Scalar, Exec>& r, std::int64_t node,
                               Scalar (&value)[components]) {
  for (int c = 0; c < components; ++c)
    value[c] = r(components * node + c);
}

template<class Exec, class Scalar, class Jacobi>
struct ApplyJacobi {
  Jacobi jacobi;
  Scalar omega;
  Array<Scalar, Exec> r, z;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    constexpr int components = Jacobi::components;
    Scalar value[components], scaled[components];
    load_node<Exec>(r, node, value);
    jacobi.multiply(node, value, scaled);
    for (int c = 0; c < components; ++c)
      z(components * node + c) = omega * scaled[c];
  }
};
} // namespace detail

/// z = omega S r; z may alias r. Does not fence.
template<class Exec, class Scalar, class Jacobi>
void apply_jacobi(const Exec& exec, const Jacobi& jacobi, Scalar omega,
                  const Array<Scalar, Exec>& r, const Array<Scalar, Exec>& z) {
  Kokkos::parallel_for("ossatura::apply_jacobi", range(exec, jacobi.num_nodes()),
                       detail::ApplyJacobi<Exec, Scalar, Jacobi>{jacobi, omega, r, z});
}

namespace detail {
template<class Exec, class Scalar, class Jacobi>
struct AddJacobi {
  Jacobi jacobi;
  Array<Scalar, Exec> r;
  Scalar beta;
  Array<Scalar, Exec> p;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    constexpr int components = Jacobi::components;
    Scalar value[components], scaled[components];
    load_node<Exec>(r, node, value);
    jacobi.multiply(node, value, scaled);
    for (int c = 0; c < components; ++c)
      p(components * node + c) =
          scaled[c] + (beta == Scalar(0) ? Scalar(0) : beta * p(components * node + c));
  }
};
} // namespace detail

/// p = S r + beta p; with beta = 0, p is not read. Does not fence.
template<class Exec, class Scalar, class Jacobi>
void add_jacobi(const Exec& exec, const Jacobi& jacobi, const Array<Scalar, Exec>& r, Scalar beta,
                const Array<Scalar, Exec>& p) {
  Kokkos::parallel_for("ossatura::add_jacobi", range(exec, jacobi.num_nodes()),
                       detail::AddJacobi<Exec, Scalar, Jacobi>{jacobi, r, beta, p});
}

namespace detail {
template<class Exec, class Scalar, class Jacobi>
struct JacobiDot {
  Jacobi jacobi;
  Array<Scalar, Exec> r;

  KOKKOS_FUNCTION void operator()(std::int64_t node, double& partial) const {
    constexpr int components = Jacobi::components;
    Scalar value[components], scaled[components];
    load_node<Exec>(r, node, value);
    jacobi.multiply(node, value, scaled);
    for (int c = 0; c < components; ++c)
      partial += double(value[c]) * double(scaled[c]);
  }
};
} // namespace detail

/// r . S r, accumulated in double. Fences.
template<class Exec, class Scalar, class Jacobi>
double jacobi_dot(const Exec& exec, const Jacobi& jacobi, const Array<Scalar, Exec>& r) {
  double sum = 0;
  Kokkos::parallel_reduce("ossatura::jacobi_dot", range(exec, jacobi.num_nodes()),
                          detail::JacobiDot<Exec, Scalar, Jacobi>{jacobi, r}, sum);
  return sum;
}

namespace detail {
template<class Exec, class Scalar, class Jacobi>
struct ApplyRootDiagonal {
  Jacobi jacobi;
  Array<Scalar, Exec> x;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    constexpr int components = Jacobi::components;
    for (int c = 0; c < components; ++c) {
      const std::int64_t i = components * node + c;
      x(i) = Scalar(std::sqrt(double(jacobi.diagonal(node, c))) * double(x(i)));
    }
  }
};
} // namespace detail

/// x = (diag S^-1)^1/2 x. Does not fence.
template<class Exec, class Scalar, class Jacobi>
void apply_root_diagonal(const Exec& exec, const Jacobi& jacobi, const Array<Scalar, Exec>& x) {
  Kokkos::parallel_for("ossatura::apply_root_diagonal", range(exec, jacobi.num_nodes()),
                       detail::ApplyRootDiagonal<Exec, Scalar, Jacobi>{jacobi, x});
}

namespace detail {
template<class Exec, class Scalar>
struct DropCouplings {
  Array<Scalar, Exec> blocks;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    Scalar* const s = &blocks(6 * node); // xx, yy, zz, xy, yz, zx of the inverse
    // The diagonal of the block is a cofactor of its inverse by the determinant of that. Held
    // components, zero in both, count as 1.
    double b[6];
    for (int k = 0; k < 6; ++k)
      b[k] = k < 3 && !(s[k] > 0) ? 1 : double(s[k]);
    const double cofactor[3] = {b[1] * b[2] - b[4] * b[4], b[2] * b[0] - b[5] * b[5],
                                b[0] * b[1] - b[3] * b[3]};
    const double determinant = b[0] * cofactor[0] - b[3] * (b[3] * b[2] - b[4] * b[5]) +
                               b[5] * (b[3] * b[4] - b[1] * b[5]);
    for (int c = 0; c < 3; ++c)
      s[c] = s[c] > 0 ? Scalar(determinant / cofactor[c]) : Scalar(0);
    s[3] = s[4] = s[5] = 0;
  }
};
} // namespace detail

/// Makes the scaling by blocks one by their diagonals alone. Does not fence.
template<class Exec, class Scalar>
void drop_couplings(const Exec& exec, const BlockJacobi<Exec, Scalar>& jacobi) {
  Kokkos::parallel_for("ossatura::drop_couplings", range(exec, jacobi.num_nodes()),
                       detail::DropCouplings<Exec, Scalar>{jacobi.blocks});
}

} // namespace ossatura
