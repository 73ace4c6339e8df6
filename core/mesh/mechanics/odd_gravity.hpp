// SPDX-License-Identifier: Apache-2.0
// An odd gravity is hardly in m/s^2, as of cm/s^2 and mm/s^2.
#pragma once

#include <cmath>
#include <optional>

namespace ossatura {

inline constexpr double earth_gravity = 9.81; ///< m/s^2

/// The magnitude of an acceleration of three components in m/s^2 that is more than fifty times that
/// of the earth.
inline std::optional<double> find_odd_gravity(const double* acceleration) {
  constexpr double largest = 490; // m/s^2
  const double g = std::hypot(acceleration[0], acceleration[1], acceleration[2]);
  return g > largest ? std::optional(g) : std::nullopt;
}

} // namespace ossatura
