// SPDX-License-Identifier: Apache-2.0
// A yield law is when bone yields and how it hardens, or when it is damaged and what breaks it, in
// the words of a test in one direction.
#pragma once

#include <ossatura/core/base/names.hpp>
#include <ossatura/kernels/bone/damage/law.hpp>

namespace ossatura {

enum class YieldCriterion {
  von_mises,      ///< alike in tension and compression
  drucker_prager, ///< a cone, by the yield in tension and in compression
  damage          ///< beyond the same cone voxels soften, and break
};

constexpr Names<YieldCriterion> names_of(YieldCriterion) {
  return {{YieldCriterion::von_mises, "von-mises"},
          {YieldCriterion::drucker_prager, "drucker-prager"},
          {YieldCriterion::damage, "damage"}};
}

/// Yield in uniaxial tests, and what is behind it. The defaults are those of trabecular tissue:
/// H. H. Bayraktar et al., J. Biomech. 37 (2004) 27-35, doi:10.1016/S0021-9290(03)00257-4.
struct YieldLaw {
  YieldCriterion criterion = YieldCriterion::drucker_prager;
  bool are_strains = true;     ///< the two that follow: times a voxel's modulus; else MPa
  double compression = 0.0081; ///< positive; of von Mises' criterion in tension, too
  double tension = 0.0033;     ///< positive; by less than 3 times the other, either way
  double hardening = 0.05;     ///< slope behind yield in compression, by the modulus: in [0, 1)
  double fracture_energy = 0;  ///< N/mm, positive with damage, which has no hardening
};

/// A cone must not be so flat that equal compression along two axes never yields.
constexpr double largest_yield_ratio = 3;

/// The cone with this law. Throws std::invalid_argument where there is none.
YieldCone make_yield_cone(const YieldLaw& law);

/// The least fracture energy (N/mm) with which voxels of this edge (mm) soften without snapping
/// back: it must be greater. It grows with the modulus (MPa) where yield is at given strains, and
/// is that of the largest then; else of the least.
double least_fracture_energy(const YieldLaw& law, double edge, double modulus);

/// The law of damage of voxels with this edge, as above. Throws std::invalid_argument where there
/// is none.
DamageLaw make_damage_law(const YieldLaw& law, double edge, double modulus);

} // namespace ossatura
