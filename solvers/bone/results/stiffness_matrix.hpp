// SPDX-License-Identifier: Apache-2.0
// These functions turn a 6 x 6 stiffness into engineering constants.
#pragma once

#include <array>
#include <optional>

namespace ossatura {

/// Stress by strain in MPa, [row][column] in the order xx, yy, zz, xy, yz, zx, with engineering
/// shear strains.
using StiffnessMatrix = std::array<std::array<double, 6>, 6>;

/// Constants along the axes of the image; meaningful where these are close to the material's own.
struct EngineeringConstants {
  std::array<double, 3> young; ///< MPa: x, y, z
  std::array<double, 3> shear; ///< MPa: xy, yz, zx
  std::array<std::array<double, 3>, 3>
      poisson; ///< [i][j]: contraction along j by extension along i
};

/// Largest |C_ij - C_ji| relative to the largest |C_ij|.
double asymmetry(const StiffnessMatrix& stiffness);

/// From the inverse of the symmetric part; none where that is not positive definite.
std::optional<EngineeringConstants> engineering_constants(const StiffnessMatrix& stiffness);

} // namespace ossatura
