// SPDX-License-Identifier: Apache-2.0
// The reader follows [1]; binary numbers are big endian.
//
// [1] VTK file formats, "Simple legacy formats", docs.vtk.org.
#include <ossatura/core/io/vtk/legacy.hpp>

#include <ossatura/core/io/text/input_file.hpp>
#include <ossatura/core/io/vtk/legacy_stream.hpp>

#include <memory>

namespace ossatura {
namespace {

class LegacyReader {
public:
  LegacyReader(const std::string& path, std::string_view content)
      : in_(path, content) {}

  /// The file up to its end.
  VtkGrid read() {
    read_header();
    grid_.path = in_.text.path();
    while (!in_.text.at_end())
      read_section(upper_case(in_.text.next_word()));
    if (grid_.point.empty() || grid_.type.empty())
      fail<InputError>(in_.text.path(), ": lacks points, cells or their types: it is truncated");
    if (grid_.type.size() + 1 != grid_.offset.size())
      fail<InputError>(in_.text.path(), ": has ", grid_.type.size(), " cell types, but ",
                       grid_.offset.size(), " offsets of cells, one more of which are needed");
    return std::move(grid_);
  }

private:
  void read_header() {
    if (in_.text.rest().substr(0, 22) != "# vtk DataFile Version")
      fail<InputError>(in_.text.path(), ": is no VTK legacy file: it does not begin with "
                                        "'# vtk DataFile Version'");
    in_.text.seek(22);
    double version = 0;
    if (!in_.text.number(version) || !(version >= 1 && version < 6))
      in_.text.bad(
          "the version of the format is none of 1.0 to 5.1; save in the legacy format 4.2");
    has_offsets_ = version >= 5;
    in_.text.take_line();
    in_.text.take_line(); // the title
    const std::string coding = upper_case(in_.text.next_word());
    if (coding != "ASCII" && coding != "BINARY")
      in_.text.bad("ASCII or BINARY is expected in the third line");
    if (upper_case(in_.text.next_word()) != "DATASET")
      in_.text.bad("DATASET is expected after the kind of file");
    const std::string dataset = upper_case(in_.text.word());
    if (dataset != "UNSTRUCTURED_GRID")
      in_.text.bad("the data set is '", printable_word(dataset),
                   "'; meshes are read from an UNSTRUCTURED_GRID");
    in_.binary = coding == "BINARY";
  }

  void read_section(const std::string& keyword) {
    if (keyword == "POINTS")
      read_points();
    else if (keyword == "CELLS")
      read_cells();
    else if (keyword == "CELL_TYPES")
      read_cell_types();
    else if (keyword == "CELL_DATA")
      begin_data(&grid_.cell_field, in_.count("the number of cells"));
    else if (keyword == "POINT_DATA")
      begin_data(nullptr, in_.count("the number of points"));
    else if (keyword == "METADATA")
      skip_metadata();
    else if (keyword == "FIELD")
      read_field_data();
    else if (keyword == "LOOKUP_TABLE")
      skip_lookup_table();
    else
      read_attribute(keyword);
  }

  void read_points() {
    const std::uint64_t num = in_.count("the number of points");
    const SampleType type = in_.type("points");
    const VtkNumbers numbers = in_.numbers(type, num, 3, "points");
    grid_.point = read_vtk_numbers<double>(numbers);
    grid_.point_text = numbers.text;
  }

  /// Version 5: offsets and connectivity; before: each cell's number of points before them.
  void read_cells() {
    const std::uint64_t first = in_.count("the number of cells");
    const std::uint64_t second = in_.count("the size of the list of cells");
    if (has_offsets_) {
      grid_.offset = read_cell_array("OFFSETS", first).first;
      if (grid_.offset.empty())
        in_.bad("the file has no cells");
      auto [connectivity, text] = read_cell_array("CONNECTIVITY", second);
      grid_.connectivity = std::move(connectivity);
      grid_.cell_text = text;
      return;
    }
    const VtkNumbers numbers = in_.numbers(SampleType::i32, second, 1, "cells");
    if (first > second)
      in_.bad(first, " cells do not fit in a list of ", second, ": the file is damaged");
    grid_.cell_text = numbers.text;
    grid_.text_has_sizes = true;
    std::vector<std::int64_t>& list = grid_.connectivity;
    list = read_vtk_numbers<std::int64_t>(numbers);
    grid_.offset.resize(first + 1);
    std::size_t from = 0, to = 0;
    for (std::uint64_t cell = 0; cell < first; ++cell) {
      const std::int64_t num = from < list.size() ? list[from++] : -1;
      if (num < 0 || std::uint64_t(num) > list.size() - from)
        in_.bad("cell ", cell, " of ", first, " has ", num, " points where the list of cells has ",
                list.size() - from, " more numbers: the file is damaged");
      for (std::int64_t k = 0; k < num; ++k)
        list[to++] = list[from++];
      grid_.offset[cell + 1] = std::int64_t(to);
    }
    if (from != list.size())
      in_.bad("the list of cells has ", list.size() - from,
              " numbers after its last cell: the numbers of cells or of their points are wrong");
    list.resize(to);
  }

  std::pair<std::vector<std::int64_t>, std::optional<TextCursor>>
  read_cell_array(const char* keyword, std::uint64_t num) {
    if (upper_case(in_.text.next_word()) != keyword)
      in_.bad(keyword, " is expected: the file is damaged");
    const SampleType type = in_.type(keyword);
    const VtkNumbers numbers = in_.numbers(type, num, 1, keyword);
    return {read_vtk_numbers<std::int64_t>(numbers), numbers.text};
  }

