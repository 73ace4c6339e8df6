// SPDX-License-Identifier: Apache-2.0
// Orthotropic elasticity has three planes of symmetry across the axes.
#pragma once

#include <array>
#include <vector>

namespace ossatura {

/// Pairs of axes are yz, zx, xy. Ratio xy: strain along y for a stress along x, times -1.
struct Orthotropy {
  std::array<double, 3> young{}; ///< Pa: x, y, z
  std::array<double, 3> poisson{}, shear{};
};

/// [21], upper triangle of D by rows, strains xx yy zz yz zx xy; empty where D does not exist.
std::vector<double> orthotropic_elasticity(const Orthotropy& moduli);

/// Whether a symmetric 6 x 6 matrix so stored is positive definite.
bool is_positive_definite(const std::vector<double>& elasticity);

} // namespace ossatura
