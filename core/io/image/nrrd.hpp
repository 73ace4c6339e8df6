// SPDX-License-Identifier: Apache-2.0
// read_nrrd reads NRRD [1], the native format of 3D Slicer: .nrrd (one file) and .nhdr (text beside
// a data file).
//
// [1] G. Kindlmann, "Definition of NRRD file format", teem.sourceforge.net/nrrd/format.html.
#pragma once

#include <ossatura/core/io/image/planes.hpp>
#include <ossatura/core/io/image/voxel_target.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

#include <string>

namespace ossatura {

/// Reads a 3-D scalar NRRD: integers of 1 to 8 bytes, float or double, encoding raw or gzip, either
/// byte order, data in the file or in one file beside it. `origin` becomes the lower corner of the
/// first voxel, whose centre the file names; `direction` and edges are those of its space
/// directions, or along the axes by its spacings. World: LPS or RAS by its space (LAS is turned to
/// RAS), else not said. Throws InputError for other kinds (text, bzip2, hex, slices in many files,
/// vectors), for voxels that are not cubes within 1e-3 (unless boxes are taken), values that are
/// not finite, and damage. Values go to `target`, where there is one, and the image is left
/// without.
VoxelImage read_nrrd(const std::string& path, const ChoosePlanes& planes = {},
                     VoxelTarget* target = nullptr, VoxelShape voxels = VoxelShape::cube);

/// The file with the voxels of the NRRD at `path`: that file itself, or the one beside it. Throws
/// InputError where the header cannot be read.
std::string nrrd_data_file(const std::string& path);

} // namespace ossatura
