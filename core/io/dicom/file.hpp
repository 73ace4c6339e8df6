// SPDX-License-Identifier: Apache-2.0
// The DICOM file reader takes header and values of one slice out of its file by way of GDCM [1],
// the reader of ITK and 3D Slicer, which has the codecs of all compressed transfer syntaxes in use.
// GDCM is in a module of its own (module.hpp); a build without it refuses. Tags are those of [2].
//
// [1] Grassroots DICOM, gdcm.sourceforge.net. [2] DICOM PS3.3 and PS3.6, dicom.nema.org.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace ossatura {

/// What the header of a file says. Numbers that it does not have are 0, texts are empty.
struct DicomHeader {
  std::string path;
  std::string series;      ///< SeriesInstanceUID
  std::string number;      ///< SeriesNumber
  std::string description; ///< SeriesDescription
  std::string modality;    ///< "CT"
  std::string syntax;      ///< UID of the transfer syntax
  std::string unit;        ///< RescaleType: "HU"
  std::string photometric; ///< PhotometricInterpretation
  bool is_image = false;   ///< has rows and columns
  bool is_localizer = false;
  bool is_segmentation = false; ///< frames of segments: see segmentation.hpp
  bool has_place = false;       ///< position and orientation
  bool has_table = false;       ///< values are looked up in a table (Modality LUT Sequence)
  bool has_rescale = false;     ///< slope or intercept: else values are as stored
  std::int64_t num_frames = 1;
  std::uint64_t rows = 0, columns = 0, samples = 0; ///< of a pixel: 1 for grey
  std::array<double, 3> position{};                 ///< of the first pixel's centre, mm, LPS
  std::array<double, 3> along_row{}, along_column{};
  std::array<double, 2> spacing{}; ///< along a row, along a column, mm
  double slope = 1, intercept = 0;
};

/// Whether the file at `path` begins as one of DICOM's does (PS3.10). Throws InputError for one
/// that cannot be read.
bool is_dicom_file(const std::string& path);

/// The header of the file at `path`. Throws InputError where it is damaged, and without the
/// library. The library may crash on damaged files: see trial_read.hpp.
DicomHeader read_dicom_header(const std::string& path);

/// The values of the grey slice with this header, rows * columns of them, a row after the other, as
/// slope * stored value + intercept. Throws InputError where they are compressed in a way that the
/// library does not have, are not as many as the header says, have bits beyond those that it says
/// are used, or are not finite.
void read_dicom_values(const DicomHeader& header, float* value);

} // namespace ossatura
