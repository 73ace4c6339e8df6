// SPDX-License-Identifier: Apache-2.0
// A VTK grid holds the points and cells that both VTK formats are read into; meshes are made of
// grids.
//
// [1] VTK file formats, docs.vtk.org.
#pragma once

#include <ossatura/core/io/image/samples.hpp>
#include <ossatura/core/io/mesh/element_file.hpp>
#include <ossatura/core/io/text/cursor.hpp>
#include <ossatura/core/mesh/tetra_mesh.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ossatura {

/// Numbers of a file, as they stand in it.
struct VtkNumbers {
  std::string place; ///< begins messages: "heart.vtu: DataArray 'fiber'"
  SampleType type = SampleType::f32;
  std::size_t count = 0;
  /// Where they are text; else they are bytes.
  std::optional<TextCursor> text;
  std::vector<unsigned char> decoded; ///< the bytes where they had to be decoded
  const unsigned char* bytes = nullptr;
  ByteOrder order = ByteOrder::little;
  bool may_be_nan = false; ///< a number that is none is a value
};

/// The numbers as T: float, double, std::int32_t or std::int64_t. Throws InputError, with the line
/// or number, for one that is not finite, no whole number where T is one, or out of its range.
template<class T>
std::vector<T> read_vtk_numbers(const VtkNumbers& numbers);

struct VtkField {
  std::string name;
  std::size_t num_components;
  std::function<VtkNumbers()> numbers; ///< is called for the fields that are used only
  bool is_text = false;                ///< numbers() throws InputError; no usual name counts
};

struct VtkGrid {
  std::string path;
  std::vector<unsigned char> content; ///< of the file; texts and fields refer to it
  std::vector<double> point;
  std::vector<std::int64_t> connectivity;
  std::vector<std::int64_t> offset; ///< [num_cells + 1] of each cell in `connectivity`
  std::vector<std::int32_t> type;   ///< [num_cells], VTK's numbers
  std::vector<VtkField> cell_field;
  std::vector<std::string> point_field; ///< names
  std::optional<VtkField> point_ghosts; ///< vtkGhostType of points
  /// Where points and cells stand, if that is text, for messages.
  std::optional<TextCursor> point_text, cell_text;
  bool text_has_sizes = false; ///< the number of points before those of each cell
};

/// A type of cell by VTK's number.
struct VtkCellType {
  int number;
  int dimension;
  const char* name;
};
inline constexpr int vtk_triangle = 5, vtk_tetra = 10, vtk_voxel = 11, vtk_hexahedron = 12;

/// "heart.vtk: line 12" where that is text, or the path; of a cell with ": cell 3".
std::string point_place(const VtkGrid& grid, std::size_t point);
std::string cell_place(const VtkGrid& grid, std::size_t cell);
/// These checks hold for any mesh and throw InputError: a known type of a cell, offsets within the
/// connectivity, points of a cell that are there.
const VtkCellType& require_cell_type(const VtkGrid& grid, std::size_t cell);
void require_offsets(const VtkGrid& grid);
void require_points_of_cell(const VtkGrid& grid, std::size_t cell);
/// Multiplies the points by `unit`; throws InputError for one that is not finite, and for more
/// points than can be numbered.
void scale_points(VtkGrid& grid, double unit);

/// Whether a field of this name says which cells (points) are not there.
inline bool is_ghost_array(const std::string& name) {
  return name == "vtkGhostType" || name == "vtkGhostLevels";
}
/// Throws InputError for cells that vtkGhostType (before VTK 6.1: vtkGhostLevels) marks as copies,
/// refined or hidden, and for points that it marks as hidden: VTK leaves such cells out.
void require_no_ghosts(const VtkGrid& grid);

/// Which fields hold what; empty names stand for the first of the usual names there is.
struct VtkFieldNames {
  std::string tag, fibre, sheet;
  std::vector<std::string> value; ///< of TetraMesh::value
};

/// The tetrahedra (cell type 10) with tags and directions. Cells of lower dimension are passed over
/// together with the points that only they have; other volume cells are refused by name. Takes the
/// grid's memory.
TetraMesh make_tetra_mesh(VtkGrid& grid, const VtkFieldNames& names, double unit);

/// The cells of the highest dimension, see read_element_mesh(); voxels are hexahedra. Takes the
/// grid's memory.
ElementFile make_element_file(VtkGrid& grid, const ElementFileOptions& options);

} // namespace ossatura
