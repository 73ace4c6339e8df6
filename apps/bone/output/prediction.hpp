// SPDX-License-Identifier: Apache-2.0
// The prediction is the size and the memory that --dry-run expects of a run.
#pragma once

#include "apps/bone/input/options.hpp"
#include "apps/bone/output/results.hpp"
#include <ossatura/solvers/bone/solver.hpp>

#include <vector>

namespace ossatura {

/// Memory from the sizes of the model and its levels, those of the rank that takes most where the
/// problem is cut, all of whose ranks call it. Looks at what is allocated now and was so far: to be
/// called after model, supports and loads are made. Fences.
template<class Exec>
BonePrediction predict_bone(const Exec& exec, const VoxelProblem<Exec>& problem,
                            const BoneModelInfo& info, const BoneOptions& options,
                            const VoxelSolverOptions& solver);

/// Throws BackendError, with the memory of the run and what takes less, where a generated image and
/// its grid alone do not fit into what `exec` has left. To be called before they are made.
template<class Exec>
void require_generated_room(const Exec& exec, const BoneOptions& options,
                            const VoxelSolverOptions& solver, int num_ranks);

} // namespace ossatura
