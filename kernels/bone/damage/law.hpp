// SPDX-License-Identifier: Apache-2.0
// Isotropic damage of a quasi-brittle voxel: the stress is that of the intact voxel times 1 - D,
// and D is a function of the largest load so far. Point bodies: no launch, no memory; callable on
// host and device.
//
// What drives D is the cone of plasticity/return_mapping.hpp, of the stress that an intact voxel
// would have, by its strength: r = (sqrt(q^2 + b^2) + a tr(sigma)) / k. Damage begins at r = 1, and
// in a uniaxial test of either sign r is the strain by that at which it begins. With the largest r
// so far, the stress in such a test falls linearly to nothing at r = f,
//
//     (1 - D) r = (f - r) / (f - 1)        1 <= r <= f,
//
// and unloading is a straight line to the origin: D is that of a secant. What a voxel of edge h
// dissipates in tension until it is broken is h^2 times the fracture energy G, whatever h is, for
//
//     f = 2 G / (h s e)
//
// with s and e stress and strain at which damage begins in tension. That is the crack band of
// Bazant and Oh [1]: a crack is one voxel wide. In compression it is more by the square of the
// ratio of the two strains. Edges from 2 G / (s e) on would have to snap back, and have no law.
//
// Damage of this kind, a scalar that multiplies the modulus and is driven by a measure of strain,
// is what micro-FE has for the fracture of trabeculae [2, 3]; each has a law of its own for D.
//
// [1] Z. P. Bazant, B. H. Oh. Crack band theory for fracture of concrete. Mater. Struct. 16 (1983)
//     155-177, doi:10.1007/BF02486267.
// [2] R. Hambli. Micro-CT finite element model and experimental validation of trabecular bone
//     damage and fracture. Bone 56 (2013) 363-374, doi:10.1016/j.bone.2013.06.028.
// [3] M. Stipsitz, P. K. Zysset, D. H. Pahr. Efficient materially nonlinear uFE solver for
//     simulations of trabecular bone failure. Biomech. Model. Mechanobiol. 19 (2020) 861-874,
//     doi:10.1007/s10237-019-01254-x.
#pragma once

#include <ossatura/kernels/bone/plasticity/return_mapping.hpp>

namespace ossatura {

/// Damage of all voxels, of moduli that differ.
struct DamageLaw {
  YieldCone cone;             ///< where damage begins; its hardening is not used
  double fracture_energy = 1; ///< N/mm
};

/// So much of its stiffness a broken voxel keeps: a body that breaks apart must not float.
constexpr double broken_stiffness = 1e-5;

namespace detail {

/// Damage of one voxel.
struct VoxelDamage {
  VoxelYield intact;
  double broken; ///< f: r where nothing is left; it has a law where f > 1

  OSSATURA_INLINE_FUNCTION VoxelDamage(const DamageLaw& law, double lambda, double mu,
                                       double modulus, double edge)
      : intact(law.cone, lambda, mu, modulus, edge) {
    const double tension = intact.strength / (1 + intact.pressure);
    broken = 2 * law.fracture_energy * modulus / (edge * tension * tension);
  }

  /// r of the modes of a displacement; negative under pressure alone.
  OSSATURA_INLINE_FUNCTION double load(const double (&modes)[24]) const {
    return 1 + VoxelTrial(intact, modes, PlasticVoxel{}).yield / intact.strength;
  }

  /// 1 - D, for the largest r so far.
  OSSATURA_INLINE_FUNCTION double kept(double most) const {
    if (!(most > 1))
      return 1;
    const double left = (broken / most - 1) / (broken - 1);
    return left > broken_stiffness ? left : broken_stiffness;
  }
};

} // namespace detail

} // namespace ossatura
