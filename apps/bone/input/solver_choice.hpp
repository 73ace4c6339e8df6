// SPDX-License-Identifier: Apache-2.0
// This file turns options of the command line into options of the solver.
#pragma once

#include "apps/bone/input/options.hpp"

namespace ossatura {

/// The option as given, else that of the hierarchy.
Cycle cycle_of(const BoneOptions& options);

/// `matrix` is taken where the options leave it open.
VoxelSolverOptions solver_options(const BoneOptions& options, VoxelOperatorKind matrix);

/// The same with the fastest operator for the backend.
template<class Exec>
VoxelSolverOptions solver_options(const BoneOptions& options) {
  return solver_options(options, default_voxel_operator<Exec>);
}

} // namespace ossatura
