// SPDX-License-Identifier: Apache-2.0
// A test beyond yield: steps of the load, each a row of the curve.
#pragma once

#include "apps/bone/output/results.hpp"
#include <ossatura/solvers/bone/strength.hpp>

namespace ossatura {

/// Follows the load, as far as signals and convergence let it, and adds steps, solves and findings
/// to the results; caps and pads stay elastic. `curve` is the file of the steps, or empty. Returns
/// the last state. Throws UsageError for loads that have no curve. Fences.
template<class Exec>
BoneSolution<Exec> run_strength(const Exec& exec, const BoneOptions& options,
                                const BoneModel<Exec>& model, const VoxelProblem<Exec>& problem,
                                const BoneLoad<Exec>& load, const std::string& curve,
                                BoneResults& results, DriverContext& context);

} // namespace ossatura
