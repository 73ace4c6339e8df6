// SPDX-License-Identifier: Apache-2.0
// These functions write the files of a bone analysis: fields for ParaView, and ParOSol's own
// layout. Of a problem that is cut the first rank writes, and the others hand over what they have:
// these leave by BlocksNotTaken where it cannot write.
#pragma once

#include "apps/bone/input/model.hpp"
#include "apps/bone/output/results.hpp"
#include "apps/driver/output/files/begun_file.hpp"
#include <ossatura/kernels/algebra/ranks/blocks.hpp>
#include <ossatura/kernels/bone/voxel_lists.hpp>
#include <ossatura/solvers/bone/results/solution.hpp>

namespace ossatura {

/// [num_elem] the densities that remodelling made (g/cm3), 0 of caps and pads. Does not fence.
template<class Exec>
Array<double, Exec> list_bone_densities(const Exec& exec, const BoneOptions& options,
                                        const BoneModel<Exec>& model,
                                        const BoneSolution<Exec>& solution);

/// Writes the solid voxels with the fields named in the options as VTKHDF, with what `problem`
/// holds and the forces of `load`. `status` of the solve goes in, too. `begun` is the file with the
/// mesh of `problem`, where that has been written, or null. Fences.
template<class Exec>
void write_fields(const Exec& exec, const std::string& path, const BoneOptions& options,
                  const BoneModel<Exec>& model, const VoxelProblem<Exec>& problem,
                  const BoneLoad<Exec>& load, const BoneSolution<Exec>& solution,
                  const std::string& status, const DriverContext& context, BegunFile* begun);

/// Writes /Mesh and /Solution as ParOSol does, into a copy of the input if `path` is that. Fences.
template<class Exec>
void write_parosol(const Exec& exec, const std::string& path, const BoneModel<Exec>& model,
                   const VoxelProblem<Exec>& problem, const BoneSolution<Exec>& solution,
                   const std::string& status, const DriverContext& context);

} // namespace ossatura
