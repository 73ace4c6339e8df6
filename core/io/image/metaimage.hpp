// SPDX-License-Identifier: Apache-2.0
// read_metaimage reads MetaImage, the native format of ITK: .mha (one file) and .mhd (text beside a
// data file).
#pragma once

#include <ossatura/core/io/image/planes.hpp>
#include <ossatura/core/io/image/voxel_target.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

#include <string>

namespace ossatura {

/// Reads a 3-D scalar MetaImage: MET_CHAR to MET_DOUBLE, binary, plain or zlib-compressed, either
/// byte order, data in the file (LOCAL) or in one file beside it. Spacing and offset are in mm;
/// `origin` becomes the lower corner of the first voxel, whose centre the file names (else it is at
/// 0), and `direction` its matrix, both in the world of the file (LPS). Throws InputError for other
/// kinds (ASCII data, slices in many files, several channels), for voxels that are not cubes within
/// 1e-3 (unless boxes are taken), values that are not finite, and damage. Values go to `target`,
/// where there is one, and the image is left without.
VoxelImage read_metaimage(const std::string& path, const ChoosePlanes& planes = {},
                          VoxelTarget* target = nullptr, VoxelShape voxels = VoxelShape::cube);

/// The file with the voxels of the MetaImage at `path`: that file itself, or the one beside it.
/// Throws InputError where the header cannot be read.
std::string metaimage_data_file(const std::string& path);

} // namespace ossatura
