// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/image/place.hpp>

#include <cmath>

namespace ossatura {

std::optional<ImageDirection> make_direction(const std::array<std::array<double, 3>, 3>& axis,
                                             const std::array<double, 3>& edges) {
  ImageDirection direction{};
  for (std::size_t d = 0; d < 3; ++d) {
    const double length = std::hypot(axis[d][0], axis[d][1], axis[d][2]);
    if (!(std::abs(length - edges[d]) <= 1e-3 * edges[d]))
      return {};
    for (std::size_t i = 0; i < 3; ++i)
      direction[3 * i + d] = axis[d][i] / length;
  }
  for (std::size_t d = 0; d < 3; ++d) {
    double cosine = 0;
    for (std::size_t i = 0; i < 3; ++i)
      cosine += direction[3 * i + d] * direction[3 * i + (d + 1) % 3];
    if (!(std::abs(cosine) <= 1e-3))
      return {};
  }
  return direction;
}

std::array<double, 3> lower_corner(const std::array<double, 3>& centre,
                                   const std::array<double, 3>& edges,
                                   const ImageDirection& direction) {
  std::array<double, 3> corner = centre;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t d = 0; d < 3; ++d)
      corner[i] -= edges[d] / 2 * direction[3 * i + d];
  return corner;
}

} // namespace ossatura
