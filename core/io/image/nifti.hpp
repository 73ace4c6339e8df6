// SPDX-License-Identifier: Apache-2.0
// read_nifti reads NIfTI-1 and NIfTI-2 images in one file, .nii and .nii.gz [1]. The reader is our
// own, because libniftiio takes the sizes of a damaged header at their word and prints to stderr.
//
// [1] NIfTI-1 and NIfTI-2 data format, nifti.nimh.nih.gov.
#pragma once

#include <ossatura/core/io/image/planes.hpp>
#include <ossatura/core/io/image/voxel_target.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

#include <string>

namespace ossatura {

/// Reads a 3-D scalar image (further extents of 1 allowed): integers of 1 to 8 bytes, float,
/// double, either byte order, gzip told by content; scl_slope and scl_inter applied; spacing in m,
/// mm or micron (mm where the file does not say). Origin and direction are those of sform, else of
/// qform, in the world of the file (RAS); without either the image stays in its own axes. Throws
/// InputError for other kinds, for voxels that are not cubes within 1e-3 (unless boxes are taken),
/// values that are not finite, and damage. Values go to `target`, where there is one, and the image
/// is left without.
VoxelImage read_nifti(const std::string& path, const ChoosePlanes& planes = {},
                      VoxelTarget* target = nullptr, VoxelShape voxels = VoxelShape::cube);

} // namespace ossatura
