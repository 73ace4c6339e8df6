// SPDX-License-Identifier: Apache-2.0
// A fingerprint is a number that vectors with the same bits have alike, and others hardly ever:
// processes compare it where they compute the same vector, each for itself.
#pragma once

#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/mix_bits.hpp>

namespace ossatura {

namespace detail {
template<class Exec>
struct AddFingerprints {
  Array<double, Exec> x;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::uint64_t& sum) const {
    sum += mix_bits(Kokkos::bit_cast<std::uint64_t>(x(i)) + golden_step * std::uint64_t(i + 1));
  }
};
} // namespace detail

/// The same for any number of threads. Fences.
template<class Exec>
std::uint64_t fingerprint(const Exec& exec, const Array<double, Exec>& x) {
  std::uint64_t sum = 0;
  Kokkos::parallel_reduce("ossatura::fingerprint", range(exec, x.extent(0)),
                          detail::AddFingerprints<Exec>{x}, sum);
  fence(exec, "ossatura::fingerprint");
  return sum;
}

} // namespace ossatura
