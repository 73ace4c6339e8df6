// SPDX-License-Identifier: Apache-2.0
// This file turns options of the command line into options of the solver.
#pragma once

#include "apps/bone/input/options.hpp"

namespace ossatura {

/// The option as given, else that of the hierarchy.
Cycle cycle_of(const BoneOptions& options);

/// `matrix` and `fastest` are taken where the options leave them open, the latter for operators
/// that allow lean precision.
VoxelSolverOptions solver_options(const BoneOptions& options, VoxelOperatorKind matrix,
                                  Precision fastest);

/// The same with the fastest for the backend.
template<class Exec>
VoxelSolverOptions solver_options(const BoneOptions& options) {
  return solver_options(options, default_voxel_operator<Exec>, default_voxel_precision<Exec>);
}

} // namespace ossatura
