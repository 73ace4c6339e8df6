// SPDX-License-Identifier: Apache-2.0
// Jacobi's scaling divides vectors of modes by the diagonal of the stiffness.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/core/parallel/array_pointer.hpp>

#include <cstdint>

namespace ossatura {

namespace detail {
template<class Exec>
struct InvertModeDiagonal {
  ArrayPointer<const double> block;
  ArrayPointer<const std::uint8_t> held;
  ArrayPointer<double> inverse;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::int64_t mode = i / 3;
    const int c = int(i % 3);
    const double entry = block(9 * mode + 4 * c);
    inverse(i) = held(mode) >> c & 1 || !(entry > 0) ? 0 : 1 / entry;
  }
};

template<class Exec>
struct MultiplyEntries {
  ArrayPointer<const double> a, b;
  ArrayPointer<double> z;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const { z(i) = a(i) * b(i); }
};
} // namespace detail

/// inverse [num_modes, 3] of the diagonals of the blocks [num_modes, 9], 0 where `held` [num_modes]
/// and where a mode has no stiffness. Does not fence.
template<class Exec>
void invert_mode_diagonal(const Exec& exec, const Array<double, Exec>& block,
                          const Array<std::uint8_t, Exec>& held,
                          const Array<double, Exec>& inverse) {
  Kokkos::parallel_for("ossatura::invert_mode_diagonal", range(exec, inverse.extent(0)),
                       detail::InvertModeDiagonal<Exec>{block, held, inverse});
}

/// z(i) = a(i) b(i). Does not fence.
template<class Exec>
void multiply_entries(const Exec& exec, const Array<double, Exec>& a, const Array<double, Exec>& b,
                      const Array<double, Exec>& z) {
  Kokkos::parallel_for("ossatura::multiply_entries", range(exec, z.extent(0)),
                       detail::MultiplyEntries<Exec>{a, b, z});
}

} // namespace ossatura
