// SPDX-License-Identifier: Apache-2.0
// read_dicom makes an image of the slices of a DICOM series, which lie in a folder, a file each.
#pragma once

#include <ossatura/core/io/image/planes.hpp>
#include <ossatura/core/io/image/voxel_target.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

#include <string>
#include <vector>

namespace ossatura {

/// The slices that make an image, and what lies beside them.
struct DicomSeries {
  std::string uid;                   ///< SeriesInstanceUID
  std::string description;           ///< SeriesDescription; may be empty
  std::string unit;                  ///< of the values (RescaleType), "HU" for CT that does not say
  bool is_rescaled = false;          ///< slices have slope and intercept
  std::vector<std::string> files;    ///< in the order of planes
  std::vector<std::string> left_out; ///< files that are no slices: "scout.dcm (a localizer)"
};

struct DicomOptions {
  std::string series; ///< SeriesInstanceUID; empty: that of the slice, or the folder's only one
  ChoosePlanes planes;
  VoxelTarget* target = nullptr; ///< takes the values, and the image is left without
  VoxelShape voxels = VoxelShape::cube;
  bool trial = false; ///< reads in a child process first: GDCM may crash on damaged files
};

/// The series at `path`: a folder, or one of its slices, which says which. Files that are no slices
/// (localizers, reports, other files) are left out; where there are several series one has to be
/// chosen. Throws InputError, with the names of the files, unless all slices have the same size,
/// edges and orientation and lie behind one another at equal distances (to 5 %), and without GDCM.
DicomSeries find_dicom_series(const std::string& path, const std::string& series = {},
                              bool trial = false);

/// The file of the segmentation at `path`: it, or the only one in a folder without slices; empty
/// where that is a series of slices. Throws InputError for a folder with several segmentations, or
/// with one beside slices, and as find_dicom_series() for files.
std::string find_dicom_segmentation(const std::string& path, bool trial = false);

/// Reads a series, as find_dicom_series() finds it, into an image whose axes are those of ITK's
/// reader: x along the rows, y along the columns, z along their cross product, by which slices are
/// sorted, in LPS. Values are rescaled, by the slope and intercept of each slice. Throws InputError
/// for that and for colours, several frames in a file, lookup tables, voxels that are not cubes
/// within 1e-3 (unless boxes are taken), and damage. The series goes to `found`, where there is
/// one.
VoxelImage read_dicom(const std::string& path, const DicomOptions& options = {},
                      DicomSeries* found = nullptr);

} // namespace ossatura
