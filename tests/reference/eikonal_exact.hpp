// SPDX-License-Identifier: Apache-2.0
// Activation times in closed form.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

namespace reference {

/// Speed v0 + g z from a point at the origin: rays are circles.
inline double linear_speed_time(double v0, double g, const std::array<double, 3>& x) {
  const double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
  return std::acosh(1 + g * g * square / (2 * v0 * (v0 + g * x[2]))) / g;
}

/// Speeds `below` for z < 0 and the higher `above` for z > 0, from a point of depth `depth` on the
/// axis to a point at distance `range` from it and height z: direct, by a head wave along the
/// interface, or refracted by Snell's law (the least time over the points of the interface).
inline double two_half_spaces_time(double below, double above, double depth, double range,
                                   double z) {
  if (z <= 0) {
    const double direct = std::hypot(range, z + depth) / below;
    // The wave goes up and down at the critical angle, of which the sine is below / above.
    const double sine = below / above, cosine = std::sqrt(1 - sine * sine);
    const double least_range = (depth - z) * sine / cosine;
    if (range < least_range)
      return direct;
    return std::min(direct, range / above + (depth - z) * cosine / below);
  }
  double left = 0, right = range; // where the derivative along the interface changes sign
  for (int step = 0; step < 200; ++step) {
    const double s = (left + right) / 2;
    const double slope =
        s / std::hypot(s, depth) / below - (range - s) / std::hypot(range - s, z) / above;
    (slope < 0 ? left : right) = s;
  }
  return std::hypot(left, depth) / below + std::hypot(range - left, z) / above;
}

/// The slab of Niederer et al. (2011): velocities `along` x and `across`, a cube of 1.5 mm at the
/// origin that starts at time 0.
inline double slab_time(double along, double across, const std::array<double, 3>& x) {
  const double side = 1.5;
  double square = 0;
  for (int axis = 0; axis < 3; ++axis) {
    const double way = std::max(x[axis] - side, 0.0) / (axis == 0 ? along : across);
    square += way * way;
  }
  return std::sqrt(square);
}

} // namespace reference
