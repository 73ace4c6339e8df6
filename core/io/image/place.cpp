// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/image/place.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {
namespace {

/// The nearest rotation, or reflection, to a matrix that is one but for 1e-3: its polar factor by
/// Newton's iteration R (3 - R^T R) / 2, which squares what is left. One to rounding stays as it
/// is.
ImageDirection nearest_rotation(ImageDirection r) {
  for (int iteration = 0; iteration < 5; ++iteration) {
    std::array<std::array<double, 3>, 3> gram{};
    double off = 0;
    for (std::size_t a = 0; a < 3; ++a)
      for (std::size_t b = 0; b < 3; ++b) {
        for (std::size_t i = 0; i < 3; ++i)
          gram[a][b] += r[3 * i + a] * r[3 * i + b];
        off = std::max(off, std::abs(gram[a][b] - (a == b ? 1 : 0)));
      }
    if (off <= 1e-14)
      return r;
    const ImageDirection before = r;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t b = 0; b < 3; ++b) {
        double product = 0;
        for (std::size_t a = 0; a < 3; ++a)
          product += before[3 * i + a] * gram[a][b];
        r[3 * i + b] = (3 * before[3 * i + b] - product) / 2;
      }
  }
  return r;
}

} // namespace

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
  return nearest_rotation(direction);
}

std::array<double, 3> turn_axes(const std::array<double, 3>& spacing, ImageDirection& direction) {
  std::array<double, 3> length{};
  for (std::size_t d = 0; d < 3; ++d) {
    length[d] = std::fabs(spacing[d]);
    for (std::size_t i = 0; i < 3 && spacing[d] < 0; ++i)
      direction[3 * i + d] = direction[3 * i + d] == 0 ? 0 : -direction[3 * i + d];
  }
  return length;
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

bool has_place(const VoxelImage& image) {
  const auto is_at = [&](double part) {
    for (std::size_t d = 0; d < 3; ++d)
      if (std::abs(image.origin[d] + part * image.edges()[d]) > 1e-6 * image.edges()[d])
        return false;
    return true;
  };
  if (image.direction != identity_direction)
    return true;
  return image.world.empty() ? !(is_at(0) || is_at(0.5)) : image.says_place;
}

} // namespace ossatura
