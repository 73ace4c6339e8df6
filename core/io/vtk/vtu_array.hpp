// SPDX-License-Identifier: Apache-2.0
// A VtuArray reads one DataArray of a VTK XML file.
//
// [1] VTK file formats, "XML file formats", docs.vtk.org. Bytes begin with their number; compressed
//     ones with the numbers of blocks, of bytes in a block and in the last one (0 = whole), and of
//     compressed bytes in each block.
#pragma once

#include <ossatura/core/io/vtk/grid.hpp>
#include <ossatura/core/io/vtk/xml_scanner.hpp>

#include <string>
#include <string_view>

namespace ossatura {

/// The coding that holds for the whole file.
struct VtuCoding {
  std::string path;
  std::string_view content; ///< the whole file
  ByteOrder order = ByteOrder::little;
  std::size_t header_bytes = 4; ///< of the numbers before the bytes: 4 or 8
  bool zlib = false;
  bool appended_base64 = false;
  std::string_view appended; ///< behind the underscore
};

struct VtuArray {
  std::string name;
  SampleType type = SampleType::f32;
  std::size_t num_components = 1;
  enum class Format { ascii, binary, appended } format = Format::ascii;
  std::size_t text_begin = 0, text_end = 0; ///< ascii, binary: in the file
  std::uint64_t offset = 0;                 ///< appended
};

/// Checks the attributes.
VtuArray make_vtu_array(const VtuCoding& coding, const XmlTag& tag);

/// The text of an ascii array.
TextCursor vtu_array_text(const VtuCoding& coding, const VtuArray& array);

/// The numbers of the array, decoded. With `count`, there must be that many.
VtkNumbers decode_vtu_array(const VtuCoding& coding, const VtuArray& array,
                            std::optional<std::uint64_t> count);

} // namespace ossatura
