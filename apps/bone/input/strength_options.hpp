// SPDX-License-Identifier: Apache-2.0
// Options of a test beyond yield.
#pragma once

#include "apps/driver/options/common.hpp"
#include <ossatura/solvers/bone/yield_law.hpp>

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace ossatura {

struct BoneOptions;

struct StrengthChoice : CheckpointOptions {
  std::optional<YieldCriterion> criterion; ///< empty: bone is elastic
  std::optional<double> yield_strain, yield_strain_tension;
  std::optional<double> yield_stress, yield_stress_tension; ///< MPa
  double hardening = 0.05;
  double fracture_energy = 0; ///< N/mm
  int steps = 20;
  double offset = 0.002; ///< of strain, for the yield load
  std::string curve;     ///< file of the steps
};

void add_strength_options(CLI::App& app, StrengthChoice& choice);

/// Throws UsageError for values out of range, and for what a test beyond yield does not have.
void check_strength_options(const CLI::App& app, const BoneOptions& options);

/// Throws InputError where voxels of this edge (mm) and these moduli (MPa) would snap back.
void check_fracture_energy(const BoneOptions& options, double edge, double modulus_min,
                           double modulus_max);

/// The law of a choice with a criterion.
YieldLaw yield_law(const StrengthChoice& choice);

} // namespace ossatura
