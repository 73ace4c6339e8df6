// SPDX-License-Identifier: Apache-2.0
// A DICOM segmentation has a frame for each plane and segment that is not empty, in any order, at a
// position in space. read_dicom_segmentation puts the frames where they lie on the grid of the
// image that was segmented.
#pragma once

#include <ossatura/core/io/dicom/segments.hpp>
#include <ossatura/core/io/image/planes.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

#include <set>
#include <string>
#include <vector>

namespace ossatura {

struct SegmentationOptions {
  ChoosePlanes planes;  ///< of the grid
  std::set<int> wanted; ///< labels that may not overlap, and go before others; empty: all
  bool trial = false;   ///< reads in a child process first: GDCM may crash on damaged files
};

/// The labels of `frames` on `grid`, whose values are left aside: the number of the segment in
/// which a voxel lies, or 0. Axes of the frames are those of the grid, in any order and direction.
/// Throws InputError, starting with `path`, for frames that are no planes of the grid (to a tenth
/// of a voxel) or of another spacing, for pixels of a segment beyond it, for a grid without a place
/// in the world, for two frames of a segment at one place, and for wanted segments that overlap.
VoxelImage place_segments(const std::string& path, const DicomSegments& frames,
                          const VoxelImage& grid, const SegmentationOptions& options = {});

/// place_segments() of the file at `path`. Its segments go to `found`. Throws InputError as that
/// and as read_dicom_segments() do.
VoxelImage read_dicom_segmentation(const std::string& path, const VoxelImage& grid,
                                   const SegmentationOptions& options,
                                   std::vector<DicomSegment>* found = nullptr);

} // namespace ossatura
