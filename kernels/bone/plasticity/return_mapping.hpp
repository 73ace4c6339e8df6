// SPDX-License-Identifier: Apache-2.0
// Rate-independent plasticity of a voxel with one plastic state: yield criterion, return mapping
// and consistent tangent. Point bodies: no launch, no memory; callable on host and device.
//
// The trilinear cube of element.hpp has a mean strain and, beside it, twelve higher modes of
// displacement (bending, twist, warping), whose stress has no mean. The criterion is a cone,
//
//     sqrt(q^2 + b^2) + a tr(sigma) = k + H gamma,
//
// with q von Mises' stress and sigma the mean stress of the voxel, b^2 = 6 mu times the density of
// the elastic energy in the higher modes, and gamma the plastic multiplier. a = 0 is von Mises'
// criterion [1], a > 0 that of Drucker and Prager [2]. As q^2 is 6 mu times the density of energy
// of distortion, the root is about von Mises' stress in the mean square over the voxel, as
// Ilyushin's criterion [4] has it for plates: a strut one voxel thick yields in bending, at 1.4
// times its plastic moment for a Poisson's ratio of 0.3, where with elastic higher modes it never
// would. Flow is associated. Mean deviator and higher modes have one modulus in this norm, so that
// both return radially, by one factor, in closed form [3]; the incremental potential is convex and
// the tangent symmetric.
//
// Eight Gauss points with the strain of the element would do worse: in plastic bending their
// pressure stays elastic and keeps (lambda + 2/3 mu) / (lambda + 3 mu) of the stiffness of the
// mode, 48 % at a Poisson's ratio of 0.3, without end, for three times the state and eight times
// the work.
//
// [1] R. von Mises. Mechanik der festen Koerper im plastisch-deformablen Zustand. Nachr. Ges. Wiss.
//     Goettingen (1913) 582-592.
// [2] D. C. Drucker, W. Prager. Soil mechanics and plastic analysis or limit design. Q. Appl. Math.
//     10 (1952) 157-165, doi:10.1090/qam/48291.
// [3] E. A. de Souza Neto, D. Peric, D. R. J. Owen. Computational Methods for Plasticity. Wiley
//     (2008), chapters 7 and 8, doi:10.1002/9780470694626: return to the cone and to its apex.
// [4] A. A. Ilyushin. Plasticite: deformations elasto-plastiques. Eyrolles, Paris (1956).
#pragma once

#include <ossatura/core/base/function.hpp>
#include <ossatura/kernels/bone/element.hpp>

#include <cmath>

namespace ossatura {

/// The cone for all voxels, of moduli that differ.
struct YieldCone {
  double pressure = 0;     ///< a
  double strength = 0;     ///< k of a modulus of 1 MPa where `per_modulus`, else in MPa
  double hardening = 0;    ///< H of a modulus of 1 MPa
  bool per_modulus = true; ///< yield is at given strains, not at given stresses
};

namespace detail {

constexpr int num_higher_modes = 12;
/// Place of a higher mode among the 24 numbers between transform_vertices and transform_modes.
OSSATURA_INLINE_FUNCTION constexpr int higher_mode(int k) {
  return k < 3 ? 9 + k : 12 + k;
}

/// Plastic strain of a voxel: mean (xx, yy, zz, xy, yz, zx; engineering shear), the higher modes in
/// mm as transform_vertices has them, and the multiplier gamma.
struct PlasticVoxel {
  static constexpr int size = 6 + num_higher_modes + 1;
  double strain[6], mode[num_higher_modes], multiplier;
};

/// Elasticity and yield of one voxel.
struct VoxelYield {
  double lambda, mu, edge;              ///< MPa, mm
  double pressure, strength, hardening; ///< a, k, H of its modulus

  OSSATURA_INLINE_FUNCTION VoxelYield(const YieldCone& cone, double lambda_of, double mu_of,
                                      double modulus, double edge_of)
      : lambda(lambda_of)
      , mu(mu_of)
      , edge(edge_of)
      , pressure(cone.pressure)
      , strength(cone.per_modulus ? cone.strength * modulus : cone.strength)
      , hardening(cone.hardening * modulus) {}

