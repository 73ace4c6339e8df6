// SPDX-License-Identifier: BSD-3-Clause
// The vector work of diagonally preconditioned iterations, fused; the diagonal is shared by a
// node's three components.
#pragma once

#include "core/vector.hpp"

#include <cmath>

namespace femura {

/// p = c D^-1 b, x = p: the first step from x = 0. Does not fence.
template<class Exec, class Scalar>
void chebyshev_start(const Exec& exec, const Array<Scalar, Exec>& inverse_diagonal, Scalar c,
                     const Array<Scalar, Exec>& b, const Array<Scalar, Exec>& p,
                     const Array<Scalar, Exec>& x) {
  Kokkos::parallel_for(
      "femura::chebyshev_start", range(exec, inverse_diagonal.extent(0)),
      KOKKOS_LAMBDA(std::int64_t node) {
        const Scalar scale = c * inverse_diagonal(node);
        for (std::int64_t i = 3 * node; i < 3 * node + 3; ++i)
          x(i) = p(i) = scale * b(i);
      });
}

/// p = a p + c D^-1 (b - q), x += p, where q = A x; with a = 0, p is not read. Does not fence.
template<class Exec, class Scalar>
void chebyshev_step(const Exec& exec, const Array<Scalar, Exec>& inverse_diagonal, Scalar a,
                    Scalar c, const Array<Scalar, Exec>& b, const Array<Scalar, Exec>& q,
                    const Array<Scalar, Exec>& p, const Array<Scalar, Exec>& x) {
  Kokkos::parallel_for(
      "femura::chebyshev_step", range(exec, inverse_diagonal.extent(0)),
      KOKKOS_LAMBDA(std::int64_t node) {
        const Scalar scale = c * inverse_diagonal(node);
        for (std::int64_t i = 3 * node; i < 3 * node + 3; ++i) {
          const Scalar step = (a == Scalar(0) ? Scalar(0) : a * p(i)) + scale * (b(i) - q(i));
          p(i) = step;
          x(i) += step;
        }
      });
}

/// z = D^-1 r. Does not fence.
template<class Exec, class Scalar>
void apply_inverse_diagonal(const Exec& exec, const Array<Scalar, Exec>& inverse_diagonal,
                            const Array<Scalar, Exec>& r, const Array<Scalar, Exec>& z) {
  Kokkos::parallel_for(
      "femura::apply_inverse_diagonal", range(exec, inverse_diagonal.extent(0)),
      KOKKOS_LAMBDA(std::int64_t node) {
        for (std::int64_t i = 3 * node; i < 3 * node + 3; ++i)
          z(i) = inverse_diagonal(node) * r(i);
      });
}

/// x = D^1/2 x. Does not fence.
template<class Exec, class Scalar>
void apply_root_diagonal(const Exec& exec, const Array<Scalar, Exec>& inverse_diagonal,
                         const Array<Scalar, Exec>& x) {
  Kokkos::parallel_for(
      "femura::apply_root_diagonal", range(exec, inverse_diagonal.extent(0)),
      KOKKOS_LAMBDA(std::int64_t node) {
        const double scale = 1 / std::sqrt(double(inverse_diagonal(node)));
        for (std::int64_t i = 3 * node; i < 3 * node + 3; ++i)
          x(i) = Scalar(scale * double(x(i)));
      });
}

} // namespace femura
