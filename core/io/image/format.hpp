// SPDX-License-Identifier: Apache-2.0
// guess_format finds out which reader an image file is for.
#pragma once

#include <ossatura/core/base/names.hpp>

#include <optional>
#include <string>

namespace ossatura {

enum class ImageFormat {
  parosol,   ///< read_parosol()
  itk,       ///< read_itk_hdf5()
  metaimage, ///< read_metaimage()
  nifti,     ///< read_nifti()
  nrrd,      ///< read_nrrd()
  scanco,    ///< read_scanco()
  dicom,     ///< read_dicom()
  raw,       ///< read_raw_image()
  surface    ///< read_surface()
};

constexpr Names<ImageFormat> names_of(ImageFormat) {
  return {{ImageFormat::parosol, "parosol"},     {ImageFormat::itk, "itk"},
          {ImageFormat::metaimage, "metaimage"}, {ImageFormat::nifti, "nifti"},
          {ImageFormat::nrrd, "nrrd"},           {ImageFormat::scanco, "scanco"},
          {ImageFormat::dicom, "dicom"},         {ImageFormat::raw, "raw"},
          {ImageFormat::surface, "surface"}};
}

/// As its authors write it: "MetaImage".
const char* title_of(ImageFormat format);

/// The format that the extension of a file's name is of, if it is a known one. Reads nothing.
std::optional<ImageFormat> format_by_name(const std::string& path);

/// The format of the file at `path`, by its first bytes and, where these say nothing (raw, ASCII
/// surfaces with unusual starts), by its extension; a folder is one of DICOM slices. Throws
/// InputError for a file that is missing, unreadable or empty, and for unknown formats; for those
/// of TIFF and others the message says how to convert.
ImageFormat guess_format(const std::string& path);

} // namespace ossatura
