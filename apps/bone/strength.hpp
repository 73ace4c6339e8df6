// SPDX-License-Identifier: Apache-2.0
// A test beyond yield: steps of the load, each a row of the curve.
#pragma once

#include "apps/bone/output/results.hpp"
#include <ossatura/solvers/bone/strength.hpp>

namespace ossatura {

/// Names of files, or none.
struct StrengthFiles {
  std::string curve, checkpoint;
};

/// Follows the load, from the state of --resume on where there is one, as far as signals and
/// convergence let it, and adds steps, solves and findings to the results; caps and pads stay
/// elastic. Returns the last state. Throws UsageError for loads that have no curve, InputError for
/// states of another bone. Fences.
template<class Exec>
BoneSolution<Exec> run_strength(const Exec& exec, const BoneOptions& options,
                                const BoneModel<Exec>& model, const VoxelProblem<Exec>& problem,
                                const BoneLoad<Exec>& load, const StrengthFiles& files,
                                BoneResults& results, DriverContext& context);

} // namespace ossatura
