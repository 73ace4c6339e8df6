// SPDX-License-Identifier: Apache-2.0
// The DICOM module is what of this library needs GDCM: a shared object that is loaded where a DICOM
// file is read. GDCM fills its dictionaries before main(), half of the time of a small run.
#pragma once

#include <ossatura/core/io/dicom/file.hpp>
#include <ossatura/core/io/dicom/segments.hpp>

#include <string>

namespace ossatura {

/// What the module has under the name `ossatura_dicom`.
struct DicomModule {
  const char* version; ///< of the library that it was built with
  DicomHeader (*read_header)(const std::string& path);
  void (*read_values)(const DicomHeader& header, float* value);
  DicomSegments (*read_segments)(const std::string& path);
};

/// The module, loaded at the first call: of the folder of the executable or shared library that
/// this one is linked into, else of where it is installed. Throws InputError about `path`, the file
/// to be read, where there is none. Threads may call it.
const DicomModule& dicom_module(const std::string& path);

} // namespace ossatura
