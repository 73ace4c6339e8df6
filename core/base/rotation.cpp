// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/base/rotation.hpp>

#include <ossatura/core/base/require.hpp>

#include <Kokkos_MathematicalConstants.hpp>

#include <cmath>

namespace ossatura {

namespace {

constexpr double degrees_of_radian = 180 / Kokkos::numbers::pi;

/// c I + s [k] + (1 - c) k k^T, of Rodrigues, for a unit vector k.
Rotation rodrigues(const std::array<double, 3>& k, double cosine, double sine) {
  Rotation r{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3, l = (i + 2) % 3;
    for (std::size_t d = 0; d < 3; ++d)
      r[3 * i + d] = (1 - cosine) * k[i] * k[d];
    r[3 * i + i] += cosine;
    r[3 * i + j] -= sine * k[l];
    r[3 * i + l] += sine * k[j];
  }
  return r;
}

} // namespace

Rotation rotation_about(const std::array<double, 3>& axis, double degrees) {
  const double length = std::hypot(axis[0], axis[1], axis[2]);
  OSSATURA_REQUIRE(length > 0 && std::isfinite(length) && std::isfinite(degrees),
                   "an axis of length " << length << " and an angle of " << degrees);
  const double within = std::remainder(degrees, 360);
  double cosine = std::cos(within / degrees_of_radian), sine = std::sin(within / degrees_of_radian);
  if (std::remainder(within, 90) == 0) {
    cosine = std::round(cosine);
    sine = std::round(sine);
  }
  return rodrigues({axis[0] / length, axis[1] / length, axis[2] / length}, cosine, sine);
}

Rotation rotation_between(const std::array<double, 3>& from, const std::array<double, 3>& to) {
  std::array<double, 3> v{}; // the sine times the axis
  double cosine = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3, l = (i + 2) % 3;
    v[i] = from[j] * to[l] - from[l] * to[j];
    cosine += from[i] * to[i];
  }
  OSSATURA_REQUIRE(cosine > -1 + 1e-9, "opposite vectors");
  Rotation r{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t j = (i + 1) % 3, l = (i + 2) % 3;
    for (std::size_t d = 0; d < 3; ++d)
      r[3 * i + d] = v[i] * v[d] / (1 + cosine);
    r[3 * i + i] += cosine;
    r[3 * i + j] -= v[l];
    r[3 * i + l] += v[j];
  }
  return r;
}

Rotation compose(const Rotation& second, const Rotation& first) {
  Rotation product{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t d = 0; d < 3; ++d)
      for (std::size_t k = 0; k < 3; ++k)
        product[3 * i + d] += second[3 * i + k] * first[3 * k + d];
  return product;
}

AxisAndAngle axis_and_angle(const Rotation& r) {
  std::array<double, 3> v{r[7] - r[5], r[2] - r[6], r[3] - r[1]}; // 2 sin times the axis
  const double sine = std::hypot(v[0], v[1], v[2]) / 2, cosine = (r[0] + r[4] + r[8] - 1) / 2;
  AxisAndAngle found{{0, 0, 1}, std::atan2(sine, cosine) * degrees_of_radian};
  if (sine > 1e-7) {
    for (std::size_t i = 0; i < 3; ++i)
      found.axis[i] = v[i] / (2 * sine);
  } else if (cosine < 0) { // a half turn: r = 2 k k^T - I
    std::size_t most = 0;
    for (std::size_t i = 1; i < 3; ++i)
      if (r[4 * i] > r[4 * most])
        most = i;
    double length = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      found.axis[i] = r[3 * i + most] + (i == most ? 1 : 0);
      length = std::sqrt(length * length + found.axis[i] * found.axis[i]);
    }
    for (double& x : found.axis)
      x /= length;
  }
  return found;
}

} // namespace ossatura
