// SPDX-License-Identifier: Apache-2.0
// Field images are fields of the bone on the grid of the image that it was read from, to lie on it
// in programs that show CT.
#pragma once

#include "apps/bone/output/files.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ossatura {

/// The fields of --fields that have a number for each voxel, and the file of each: `stem`.FIELD and
/// the ending of the format. Empty where no images are asked for.
std::vector<std::pair<std::string, std::string>> field_images(const BoneOptions& options,
                                                              const std::string& stem);

/// Writes one of them: 0 where there is no bone. By all ranks, as write_fields(). Fences.
template<class Exec>
void write_field_image(const Exec& exec, const std::string& field, const std::string& path,
                       const BoneOptions& options, const BoneModel<Exec>& model,
                       const VoxelProblem<Exec>& problem, const BoneSolution<Exec>& solution);

} // namespace ossatura
