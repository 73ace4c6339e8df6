// SPDX-License-Identifier: Apache-2.0
// The readers of a module of its own, which is linked with GDCM and loaded where a DICOM file is
// read (module.hpp). They include headers of core and call nothing else of it.
#pragma once

#include <ossatura/core/io/dicom/file.hpp>
#include <ossatura/core/io/dicom/segments.hpp>

#include <string>

namespace ossatura {

/// As read_dicom_header(), of a file whose elements have lengths that are right.
DicomHeader read_gdcm_header(const std::string& path);

/// As read_dicom_values().
void read_gdcm_values(const DicomHeader& header, float* value);

/// As read_dicom_segments(), of a file whose elements have lengths that are right.
DicomSegments read_gdcm_segments(const std::string& path);

} // namespace ossatura
