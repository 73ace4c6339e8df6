// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/dicom/file.hpp>

#include <ossatura/core/io/dicom/lengths.hpp>
#include <ossatura/core/io/dicom/module.hpp>
#include <ossatura/core/io/text/input_file.hpp>

namespace ossatura {

bool is_dicom_file(const std::string& path) {
  return text_of(read_head(path, 132)).substr(0, 132).find("DICM", 128) == 128;
}

DicomHeader read_dicom_header(const std::string& path) {
  const DicomModule& module = dicom_module(path);
  require_dicom_lengths(path);
  return module.read_header(path);
}

void read_dicom_values(const DicomHeader& header, float* value) {
  dicom_module(header.path).read_values(header, value);
}

} // namespace ossatura
