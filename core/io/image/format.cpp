// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/image/format.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/text/byte_stream.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

namespace ossatura {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return char(std::tolower(c)); });
  return text;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool starts_with(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

/// Formats of this field that are not read: what to do instead.
const char* advice(std::string_view head, const std::string& name) {
  for (const char* start : {"II*\0", "MM\0*", "II+\0", "MM\0+"}) // and above 4 GB
    if (starts_with(head, std::string_view(start, 4)))
      return "a TIFF image; convert the stack to .mha, for example with Fiji or SimpleITK";
  if (starts_with(head, "# vtk DataFile") || ends_with(name, ".vti"))
    return "a VTK image; convert it to .mha, for example with ParaView or SimpleITK";
  if (starts_with(head, "\x93NUMPY"))
    return "a NumPy array; write its bytes with tofile() and read them as raw";
  return nullptr;
}

bool is_nifti_head(std::string_view head) {
  const auto has = [&](std::size_t at, std::string_view magic) {
    return head.size() >= at + 3 && head.substr(at, 3) == magic;
  };
  return has(344, "n+1") || has(344, "ni1") || has(4, "n+2") || has(4, "ni2");
}

std::optional<ImageFormat> by_content(const std::string& path, std::string_view head) {
  if (starts_with(head, "\x89HDF\r\n\x1a\n")) // ITK's root begins with its names
    return head.find("ITKVersion") != std::string_view::npos ||
                   head.find("ITKImage") != std::string_view::npos
               ? ImageFormat::itk
               : ImageFormat::parosol;
  if (starts_with(head, "\x1f\x8b")) {
    try {
      ByteStream stream(path, 0, ByteStream::Coding::deflate);
      std::string inside(348, '\0');
      stream.read(inside.data(), inside.size());
      if (is_nifti_head(inside))
        return ImageFormat::nifti;
    } catch (const InputError&) {
      // damaged or short: the extension decides, and the reader says what is wrong
    }
    return {};
  }
  if (is_nifti_head(head))
    return ImageFormat::nifti;
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  const std::string_view text = begin == std::string_view::npos ? "" : head.substr(begin);
  if (starts_with(text, "ObjectType") || starts_with(text, "NDims"))
    return ImageFormat::metaimage;
  if (starts_with(head, "NRRD000"))
    return ImageFormat::nrrd;
  // Version 020 of AIM begins with the lengths of two parts, 20 and 140 bytes.
  if (starts_with(head, "CTDATA-HEADER_V1") || starts_with(head, "AIMDATA_V030") ||
      starts_with(head, std::string_view("\x14\0\0\0\x8c\0\0\0", 8)))
    return ImageFormat::scanco;
  if (head.size() > 132 && head.substr(128, 4) == "DICM")
    return ImageFormat::dicom;
  if (starts_with(text, "OFF") || starts_with(text, "COFF") || starts_with(text, "NOFF"))
    return ImageFormat::surface;
  if (starts_with(text, "solid") && text.find("facet") != std::string_view::npos)
    return ImageFormat::surface;
  return {};
}

std::optional<ImageFormat> by_extension(const std::string& name) {
  const auto any = [&](std::initializer_list<const char*> ends) {
    return std::any_of(ends.begin(), ends.end(),
                       [&](const char* end) { return ends_with(name, end); });
  };
  if (any({".h5", ".hdf5", ".hdf"}))
    return ImageFormat::parosol;
  if (any({".mha", ".mhd"}))
    return ImageFormat::metaimage;
  if (any({".nii", ".nii.gz"}))
    return ImageFormat::nifti;
  if (any({".nrrd", ".nhdr"}))
    return ImageFormat::nrrd;
  if (any({".isq", ".rsq", ".aim"}))
    return ImageFormat::scanco;
  if (any({".dcm", ".ima"}))
    return ImageFormat::dicom;
  if (any({".raw", ".bin", ".img"}))
    return ImageFormat::raw;
  if (any({".off", ".stl"}))
    return ImageFormat::surface;
  return {};
}

/// Refuses the voxels of a NIfTI or ANALYZE pair, whose numbers mean nothing without its header.
void refuse_pair(const std::string& path) {
  std::error_code none;
  for (const char* extension : {".hdr", ".HDR"}) {
    const std::string header = std::filesystem::path(path).replace_extension(extension).string();
    if (header == path || !std::filesystem::is_regular_file(header, none))
      continue;
    const std::vector<unsigned char> bytes = read_head(header, 348);
    const std::string_view head = text_of(bytes);
    const bool is_analyze = starts_with(head, std::string_view("\x5c\x01\0\0", 4)) ||
                            starts_with(head, std::string_view("\0\0\x01\x5c", 4));
    if (is_nifti_head(head) || is_analyze)
      fail<InputError>(path, ": is one of a pair with ", header,
                       ", NIfTI or ANALYZE; convert these to one .nii file, for example with "
                       "nibabel, or have its bytes read by --format raw");
  }
}

} // namespace

const char* title_of(ImageFormat format) {
  switch (format) {
  case ImageFormat::parosol:
    return "ParOSol HDF5";
  case ImageFormat::itk:
    return "ITK HDF5";
  case ImageFormat::metaimage:
    return "MetaImage";
  case ImageFormat::nifti:
    return "NIfTI";
  case ImageFormat::nrrd:
    return "NRRD";
  case ImageFormat::scanco:
    return "Scanco";
  case ImageFormat::dicom:
    return "DICOM";
  case ImageFormat::raw:
    return "raw";
  case ImageFormat::surface:
    return "surface";
  }
  return "unknown";
}

ImageFormat guess_format(const std::string& path) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none))
    return ImageFormat::dicom;
  const std::vector<unsigned char> bytes = read_head(path, 4096);
  const std::string_view head = text_of(bytes);
  const std::string name = lower(path);
  // Raw data may begin with anything: there the extension goes first.
  const std::optional<ImageFormat> named = by_extension(name);
  if (named == ImageFormat::raw) {
    if (ends_with(name, ".img"))
      refuse_pair(path);
    return *named;
  }
  if (const std::optional<ImageFormat> found = by_content(path, head))
    return *found;
  if (const char* text = advice(head, name))
    fail<InputError>(path, ": is ", text);
  if (named)
    return *named;
  if (starts_with(head, "\x1f\x8b"))
    fail<InputError>(path, ": is gzip-compressed and no NIfTI image; decompress it first");
  fail<InputError>(
      path, ": is of no format that is read: HDF5 of ParOSol or ITK (.h5), MetaImage (.mha, .mhd), "
            "NIfTI (.nii, .nii.gz), NRRD (.nrrd, .nhdr), Scanco (.isq, .rsq, .aim), DICOM (a "
            "folder or .dcm), raw (.raw), surfaces (.off, .stl)");
}

std::optional<ImageFormat> format_by_name(const std::string& path) {
  return by_extension(lower(path));
}

} // namespace ossatura
