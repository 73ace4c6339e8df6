// SPDX-License-Identifier: Apache-2.0
// The evolution of a bone whose density follows its load.
#pragma once

#include "apps/bone/output/results.hpp"
#include "apps/driver/context.hpp"

#include <string>

namespace ossatura {

/// Takes the steps of --remodel from a state that is solved for, as far as signals and convergence
/// let it: changes the moduli of `problem`, renews the solver, and solves from where load.u is.
/// Adds the states to the results, and iterations to the last of the solves; `path` is the file of
/// the states, or empty. load.u and the moduli are those of the last state then. Fences.
template<class Exec>
void run_remodelling(const Exec& exec, const BoneOptions& options, const BoneModel<Exec>& model,
                     const VoxelProblem<Exec>& problem, const BoneLoad<Exec>& load,
                     VoxelSolver<Exec>& solver, const std::string& path, BoneResults& results,
                     DriverContext& context);

} // namespace ossatura
