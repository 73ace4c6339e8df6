// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/yield_law.hpp>

#include <ossatura/core/base/require.hpp>

namespace ossatura {

YieldCone make_yield_cone(const YieldLaw& law) {
  const double compression = law.compression;
  const double tension = law.criterion == YieldCriterion::von_mises ? compression : law.tension;
  OSSATURA_REQUIRE(compression > 0 && tension > 0,
                   "yield at " << tension << " in tension, " << compression << " in compression");
  OSSATURA_REQUIRE(compression < largest_yield_ratio * tension &&
                       tension < largest_yield_ratio * compression,
                   "yield at " << tension << " in tension and " << compression
                               << " in compression differs by a factor of three or more");
  OSSATURA_REQUIRE(law.hardening >= 0 && law.hardening < 1, "hardening " << law.hardening);
  YieldCone cone;
  cone.pressure = (compression - tension) / (compression + tension);
  cone.strength = 2 * compression * tension / (compression + tension);
  // In uniaxial compression (1 - a) |stress| = k + H gamma, and (1 - a) gamma is the plastic
  // strain.
  cone.hardening = (1 - cone.pressure) * (1 - cone.pressure) * law.hardening / (1 - law.hardening);
  cone.per_modulus = law.are_strains;
  return cone;
}

double least_fracture_energy(const YieldLaw& law, double edge, double modulus) {
  const double stress = law.are_strains ? law.tension * modulus : law.tension;
  return 0.5 * edge * stress * stress / modulus;
}

DamageLaw make_damage_law(const YieldLaw& law, double edge, double modulus) {
  YieldLaw soft = law;
  soft.hardening = 0;
  const double least = least_fracture_energy(law, edge, modulus);
  OSSATURA_REQUIRE(law.fracture_energy > least,
                   "a fracture energy of " << law.fracture_energy << " N/mm, for voxels of " << edge
                                           << " mm more than " << least);
  return {make_yield_cone(soft), law.fracture_energy};
}

} // namespace ossatura
