// SPDX-License-Identifier: Apache-2.0
// Pads are voxels of the mask that are no bone (--pads), and what of a model is the bone beside
// them and its caps.
#pragma once

#include "apps/bone/input/model.hpp"

namespace ossatura {

/// Puts the pads of --pads, whose voxels the model knows, on it. Where `ranks` are given, all of
/// them call it. Fences.
template<class Exec>
void add_pads(const Exec& exec, const BoneOptions& options,
              const std::optional<Communicator>& ranks, BoneModel<Exec>& model);

/// Notes what of the model is no bone, after caps and pads are on it. Fences.
template<class Exec>
void note_foreign(const Exec& exec, BoneModel<Exec>& model);

/// Poisson's ratios of each voxel, where there is one for all that is not `poisson`. By all ranks
/// of `comm`. Does not fence.
template<class Exec>
void spread_poisson(const Exec& exec, double poisson, const Communicator& comm,
                    BoneModel<Exec>& model);

/// `problem` with the moduli of the bone alone. Fences.
template<class Exec>
VoxelProblem<Exec> bone_of(const Exec& exec, const BoneModel<Exec>& model,
                           const VoxelProblem<Exec>& problem) {
  VoxelProblem<Exec> bone = problem;
  if (model.foreign)
    bone.lame = without_foreign(exec, problem.grid, *model.foreign, problem.lame);
  return bone;
}

} // namespace ossatura
