// SPDX-License-Identifier: Apache-2.0
// mix_bits scatters the bits of a number: hashes, and random numbers that depend on their number
// alone.
#pragma once

#include <Kokkos_Core.hpp>

#include <cstdint>

namespace ossatura::detail {

/// The step of SplitMix64 between two states.
constexpr std::uint64_t golden_step = 0x9e3779b97f4a7c15u;

/// The finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014, doi:10.1145/2660193.2660195): each
/// bit of the result depends on each of `x`; a bijection with mix_bits(0) = 0.
KOKKOS_INLINE_FUNCTION std::uint64_t mix_bits(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

} // namespace ossatura::detail