  void read_cell_types() {
    const std::uint64_t num = in_.count("the number of cells");
    grid_.type = read_vtk_numbers<std::int32_t>(in_.numbers(SampleType::i32, num, 1, "cell types"));
  }

  void begin_data(std::vector<VtkField>* fields, std::uint64_t num) {
    fields_ = fields;
    num_rows_ = num;
    in_data_ = true;
  }

  void add_field(const std::string& name, SampleType type, std::uint64_t components,
                 std::uint64_t rows) {
    auto numbers = std::make_shared<VtkNumbers>(in_.numbers(type, rows, components, name));
    if (!in_data_)
      return; // data of the whole, such as the time
    if (fields_ != nullptr)
      fields_->push_back({name, std::size_t(components), [numbers] { return *numbers; }});
    else
      grid_.point_field.push_back(name);
    if (fields_ == nullptr && name == "vtkGhostType")
      grid_.point_ghosts = {name, std::size_t(components), [numbers] { return *numbers; }};
  }

  /// Of a type that is still to be read: one of texts is refused where it is asked for.
  void add_array(const std::string& name, std::uint64_t components, std::uint64_t rows) {
    if (!in_.is_of_texts())
      return add_field(name, in_.type(name), components, rows);
    in_.skip_texts(rows, components, name);
    if (!in_data_)
      return;
    const std::string place = in_.text.path() + ": '" + name + "'";
    const auto refuse = [place]() -> VtkNumbers {
      fail<InputError>(place, " has texts, not numbers: choose another field");
    };
    if (fields_ != nullptr)
      fields_->push_back({name, std::size_t(components), refuse, true});
    else
      grid_.point_field.push_back(name);
  }

  void read_attribute(const std::string& keyword) {
    struct Attribute {
      const char* keyword;
      std::uint64_t components;
    };
    static constexpr Attribute attributes[] = {
        {"VECTORS", 3},    {"NORMALS", 3},      {"TENSORS", 9},   {"TENSORS6", 6},
        {"GLOBAL_IDS", 1}, {"PEDIGREE_IDS", 1}, {"EDGE_FLAGS", 1}};
    if (!in_data_)
      in_.bad("'", printable_word(keyword), "' is no keyword of an unstructured grid that is read");
    if (keyword == "SCALARS")
      return read_scalars();
    if (keyword == "COLOR_SCALARS") {
      const std::string name = in_.name("the name of the field");
      const std::uint64_t components = in_.count("the number of components");
      return add_field(name, in_.binary ? SampleType::u8 : SampleType::f32, components, num_rows_);
    }
    if (keyword == "TEXTURE_COORDINATES") {
      const std::string name = in_.name("the name of the field");
      const std::uint64_t components = in_.count("the number of components");
      return add_field(name, in_.type(name), components, num_rows_);
    }
    for (const Attribute& attribute : attributes)
      if (keyword == attribute.keyword) {
        const std::string name = in_.name("the name of the field");
        return add_array(name, attribute.components, num_rows_);
      }
    in_.bad("'", printable_word(keyword), "' is no keyword that is read: the file is damaged");
  }

  void read_scalars() {
    const std::string name = in_.name("the name of the field");
    const SampleType type = in_.type(name);
    std::uint64_t components = 1;
    if (!in_.text.at_line_end())
      components = in_.count("the number of components");
    // A line that names the lookup table comes between; files of other programs lack it.
    TextCursor ahead(in_.text);
    ahead.take_line();
    if (upper_case(ahead.next_word()) == "LOOKUP_TABLE") {
      in_.text = ahead;
      in_.word("the name of the lookup table");
    }
    add_field(name, type, components, num_rows_);
  }

  void skip_lookup_table() {
    const std::string name = in_.word("the name of a lookup table");
    const std::uint64_t rows = in_.count("the size of the lookup table");
    in_.numbers(in_.binary ? SampleType::u8 : SampleType::f32, rows, 4, name);
  }

  void read_field_data() {
    in_.word("the name of the field data");
    const std::uint64_t num = in_.count("the number of arrays");
    for (std::uint64_t i = 0; i < num;) {
      if (in_.text.at_end())
        in_.bad("the file ends after ", i, " of ", num, " arrays: it is truncated");
      const std::string name = in_.name("the name of an array");
      if (upper_case(name) == "METADATA") { // of the array before
        skip_metadata();
        continue;
      }
      ++i;
      const std::uint64_t components = in_.count("the number of components");
      const std::uint64_t rows = in_.count("the number of rows");
      add_array(name, components, rows);
    }
  }

  /// Up to a blank line.
  void skip_metadata() {
    in_.text.take_line();
    while (in_.text.num_left() > 0) {
      TextCursor line(in_.text.path(), in_.text.take_line());
      if (line.at_end())
        return;
    }
  }

  VtkLegacyStream in_;
  bool has_offsets_ = false; ///< of the list of cells: version 5
  VtkGrid grid_;
  std::vector<VtkField>* fields_ = nullptr;
  std::uint64_t num_rows_ = 0; ///< of SCALARS and so on
  bool in_data_ = false;       ///< after CELL_DATA or POINT_DATA
};

} // namespace

VtkGrid read_vtk_legacy_grid(const std::string& path) {
  std::vector<unsigned char> bytes = read_all(path);
  LegacyReader reader(path, text_of(bytes));
  VtkGrid grid = reader.read();
  grid.content = std::move(bytes); // which stay where they are
  return grid;
}

TetraMesh read_vtk_legacy(const std::string& path, const VtkFieldNames& names, double unit) {
  VtkGrid grid = read_vtk_legacy_grid(path);
  return make_tetra_mesh(grid, names, unit);
}

} // namespace ossatura
