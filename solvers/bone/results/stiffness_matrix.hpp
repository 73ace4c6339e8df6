// SPDX-License-Identifier: Apache-2.0
// These functions turn a 6 x 6 stiffness into engineering constants and find its axes.
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

/// The axes in which a stiffness is as near to an orthotropic one as it gets.
struct OrthotropicAxes {
  /// [i] the direction of axis i in the image, of unit length; right-handed. Of the orders and
  /// signs the one nearest to the axes of the image.
  std::array<std::array<double, 3>, 3> axis;
  StiffnessMatrix stiffness; ///< symmetric part, in these axes
  /// Norm of what orthotropy forbids relative to that of the whole, both of the fourth-order
  /// tensor: 0 of an orthotropic stiffness.
  double departure;
};

/// A departure that is no more than what solves to the usual tolerance leave.
inline constexpr double left_by_solves = 1e-4;

/// Finds the axes by minimising `departure` [1], from many starts; those of the image where they
/// depart by no more than `enough`, as by what the solves left. Of a stiffness that is isotropic
/// about an axis, or altogether, they are some of those that fit. Not for a stiffness of zeros.
///
/// [1] B. van Rietbergen, A. Odgaard, J. Kabel, R. Huiskes. Direct mechanics assessment of elastic
///     symmetries and properties of trabecular bone architecture. J. Biomech. 29 (1996) 1653-1657,
///     doi:10.1016/S0021-9290(96)00093-0.
OrthotropicAxes find_orthotropic_axes(const StiffnessMatrix& stiffness, double enough = 0);

/// Largest |C_ij - C_ji| relative to the largest |C_ij|.
double asymmetry(const StiffnessMatrix& stiffness);

/// Part of the largest stiffness that is none, as of a cell which bone does not lead through:
/// solves leave less there than this, of either sign.
inline constexpr double no_stiffness = 1e-6;

/// From the inverse of the symmetric part; none where that is not positive definite, or a stiffness
/// is none.
std::optional<EngineeringConstants> engineering_constants(const StiffnessMatrix& stiffness);

} // namespace ossatura
