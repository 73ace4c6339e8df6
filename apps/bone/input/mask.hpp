// SPDX-License-Identifier: Apache-2.0
// A mask is a segmentation of the image: the bone is where it has one of the chosen labels.
#pragma once

#include "apps/bone/input/model.hpp"

namespace ossatura {

/// The file of --mask for the input of this run, whose name stands for the first * in it.
std::string mask_path(const BoneOptions& options);

/// Makes voxels void where the mask has none of --mask-labels (0, where none are given), and lists
/// those that supports touch (BoneModel::label_voxels). Logs what is left, and records the hash of
/// the mask. Where `ranks` are given, all of them call it, and each reads its planes of the mask.
/// Throws InputError for a mask that does not lie on the image, or holds no labels, and for labels
/// that it has not. Fences.
template<class Exec>
void apply_mask(const Exec& exec, const BoneOptions& options,
                const std::optional<Communicator>& ranks, DriverContext& context,
                BoneModel<Exec>& model);

/// Makes voxels of a whole model that is not turned yet, nor resampled, void where the mask has
/// none of --mask-labels. On one rank alone. Throws InputError as apply_mask(). Fences.
template<class Exec>
void mask_upright(const Exec& exec, const BoneOptions& options, BoneModel<Exec>& model);

/// The labels of the mask that apply_mask() has found right, for each voxel of the whole model. On
/// one rank alone. Throws InputError where the file is not there any more. Fences.
template<class Exec>
std::vector<float> read_mask(const Exec& exec, const BoneOptions& options,
                             const BoneModel<Exec>& model);

} // namespace ossatura
