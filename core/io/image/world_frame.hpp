// SPDX-License-Identifier: Apache-2.0
// The world frame takes results from the axes of the image, along which everything is computed, to
// the world of the image's file.
#pragma once

#include <ossatura/core/mesh/voxel_image.hpp>

#include <algorithm>
#include <cstddef>

namespace ossatura {

/// Whether the axes of the world are those of the image.
inline bool is_identity(const ImageDirection& direction) {
  return direction == identity_direction;
}

/// Whether the image is a mirror image: of determinant -1.
bool is_mirrored(const ImageDirection& direction);

/// Turns vectors [count, 3] along the axes of the image to those of the world, from `vectors` to
/// `turned`, which may be the same.
template<class Real>
void turn_vectors(const ImageDirection& direction, const Real* vectors, std::size_t count,
                  Real* turned) {
  for (std::size_t n = 0; n < count; ++n) {
    const Real v[3] = {vectors[3 * n], vectors[3 * n + 1], vectors[3 * n + 2]};
    for (std::size_t i = 0; i < 3; ++i) {
      double sum = 0;
      for (std::size_t d = 0; d < 3; ++d)
        sum += direction[3 * i + d] * double(v[d]);
      turned[3 * n + i] = Real(sum);
    }
  }
}

/// Symmetric tensors [n, 6] in the same way, (xx, yy, zz, xy, yz, zx); what stands for a shear is
/// `shear` times the entry of the tensor (2: engineering strains).
template<class Real>
void turn_tensors(const ImageDirection& direction, const Real* tensors, std::size_t count,
                  double shear, Real* turned) {
  constexpr std::size_t place[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
  for (std::size_t n = 0; n < count; ++n) {
    Real t[6];
    std::copy(tensors + 6 * n, tensors + 6 * n + 6, t);
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = i; j < 3; ++j) {
        double sum = 0;
        for (std::size_t p = 0; p < 3; ++p)
          for (std::size_t q = 0; q < 3; ++q)
            sum += direction[3 * i + p] * direction[3 * j + q] * double(t[place[p][q]]) /
                   (p == q ? 1 : shear);
        turned[6 * n + place[i][j]] = Real(i == j ? sum : shear * sum);
      }
  }
}

} // namespace ossatura
