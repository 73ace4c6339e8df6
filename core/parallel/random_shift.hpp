// SPDX-License-Identifier: Apache-2.0
// random_shift moves a lattice point by a small pseudo-random distance that depends on the point's
// number alone, so that any order of points gives the same shifts.
#pragma once

#include <array>
#include <cstdint>

namespace ossatura::detail {

/// SplitMix64 (Steele, Lea, Flood 2014, doi:10.1145/2714064.2660195), one step from `x`.
inline std::uint64_t next_bits(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// A point of the ball of this radius, evenly spread over it.
inline std::array<double, 3> random_shift(std::uint64_t seed, std::uint64_t number, double radius) {
  std::uint64_t bits = next_bits(next_bits(seed) ^ number);
  for (;;) {
    std::array<double, 3> shift;
    double square = 0;
    for (double& s : shift) {
      bits = next_bits(bits);
      s = double(bits >> 11) * 0x1p-52 - 1;
      square += s * s;
    }
    if (square > 1)
      continue;
    for (double& s : shift)
      s *= radius;
    return shift;
  }
}

} // namespace ossatura::detail
