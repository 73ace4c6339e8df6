// SPDX-License-Identifier: Apache-2.0
// The prediction is the size and the memory that --dry-run expects of a run.
#pragma once

#include "apps/bone/input/options.hpp"
#include "apps/bone/output/results.hpp"
#include <ossatura/solvers/bone/solver.hpp>

#include <vector>

namespace ossatura {

/// A level of the multigrid below the voxels.
struct LevelSize {
  std::int64_t num_elem, num_nodes;
  bool is_free; ///< some component is not held
};

/// The levels that a solve of `problem` makes, the coarsest last. Fences.
template<class Exec>
std::vector<LevelSize> list_level_sizes(const Exec& exec, const VoxelProblem<Exec>& problem,
                                        const MultigridOptions& options);

/// Memory from the sizes of the model and its levels; arrays live where the process does unless the
/// backend `is_device`. Looks at what is allocated now and was so far: to be called after model,
/// supports and loads are made.
BonePrediction predict_bone(const BoneModelInfo& info, const std::vector<LevelSize>& levels,
                            const BoneOptions& options, const VoxelSolverOptions& solver,
                            bool is_device);

} // namespace ossatura
