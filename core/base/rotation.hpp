// SPDX-License-Identifier: Apache-2.0
// A rotation turns points and vectors in space.
#pragma once

#include <array>

namespace ossatura {

/// Row-major 3 x 3: a vector v becomes rotation[3 i + d] v[d].
using Rotation = std::array<double, 9>;
inline constexpr Rotation no_rotation{1, 0, 0, 0, 1, 0, 0, 0, 1};

/// The rotation by an angle about an axis of any length but 0, right-handed: about z from x to y.
/// Exact for multiples of 90 degrees about x, y and z.
Rotation rotation_about(const std::array<double, 3>& axis, double degrees);

/// The rotation by the smallest angle that takes one unit vector to another one, of which it is not
/// the opposite.
Rotation rotation_between(const std::array<double, 3>& from, const std::array<double, 3>& to);

/// `first`, and then `second`.
Rotation compose(const Rotation& second, const Rotation& first);

/// The angle of a rotation in degrees, 0 to 180, and its axis, a unit vector (z of no rotation).
struct AxisAndAngle {
  std::array<double, 3> axis;
  double degrees;
};
AxisAndAngle axis_and_angle(const Rotation& rotation);

} // namespace ossatura
