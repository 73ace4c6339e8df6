// SPDX-License-Identifier: Apache-2.0
// These functions write an image of reals for the programs that show CT images (3D Slicer,
// ITK-SNAP, FSL): it lies where the image lies that it was made from.
#pragma once

#include <ossatura/core/mesh/voxel_image.hpp>

#include <string>

namespace ossatura {

/// Writes a whole image as NIfTI-1 [1], single precision, with its place as sform and qform. A path
/// that ends in .gz is compressed by all threads at a level of libdeflate (0 to 12), as gzip
/// members one behind the other. `text` (up to 79 letters) says what the values are. The world of
/// the file is RAS: a place in LPS is turned; one that is not said is taken as it is, and
/// neither form is there for a first voxel with its centre at 0 along the axes of no world. Throws
/// InputError where it cannot be written, or has more voxels along an axis than NIfTI-1 can say,
/// 32767.
///
/// [1] NIfTI-1 data format, nifti.nimh.nih.gov.
void write_nifti(const std::string& path, const VoxelImage& image, const std::string& text,
                 int level);

/// The same as MetaImage with its data in the file (.mha), of ITK. Level 0: not compressed. The
/// world of the file is LPS.
void write_metaimage(const std::string& path, const VoxelImage& image, const std::string& text,
                     int level);

} // namespace ossatura
