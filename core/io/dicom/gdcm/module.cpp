// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/dicom/module.hpp>

#include <ossatura/core/io/dicom/gdcm/readers.hpp>

extern "C" __attribute__((visibility("default"))) const ossatura::DicomModule ossatura_dicom = {
    OSSATURA_VERSION, ossatura::read_gdcm_header, ossatura::read_gdcm_values,
    ossatura::read_gdcm_segments};
