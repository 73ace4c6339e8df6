// SPDX-License-Identifier: Apache-2.0
// The files that an image consists of, for provenance and warnings, and what its values are.
#pragma once

#include "apps/driver/output/provenance.hpp"
#include <ossatura/core/io/dicom/series.hpp>
#include <ossatura/core/io/image/format.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

#include <string>
#include <vector>

namespace ossatura {

/// Sizes and hashes of the files of an image: the one at `path`, and that with its voxels where it
/// is another one; of DICOM those of the slices, of this series where it is given. Throws
/// InputError.
std::vector<FileRecord> record_image(const std::string& path, ImageFormat format,
                                     const std::string& series = {});

/// Warns of the files of a folder that are no slices of the series.
void warn_files_left_out(const std::string& path, const DicomSeries& series);

/// Warns of a MetaImage that does not say how large its voxels are.
void warn_of_no_spacing(const std::string& path, const VoxelImage& image);

/// More different values than these may be grey values.
constexpr std::size_t most_labels = 64;

/// Whether values, row by row, are grey values although they are whole numbers: there are more than
/// most_labels, and less than half of the neighbours along rows are alike, where labels have
/// regions. Voxels of the least value do not count: they are background or padding.
bool are_grey(std::size_t num_different, const std::vector<float>& value);

} // namespace ossatura