  OSSATURA_INLINE_FUNCTION double bulk() const { return lambda + mu * (2.0 / 3.0); }
  OSSATURA_INLINE_FUNCTION double volume() const { return edge * edge * edge; }
};

/// Mean strain of the modes of a displacement.
OSSATURA_INLINE_FUNCTION void mean_strain(const double (&modes)[24], double edge,
                                          double (&strain)[6]) {
  const double scale = 0.25 / edge;
  strain[0] = scale * modes[3];
  strain[1] = scale * modes[7];
  strain[2] = scale * modes[14];
  strain[3] = scale * (modes[6] + modes[4]);
  strain[4] = scale * (modes[13] + modes[8]);
  strain[5] = scale * (modes[5] + modes[12]);
}

/// Modes with the given mean strain and higher modes.
OSSATURA_INLINE_FUNCTION void plastic_modes(const double (&strain)[6],
                                            const double (&mode)[num_higher_modes], double edge,
                                            double (&modes)[24]) {
  for (int i = 0; i < 9; ++i)
    modes[i] = 0;
  modes[12] = modes[13] = modes[14] = 0;
  const double scale = 4 * edge;
  modes[3] = scale * strain[0];
  modes[7] = scale * strain[1];
  modes[14] = scale * strain[2];
  modes[6] = scale * strain[3];
  modes[13] = scale * strain[4];
  modes[5] = scale * strain[5];
  for (int k = 0; k < num_higher_modes; ++k)
    modes[higher_mode(k)] = mode[k];
}

/// Forces of the higher modes.
OSSATURA_INLINE_FUNCTION void stress_modes(const VoxelYield& voxel,
                                           const double (&mode)[num_higher_modes],
                                           double (&force)[num_higher_modes]) {
  double modes[24] = {};
  for (int k = 0; k < num_higher_modes; ++k)
    modes[higher_mode(k)] = mode[k];
  apply_mode_stiffness(voxel.edge * voxel.lambda, voxel.edge * voxel.mu, modes);
  for (int k = 0; k < num_higher_modes; ++k)
    force[k] = modes[higher_mode(k)];
}

/// Mean stress of an elastic strain.
OSSATURA_INLINE_FUNCTION void mean_stress_of(const VoxelYield& voxel, const double (&strain)[6],
                                             double (&stress)[6]) {
  const double trace = strain[0] + strain[1] + strain[2];
  for (int i = 0; i < 6; ++i)
    stress[i] = i < 3 ? voxel.lambda * trace + 2 * voxel.mu * strain[i] : voxel.mu * strain[i];
}

/// What is elastic if nothing flows.
struct VoxelTrial {
  double deviator[6]; ///< of the strain, engineering shear
  double dilation;    ///< trace of the strain
  double mode[num_higher_modes], force[num_higher_modes];
  double norm;  ///< sqrt(q^2 + b^2), MPa
  double yield; ///< what the criterion is exceeded by, MPa

  /// Of the modes of a displacement.
  OSSATURA_INLINE_FUNCTION VoxelTrial(const VoxelYield& voxel, const double (&modes)[24],
                                      const PlasticVoxel& plastic) {
    double strain[6];
    mean_strain(modes, voxel.edge, strain);
    for (int i = 0; i < 6; ++i)
      deviator[i] = strain[i] - plastic.strain[i];
    dilation = deviator[0] + deviator[1] + deviator[2];
    double square = 0; // of the deviator, as a tensor
    for (int i = 0; i < 3; ++i) {
      deviator[i] -= dilation / 3;
      square += deviator[i] * deviator[i] + 0.5 * deviator[3 + i] * deviator[3 + i];
    }
    for (int k = 0; k < num_higher_modes; ++k)
      mode[k] = modes[higher_mode(k)] - plastic.mode[k];
    stress_modes(voxel, mode, force);
    double energy = 0; // twice that of the higher modes
    for (int k = 0; k < num_higher_modes; ++k)
      energy += mode[k] * force[k];
    norm = std::sqrt(6 * voxel.mu * voxel.mu * square + 3 * voxel.mu * energy / voxel.volume());
    yield = norm + voxel.pressure * 3 * voxel.bulk() * dilation -
            (voxel.strength + voxel.hardening * plastic.multiplier);
  }
};

/// The return of a trial that exceeds the criterion: deviator and higher modes are multiplied by
/// `kept`, `dilation` becomes plastic.
struct VoxelReturn {
  double multiplier, kept, dilation;
  bool to_apex;

