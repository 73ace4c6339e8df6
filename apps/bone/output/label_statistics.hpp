// SPDX-License-Identifier: Apache-2.0
// Label statistics say what the parts of a mask bear: cortical and trabecular bone, one body or the
// other.
#pragma once

#include "apps/bone/output/files.hpp"

namespace ossatura {

/// Adds those of each label of the mask that the bone has, in their order, and of a test along an
/// axis the forces through its sections, to the results of the first rank, which reads the mask
/// once more. `solution` has the fields of the bone, `whole` those of its caps, too. By all ranks.
/// Sums are in the order of voxels: their bits do not depend on the ranks. Throws InputError on all
/// ranks where the mask cannot be read. Fences.
template<class Exec>
void add_label_statistics(const Exec& exec, const BoneOptions& options,
                          const BoneModel<Exec>& model, const VoxelProblem<Exec>& problem,
                          const BoneLoad<Exec>& load, const BoneSolution<Exec>& whole,
                          const BoneSolution<Exec>& solution, BoneResults& results);

} // namespace ossatura
