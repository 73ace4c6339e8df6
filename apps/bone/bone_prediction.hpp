// SPDX-License-Identifier: Apache-2.0
// The memory that a bone analysis will take.
#pragma once

#include "apps/bone/bone_results.hpp"
#include "solvers/voxel_solver.hpp"

namespace femura {

/// Expected peaks, while the solver exists: within a tenth on bone.
BonePrediction predict_bone(const BoneModelInfo& info, const VoxelSolverOptions& solver,
                            bool is_device);

} // namespace femura
