// SPDX-License-Identifier: Apache-2.0
// A mask is a segmentation of the image: the bone is where it has one of the chosen labels.
#pragma once

#include "apps/bone/input/model.hpp"
#include <ossatura/kernels/image/label_selection.hpp>

namespace ossatura {

/// The file of --mask for an input, whose name stands for each * in it, or, where several inputs
/// are called alike, that of the folder which it is in.
std::string mask_path(const BoneOptions& options, const std::string& input);

/// That for the input of this run.
std::string mask_path(const BoneOptions& options);

/// Throws UsageError where two inputs would have the same mask.
void require_mask_of_each(const BoneOptions& options);

/// The labels of the mask on the grid of the model, before the law, of the planes that this process
/// has. Lists the voxels that supports touch (BoneModel::label_voxels) and those of pads, and
/// records the hash of the mask. Where `ranks` are given, all of them call it, and each reads its
/// planes of the mask. Throws InputError for a mask that does not lie on the image, or holds no
/// labels, and for labels that it has not. Fences.
template<class Exec>
VoxelArray<Exec> read_model_labels(const Exec& exec, const BoneOptions& options,
                                   const std::optional<Communicator>& ranks, DriverContext& context,
                                   BoneModel<Exec>& model);

/// The same for a whole model that is not turned yet, nor resampled. On one rank alone. Throws
/// InputError as above. Fences.
template<class Exec>
VoxelArray<Exec> read_upright_labels(const Exec& exec, const BoneOptions& options,
                                     const BoneModel<Exec>& model);

/// The voxels of the model that are bone by --mask-labels (where none are given, those whose label
/// is neither 0 nor of a pad): all where there are no labels.
template<class Exec>
LabelSelection<Exec> select_bone(const Exec& exec, const BoneOptions& options,
                                 const VoxelArray<Exec>& labels);

/// The labels of the mask that read_model_labels() has found right, for each voxel of the whole
/// model. On one rank alone. Throws InputError where the file is not there any more. Fences.
template<class Exec>
std::vector<float> read_mask(const Exec& exec, const BoneOptions& options,
                             const BoneModel<Exec>& model);

} // namespace ossatura
