// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/dicom/segments.hpp>

#include <ossatura/core/io/dicom/lengths.hpp>
#include <ossatura/core/io/dicom/module.hpp>

namespace ossatura {

DicomSegments read_dicom_segments(const std::string& path) {
  const DicomModule& module = dicom_module(path);
  require_dicom_lengths(path);
  return module.read_segments(path);
}

} // namespace ossatura
