// SPDX-License-Identifier: Apache-2.0
// --align and --turn stand a bone along the axis that loads it, by an image that is turned.
#pragma once

#include "apps/bone/input/law.hpp"

namespace ossatura {

/// ", resampled from 8 x 7 x 6 voxels of 0.5 x 0.5 x 1 mm".
std::string resampled_from(const VoxelImage& source);

/// Turns the image of a model, all planes of which are here as they are read, and takes its voxels
/// to cubes of --resample: notes how in BoneModel::turn, and where the image lies then. `range`: of
/// its values. Each rank does it for itself. Throws InputError where the bone has no such axis as
/// --align asks for, or the image becomes too large. Fences.
template<class Exec>
void turn_model(const Exec& exec, const BoneOptions& options, const ValueRange& range,
                BoneModel<Exec>& model);

} // namespace ossatura
