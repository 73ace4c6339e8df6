// SPDX-License-Identifier: Apache-2.0
// Half precision against the definition of the format, all 65536 numbers of it.
#include "tests/catch.hpp"
#include <ossatura/core/base/half.hpp>

#include <cmath>
#include <cstring>
#include <limits>

namespace {

using ossatura::Half;

/// A half from its bits.
Half half_of(std::uint16_t bits) {
  Half half;
  static_assert(sizeof half == sizeof bits);
  std::memcpy(static_cast<void*>(&half), &bits, sizeof bits);
  return half;
}
std::uint16_t bits_of(Half half) {
  std::uint16_t bits;
  std::memcpy(&bits, &half, sizeof bits);
  return bits;
}

/// What the format says the bits mean, for a finite number.
double meaning(int bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

} // namespace

TEST_CASE("Halves are what IEEE 754 says", "[half]") {
  bool means = true, returns = true;
  for (int bits = 0; bits < 65536; ++bits) {
    const Half half = half_of(std::uint16_t(bits));
    const float value = half;
    if ((bits >> 10 & 31) == 31) {
      means = means && ((bits & 1023) == 0 ? value == (bits & 0x8000 ? -1 : 1) *
                                                          std::numeric_limits<float>::infinity()
                                           : std::isnan(value));
    } else {
      means = means && double(value) == meaning(bits);
    }
    const bool is_nan = std::isnan(value);
    returns = returns && (is_nan ? std::isnan(float(Half(value))) : bits_of(Half(value)) == bits);
  }
  CHECK(means);
  CHECK(returns);
}

TEST_CASE("Halves are rounded to the nearest, ties to even", "[half]") {
  const float up = std::numeric_limits<float>::infinity();
  bool nearest = true;
  for (int bits = 0; bits < 0x7c00; ++bits) {
    // Between this one and the next; past the largest, the next would be 2^16.
    const float low = float(meaning(bits)),
                high = bits == 0x7bff ? 65536.0f : float(meaning(bits + 1));
    const float middle = (low + high) / 2; // exact
    const int even = bits % 2 == 0 ? bits : bits + 1;
    const auto rounds = [&](float value, int to) {
      return bits_of(Half(value)) == to && bits_of(Half(-value)) == (to | 0x8000) &&
             bits_of(Half(double(value))) == to;
    };
    nearest = nearest && rounds(middle, even) && rounds(std::nextafter(middle, 0.0f), bits) &&
              rounds(std::nextafter(middle, up), bits + 1) &&
              rounds(std::nextafter(low, up), bits) && rounds(std::nextafter(high, 0.0f), bits + 1);
  }
  CHECK(nearest);
  CHECK(std::isnan(float(Half(std::nanf("")))));
  CHECK(bits_of(Half(1e30f)) == 0x7c00);
  CHECK(bits_of(Half(-up)) == 0xfc00);
  CHECK(bits_of(Half(1e-30f)) == 0);
  CHECK(bits_of(Half::within_range(1e30f)) == 0x7bff);
  CHECK(bits_of(Half::within_range(-up)) == 0xfbff);
  CHECK(bits_of(Half::within_range(0.1f)) == bits_of(Half(0.1f)));
  CHECK(std::isnan(float(Half::within_range(std::nanf("")))));
}
