// SPDX-License-Identifier: Apache-2.0
// read_scanco reads the images of Scanco's scanners and of its evaluation programs: ISQ (.isq,
// .rsq; reconstructed slices) and AIM (.aim; versions 020 and 030). Layouts are those that VTK's
// vtkScancoCTReader and ITK's IOScanco module have found out; Scanco publishes none.
#pragma once

#include <ossatura/core/io/image/planes.hpp>
#include <ossatura/core/io/image/voxel_target.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

#include <string>

namespace ossatura {

/// What the values of a Scanco image are.
struct ScancoValues {
  bool labels = false; ///< of a byte: those of a segmentation
  std::string unit;    ///< of densities, such as "mg HA/ccm"; empty: as stored
};

/// Reads an ISQ of 16-bit integers or an AIM: integers of 1, 2 or 4 bytes, float (version 030),
/// runs of bits or of bytes. Grey values (2 bytes and more) become densities, slope v / mu_scaling
/// + intercept, where header (ISQ) or processing log (AIM) has this calibration; else they are as
/// stored, as labels (a byte) are always. `origin` becomes the lower corner of the first voxel,
/// whose centre is at the AIM's position, or 0 (as in ITK); no world frame is known. Throws
/// InputError for other kinds (RAD, VAX floats, packed bits, vectors), for voxels that are not
/// cubes within 1e-3 (unless boxes are taken), values that are not finite, and damage. Voxels go to
/// `target`, where there is one, and the image is left without; what they are to `values`.
VoxelImage read_scanco(const std::string& path, const ChoosePlanes& planes = {},
                       VoxelTarget* target = nullptr, VoxelShape voxels = VoxelShape::cube,
                       ScancoValues* values = nullptr);

} // namespace ossatura
