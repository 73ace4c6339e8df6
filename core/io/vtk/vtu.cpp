// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/vtk/vtu.hpp>

#include <ossatura/core/io/text/input_file.hpp>
#include <ossatura/core/io/vtk/vtu_array.hpp>

#include <memory>

namespace ossatura {
namespace {

/// A piece of the grid, as the file declares it before its numbers.
struct Piece {
  std::uint64_t num_points = 0, num_cells = 0;
  std::optional<VtuArray> points, connectivity, offsets, types;
  std::vector<VtuArray> cell_data;
  std::vector<std::string> point_data;
  std::optional<VtuArray> point_ghosts;
};

class VtuReader {
public:
  VtuReader(const std::string& path, std::string_view content)
      : xml_(path, content)
      , content_(content) {
    coding_.path = path;
    coding_.content = content;
  }

  VtkGrid read() {
    XmlTag tag;
    if (!xml_.next(tag) || tag.name != "VTKFile")
      fail<InputError>(coding_.path, ": is no VTK XML file: it does not begin with <VTKFile>");
    read_file_tag(tag);
    while (xml_.next(tag))
      read_tag(tag);
    if (!has_end_)
      fail<InputError>(coding_.path, ": </UnstructuredGrid> is missing: the file is truncated");
    return make_grid();
  }

private:
  template<class... Parts>
  [[noreturn]] void bad(const Parts&... parts) const {
    fail<InputError>(coding_.path, ": line ", xml_.line_at(xml_.position()), ": ", parts...);
  }

  void read_file_tag(const XmlTag& tag) {
    const std::string type = tag.get("type"), order = tag.get("byte_order", "LittleEndian"),
                      header = tag.get("header_type", "UInt32"), compressor = tag.get("compressor");
    if (type != "UnstructuredGrid")
      bad("the file holds '", printable_word(type), "'; meshes are read from an UnstructuredGrid");
    if (order != "LittleEndian" && order != "BigEndian")
      bad("byte order '", printable_word(order), "' is neither LittleEndian nor BigEndian");
    if (header != "UInt32" && header != "UInt64")
      bad("header_type '", printable_word(header), "' is neither UInt32 nor UInt64");
    if (!compressor.empty() && compressor != "vtkZLibDataCompressor")
      bad("data compressed by ", printable_word(compressor),
          " is not read; save with zlib or without compression");
    coding_.order = order == "BigEndian" ? ByteOrder::big : ByteOrder::little;
    coding_.header_bytes = header == "UInt64" ? 8 : 4;
    coding_.zlib = !compressor.empty();
  }

  void read_tag(const XmlTag& tag) {
    if (tag.name == "AppendedData" && tag.kind != XmlTag::Kind::end) {
      read_appended(tag);
    } else if (tag.name == "DataArray" || tag.name == "Array") { // of strings
      if (tag.kind != XmlTag::Kind::end)
        read_array(tag);
    } else if (tag.kind == XmlTag::Kind::end) {
      has_end_ = has_end_ || tag.name == "UnstructuredGrid";
      if (tag.name == section_)
        section_.clear();
    } else if (tag.name == "Piece") {
      if (num_pieces_++ > 0)
        bad("the grid is in several pieces, which have points of their own where they meet; make "
            "it one, for example by the filter Clean to Grid of ParaView");
      piece_.num_points = number(tag, "NumberOfPoints");
      piece_.num_cells = number(tag, "NumberOfCells");
    } else if (tag.kind == XmlTag::Kind::begin && is_section(tag.name)) {
      section_ = tag.name;
    }
  }

  static bool is_section(const std::string& name) {
    return name == "PointData" || name == "CellData" || name == "Points" || name == "Cells" ||
           name == "FieldData";
  }

  std::uint64_t number(const XmlTag& tag, const char* key) {
    const std::string text = tag.get(key);
    TextCursor cursor(coding_.path, text);
    std::uint64_t value = 0;
    if (!cursor.number(value) || !cursor.at_end() || value > (std::uint64_t(1) << 48))
      bad(key, "=\"", printable_word(text), "\" is no number of such");
    return value;
  }

  void read_array(const XmlTag& tag) {
    const std::string section = section_;
    // Arrays of strings and the like do not matter where they are not used.
    if (section == "FieldData" || section.empty())
      return void(pass_content(tag));
    if (section == "PointData" && !is_point_ghosts(tag)) {
      piece_.point_data.push_back(tag.get("Name"));
      return void(pass_content(tag));
    }
    if (tag.name == "Array" || (section == "CellData" && tag.get("type") == "String"))
      return void(pass_content(tag));
    VtuArray array = make_vtu_array(coding_, tag);
    const std::string_view text = pass_content(tag);
    if (!text.empty()) {
      array.text_begin = std::size_t(text.data() - content_.data());
      array.text_end = array.text_begin + text.size();
    }
    if (section == "CellData")
      piece_.cell_data.push_back(std::move(array));
    else if (section == "PointData")
      piece_.point_ghosts = std::move(array);
    else if (section == "Points")
      piece_.points = std::move(array);
    else if (section == "Cells" && array.name == "connectivity")
      piece_.connectivity = std::move(array);
    else if (section == "Cells" && array.name == "offsets")
      piece_.offsets = std::move(array);
    else if (section == "Cells" && array.name == "types")
      piece_.types = std::move(array);
  }