  OSSATURA_INLINE_FUNCTION VoxelReturn(const VoxelYield& voxel, const VoxelTrial& trial) {
    const double by_pressure = 9 * voxel.bulk() * voxel.pressure * voxel.pressure;
    multiplier = trial.yield / (3 * voxel.mu + by_pressure + voxel.hardening);
    const double norm = trial.norm - 3 * voxel.mu * multiplier;
    to_apex = !(norm > 0);
    if (to_apex) {
      multiplier = (trial.yield - trial.norm) / (by_pressure + voxel.hardening);
      kept = 0;
    } else {
      kept = norm / trial.norm;
    }
    dilation = 3 * voxel.pressure * multiplier;
  }

  /// plastic += what flows.
  OSSATURA_INLINE_FUNCTION void add_to(const VoxelTrial& trial, PlasticVoxel& plastic) const {
    for (int i = 0; i < 6; ++i)
      plastic.strain[i] += (1 - kept) * trial.deviator[i] + (i < 3 ? dilation / 3 : 0);
    for (int k = 0; k < num_higher_modes; ++k)
      plastic.mode[k] += (1 - kept) * trial.mode[k];
    plastic.multiplier += multiplier;
  }

  /// The derivative of what flows along the modes of a displacement.
  OSSATURA_INLINE_FUNCTION void differentiate(const VoxelYield& voxel, const VoxelTrial& trial,
                                              const double (&modes)[24], double (&strain)[6],
                                              double (&mode)[num_higher_modes]) const {
    double deviator[6];
    mean_strain(modes, voxel.edge, deviator);
    const double trace = deviator[0] + deviator[1] + deviator[2];
    for (int i = 0; i < 3; ++i)
      deviator[i] -= trace / 3;
    const double by_pressure = 9 * voxel.bulk() * voxel.pressure * voxel.pressure;
    const double pressure = 3 * voxel.bulk() * voxel.pressure * trace;
    double of_kept = 0, of_multiplier;
    if (to_apex) {
      of_multiplier = pressure / (by_pressure + voxel.hardening);
    } else {
      double along = 0, energy = 0; // of trial strains
      for (int i = 0; i < 3; ++i)
        along += trial.deviator[i] * deviator[i] + 0.5 * trial.deviator[3 + i] * deviator[3 + i];
      for (int k = 0; k < num_higher_modes; ++k)
        energy += trial.force[k] * modes[higher_mode(k)];
      const double of_norm =
          (6 * voxel.mu * voxel.mu * along + 3 * voxel.mu * energy / voxel.volume()) / trial.norm;
      of_multiplier = (of_norm + pressure) / (3 * voxel.mu + by_pressure + voxel.hardening);
      of_kept = -3 * voxel.mu / trial.norm * (of_multiplier - multiplier / trial.norm * of_norm);
    }
    for (int i = 0; i < 6; ++i)
      strain[i] = (1 - kept) * deviator[i] - of_kept * trial.deviator[i] +
                  (i < 3 ? voxel.pressure * of_multiplier : 0);
    for (int k = 0; k < num_higher_modes; ++k)
      mode[k] = (1 - kept) * modes[higher_mode(k)] - of_kept * trial.mode[k];
  }
};

} // namespace detail

} // namespace ossatura
