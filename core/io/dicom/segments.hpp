// SPDX-License-Identifier: Apache-2.0
// read_dicom_segments takes the segments and frames out of the file of a DICOM segmentation, of one
// bit or a share for each pixel and segment (Segmentation Storage, PS3.3 A.51), or of labels (Label
// Map Segmentation Storage).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

struct DicomSegment {
  int number = 0;    ///< SegmentNumber, the label
  std::string label; ///< SegmentLabel: "L3"
  std::string kind;  ///< meaning of its SegmentedPropertyType: "Vertebra"
};

/// What a pixel of a segmentation is (SegmentationType).
enum class SegmentationKind {
  binary,     ///< a bit: in the segment of the frame, or not
  fractional, ///< a part of `most`: probability, or share of the voxel
  labelmap    ///< the number of a segment
};

/// One plane of pixels.
struct DicomFrame {
  int segment = 0;                  ///< its number; 0 in a label map
  std::array<double, 3> position{}; ///< of the first pixel's centre, mm, LPS
  std::array<double, 3> along_row{}, along_column{};
  std::array<double, 2> spacing{}; ///< along a row, along a column, mm
  double distance = 0;             ///< SpacingBetweenSlices, mm; 0: not said
};

struct DicomSegments {
  SegmentationKind kind = SegmentationKind::binary;
  std::int64_t rows = 0, columns = 0; ///< of a frame
  int bits = 1;                       ///< of a pixel: 1, 8 or 16
  int most = 255;                     ///< the value of a pixel that is in the segment as a whole
  int background = 0;                 ///< the value in a label map that is no segment, beside 0
  std::vector<DicomSegment> segments;
  std::vector<DicomFrame> frames;
  std::vector<unsigned char> pixels; ///< of all frames, without gaps; a byte's lowest bit is first

  /// The label that a pixel, counted over all frames, has; 0: none.
  int label(const DicomFrame& frame, std::size_t pixel) const {
    switch (kind) {
    case SegmentationKind::binary:
      return (pixels[pixel / 8] >> pixel % 8 & 1) != 0 ? frame.segment : 0;
    case SegmentationKind::fractional:
      return 2 * value(pixel) >= most ? frame.segment : 0;
    case SegmentationKind::labelmap:
      break;
    }
    const int value_of = value(pixel);
    return value_of == background ? 0 : value_of;
  }

private:
  int value(std::size_t pixel) const {
    return bits == 8 ? pixels[pixel] : pixels[2 * pixel] | pixels[2 * pixel + 1] << 8;
  }
};

/// Reads the segmentation at `path`. Throws InputError where it is damaged, for pixels that are
/// compressed in a way that GDCM does not have, for frames without segment or place, for values of
/// a label map that are no segment, and without GDCM, which may crash on damaged files: see
/// trial_read.hpp.
DicomSegments read_dicom_segments(const std::string& path);

} // namespace ossatura