  static bool is_point_ghosts(const XmlTag& tag) {
    return tag.name == "DataArray" && tag.get("Name") == "vtkGhostType";
  }

  /// Goes to the end of an array and returns the text in it.
  std::string_view pass_content(const XmlTag& tag) {
    std::string_view text;
    if (tag.kind == XmlTag::Kind::empty)
      return text;
    XmlTag inner;
    for (int depth = 1; depth > 0;) {
      if (!xml_.next(inner))
        bad("</", tag.name, "> is missing: the file is truncated");
      // Information about the array may stand before or after its numbers.
      if (depth == 1 && xml_.text().find_first_not_of(" \t\r\n") != std::string_view::npos)
        text = xml_.text();
      if (inner.kind == XmlTag::Kind::begin)
        ++depth;
      else if (inner.kind == XmlTag::Kind::end)
        --depth;
    }
    if (inner.name != tag.name)
      bad("</", printable_word(inner.name), "> where </", tag.name,
          "> is expected: the file is damaged");
    return text;
  }

  void read_appended(const XmlTag& tag) {
    const std::string encoding = tag.get("encoding", "base64");
    if (encoding != "raw" && encoding != "base64")
      bad("appended data of encoding '", printable_word(encoding), "' is not read");
    const std::size_t mark = content_.find('_', xml_.position());
    if (mark == std::string_view::npos)
      bad("the '_' before the appended data is missing: the file is truncated");
    coding_.appended = content_.substr(mark + 1);
    coding_.appended_base64 = encoding == "base64";
    if (coding_.appended_base64)
      coding_.appended = coding_.appended.substr(0, coding_.appended.find('<'));
    // Nothing but the bytes follows, which are no XML.
    xml_ = XmlScanner(coding_.path, {});
  }

  template<class T>
  std::vector<T> read(const std::optional<VtuArray>& array, const char* what,
                      std::optional<std::uint64_t> count) {
    if (!array)
      fail<InputError>(coding_.path, ": has no array of ", what, ": the file is damaged");
    return read_vtk_numbers<T>(decode_vtu_array(coding_, *array, count));
  }

  VtkGrid make_grid() {
    VtkGrid grid;
    grid.path = coding_.path;
    if (num_pieces_ == 0 || piece_.num_points == 0 || piece_.num_cells == 0)
      fail<InputError>(coding_.path, ": has no points or no cells; save the mesh of a volume");
    const std::uint64_t num_cells = piece_.num_cells;
    if (piece_.points && piece_.points->num_components != 3)
      fail<InputError>(coding_.path, ": points have ", piece_.points->num_components,
                       " coordinates; three are read");
    grid.point = read<double>(piece_.points, "points", 3 * piece_.num_points);
    grid.type = read<std::int32_t>(piece_.types, "cell types", num_cells);
    grid.connectivity = read<std::int64_t>(piece_.connectivity, "the cells' points", std::nullopt);
    grid.offset = read<std::int64_t>(piece_.offsets, "the cells' ends", num_cells);
    grid.offset.insert(grid.offset.begin(), 0);
    if (piece_.points->format == VtuArray::Format::ascii)
      grid.point_text = vtu_array_text(coding_, *piece_.points);
    if (piece_.connectivity->format == VtuArray::Format::ascii)
      grid.cell_text = vtu_array_text(coding_, *piece_.connectivity);
    grid.point_field = piece_.point_data;
    for (const VtuArray& array : piece_.cell_data)
      grid.cell_field.push_back(make_field(array));
    if (piece_.point_ghosts)
      grid.point_ghosts = make_field(*piece_.point_ghosts);
    return grid;
  }

  VtkField make_field(const VtuArray& array) const {
    return {array.name, array.num_components,
            [coding = coding_, array] { return decode_vtu_array(coding, array, std::nullopt); }};
  }

  XmlScanner xml_;
  std::string_view content_;
  VtuCoding coding_;
  std::string section_; ///< PointData, CellData, Points, Cells
  Piece piece_;
  int num_pieces_ = 0;
  bool has_end_ = false;
};

} // namespace

VtkGrid read_vtu_grid(const std::string& path) {
  std::vector<unsigned char> bytes = read_all(path);
  VtuReader reader(path, text_of(bytes));
  VtkGrid grid = reader.read();
  grid.content = std::move(bytes); // which stay where they are
  return grid;
}

TetraMesh read_vtu(const std::string& path, const VtkFieldNames& names, double unit) {
  VtkGrid grid = read_vtu_grid(path);
  return make_tetra_mesh(grid, names, unit);
}

} // namespace ossatura
