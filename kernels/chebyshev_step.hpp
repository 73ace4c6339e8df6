// SPDX-License-Identifier: BSD-3-Clause
// The vector work of diagonally preconditioned iterations, fused; the diagonal is shared by a
// node's three components.
#pragma once

#include "core/vector.hpp"

#include <cmath>

namespace femura {

namespace detail {
template<class Exec, class Scalar>
struct ChebyshevStart {
  Array<Scalar, Exec> inverse_diagonal;
  Scalar c;
  Array<Scalar, Exec> b;
  Array<Scalar, Exec> p;
  Array<Scalar, Exec> x;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Scalar scale = c * inverse_diagonal(node);
    for (std::int64_t i = 3 * node; i < 3 * node + 3; ++i)
      x(i) = p(i) = scale * b(i);
  }
};
} // namespace detail

/// p = c D^-1 b, x = p: the first step from x = 0. Does not fence.
template<class Exec, class Scalar>
void chebyshev_start(const Exec& exec, const Array<Scalar, Exec>& inverse_diagonal, Scalar c,
                     const Array<Scalar, Exec>& b, const Array<Scalar, Exec>& p,
                     const Array<Scalar, Exec>& x) {
  Kokkos::parallel_for("femura::chebyshev_start", range(exec, inverse_diagonal.extent(0)),
                       detail::ChebyshevStart<Exec, Scalar>{inverse_diagonal, c, b, p, x});
}

namespace detail {
template<class Exec, class Scalar>
struct ChebyshevStep {
  Array<Scalar, Exec> inverse_diagonal;
  Scalar a;
  Scalar c;
  Array<Scalar, Exec> b;
  Array<Scalar, Exec> q;
  Array<Scalar, Exec> p;
  Array<Scalar, Exec> x;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Scalar scale = c * inverse_diagonal(node);
    for (std::int64_t i = 3 * node; i < 3 * node + 3; ++i) {
      const Scalar step = (a == Scalar(0) ? Scalar(0) : a * p(i)) + scale * (b(i) - q(i));
      p(i) = step;
      x(i) += step;
    }
  }
};
} // namespace detail

/// p = a p + c D^-1 (b - q), x += p, where q = A x; with a = 0, p is not read. Does not fence.
template<class Exec, class Scalar>
void chebyshev_step(const Exec& exec, const Array<Scalar, Exec>& inverse_diagonal, Scalar a,
                    Scalar c, const Array<Scalar, Exec>& b, const Array<Scalar, Exec>& q,
                    const Array<Scalar, Exec>& p, const Array<Scalar, Exec>& x) {
  Kokkos::parallel_for("femura::chebyshev_step", range(exec, inverse_diagonal.extent(0)),
                       detail::ChebyshevStep<Exec, Scalar>{inverse_diagonal, a, c, b, q, p, x});
}

namespace detail {
template<class Exec, class Scalar>
struct ApplyInverseDiagonal {
  Array<Scalar, Exec> inverse_diagonal;
  Array<Scalar, Exec> r;
  Array<Scalar, Exec> z;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    for (std::int64_t i = 3 * node; i < 3 * node + 3; ++i)
      z(i) = inverse_diagonal(node) * r(i);
  }
};
} // namespace detail

/// z = D^-1 r. Does not fence.
template<class Exec, class Scalar>
void apply_inverse_diagonal(const Exec& exec, const Array<Scalar, Exec>& inverse_diagonal,
                            const Array<Scalar, Exec>& r, const Array<Scalar, Exec>& z) {
  Kokkos::parallel_for("femura::apply_inverse_diagonal", range(exec, inverse_diagonal.extent(0)),
                       detail::ApplyInverseDiagonal<Exec, Scalar>{inverse_diagonal, r, z});
}

namespace detail {
template<class Exec, class Scalar>
struct ApplyRootDiagonal {
  Array<Scalar, Exec> inverse_diagonal;
  Array<Scalar, Exec> x;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const double scale = 1 / std::sqrt(double(inverse_diagonal(node)));
    for (std::int64_t i = 3 * node; i < 3 * node + 3; ++i)
      x(i) = Scalar(scale * double(x(i)));
  }
};
} // namespace detail

/// x = D^1/2 x. Does not fence.
template<class Exec, class Scalar>
void apply_root_diagonal(const Exec& exec, const Array<Scalar, Exec>& inverse_diagonal,
                         const Array<Scalar, Exec>& x) {
  Kokkos::parallel_for("femura::apply_root_diagonal", range(exec, inverse_diagonal.extent(0)),
                       detail::ApplyRootDiagonal<Exec, Scalar>{inverse_diagonal, x});
}

} // namespace femura
