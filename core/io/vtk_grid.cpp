// SPDX-License-Identifier: BSD-3-Clause
#include "core/io/vtk_grid.hpp"

#include "core/io/tetra_check.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>

namespace femura {
namespace {

struct CellType {
  int number;
  int dimension;
  const char* name;
};
constexpr int vtk_tetra = 10;
// [1], vtkCellType.h.
constexpr CellType cell_types[] = {
    {0, 0, "empty cell"},
    {1, 0, "vertex"},
    {2, 0, "poly-vertex"},
    {3, 1, "line"},
    {4, 1, "poly-line"},
    {5, 2, "triangle"},
    {6, 2, "triangle strip"},
    {7, 2, "polygon"},
    {8, 2, "pixel"},
    {9, 2, "quadrilateral"},
    {vtk_tetra, 3, "tetrahedron"},
    {11, 3, "voxel"},
    {12, 3, "hexahedron"},
    {13, 3, "wedge"},
    {14, 3, "pyramid"},
    {15, 3, "pentagonal prism"},
    {16, 3, "hexagonal prism"},
    {21, 1, "quadratic edge"},
    {22, 2, "quadratic triangle"},
    {23, 2, "quadratic quadrilateral"},
    {24, 3, "quadratic tetrahedron"},
    {25, 3, "quadratic hexahedron"},
    {26, 3, "quadratic wedge"},
    {27, 3, "quadratic pyramid"},
    {28, 2, "biquadratic quadrilateral"},
    {29, 3, "triquadratic hexahedron"},
    {30, 2, "quadratic linear quadrilateral"},
    {31, 3, "quadratic linear wedge"},
    {32, 3, "biquadratic quadratic wedge"},
    {33, 3, "biquadratic quadratic hexahedron"},
    {34, 2, "biquadratic triangle"},
    {35, 1, "cubic line"},
    {36, 2, "quadratic polygon"},
    {37, 3, "triquadratic pyramid"},
    {41, 3, "convex point set"},
    {42, 3, "polyhedron"},
    {68, 1, "Lagrange curve"},
    {69, 2, "Lagrange triangle"},
    {70, 2, "Lagrange quadrilateral"},
    {71, 3, "Lagrange tetrahedron"},
    {72, 3, "Lagrange hexahedron"},
    {73, 3, "Lagrange wedge"},
    {74, 3, "Lagrange pyramid"},
};

/// "heart.vtk: line 12", or the path alone.
std::string place_of(const VtkGrid& grid, const std::optional<TextCursor>& text, std::size_t word) {
  if (!text)
    return grid.path;
  return grid.path + ": line " + std::to_string(text->line_of_word(text->position(), word));
}
std::string point_place(const VtkGrid& grid, std::size_t point) {
  return place_of(grid, grid.point_text, 3 * point);
}
std::string cell_place(const VtkGrid& grid, std::size_t cell) {
  return place_of(grid, grid.cell_text,
                  std::size_t(grid.offset[cell]) + (grid.text_has_sizes ? cell : 0));
}

/// Dimension of a cell; refuses volume cells that are not solved.
int require_cell_type(const VtkGrid& grid, std::size_t cell) {
  const int number = grid.type[cell];
  if (number == vtk_tetra)
    return 3;
  const auto* type = std::find_if(std::begin(cell_types), std::end(cell_types),
                                  [&](const CellType& t) { return t.number == number; });
  if (type == std::end(cell_types))
    fail<InputError>(cell_place(grid, cell), ": cell ", cell, " has type ", number,
                     ", which is not known");
  if (type->dimension == 3)
    fail<InputError>(cell_place(grid, cell), ": cell ", cell, " is a ", type->name, " (type ",
                     number,
                     "); of volume cells, only tetrahedra of four points are solved: cut it into "
                     "tetrahedra, for example by the filter Tetrahedralize of ParaView");
  return type->dimension;
}

void require_offsets(const VtkGrid& grid) {
  const std::int64_t size = std::int64_t(grid.connectivity.size());
  for (std::size_t cell = 0; cell < grid.type.size(); ++cell)
    if (grid.offset[cell] < 0 || grid.offset[cell + 1] < grid.offset[cell] ||
        grid.offset[cell + 1] > size)
      fail<InputError>(grid.path, ": the points of cell ", cell, " are entries ", grid.offset[cell],
                       " to ", grid.offset[cell + 1], " of the ", size,
                       " of all cells: the file is damaged");
}

std::string lower_case(std::string name) {
  for (char& c : name)
    c = char(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

bool is_one_of(const std::string& name, std::initializer_list<const char*> usual) {
  const std::string lower = lower_case(name);
  return std::any_of(usual.begin(), usual.end(), [&](const char* u) { return lower == u; });
}

/// The field called `name` or, where that is empty, the first of the usual names; null where there
/// is none of these.
const VtkField* find_field(const VtkGrid& grid, const std::string& name, const char* what,
                           std::initializer_list<const char*> usual) {
  for (const char* u : usual)
    for (const VtkField& field : grid.cell_field)
      if (name.empty() ? lower_case(field.name) == u : field.name == name)
        return &field;
  std::string known;
  for (const VtkField& field : grid.cell_field)
    known += (known.empty() ? "" : ", ") + field.name;
  if (known.empty())
    known = "none";
  // Directions that are silently left out would give another result.
  for (const std::string& field : grid.point_field)
    if (name.empty() ? is_one_of(field, usual) : field == name)
      fail<InputError>(grid.path, ": the ", what, " '", field,
                       "' is data of points; make it data of cells, for example by the filter "
                       "Point Data to Cell Data of ParaView");
  if (!name.empty())
    fail<InputError>(grid.path, ": there is no cell data called '", name, "' for the ", what,
                     "; there is: ", known);
  return nullptr;
}

/// The rows of `value` that belong to tetrahedra.
template<class T>
void keep_rows(std::vector<T>& value, std::size_t row, const VtkGrid& grid) {
  std::size_t count = 0;
  for (std::size_t cell = 0; cell < grid.type.size(); ++cell) {
    if (grid.type[cell] != vtk_tetra)
      continue;
    for (std::size_t k = 0; k < row; ++k)
      value[row * count + k] = value[row * cell + k];
    ++count;
  }
  value.resize(row * count);
}

template<class T>
std::vector<T> read_field(const VtkGrid& grid, const VtkField* field, std::size_t row,
                          const char* what) {
  if (field == nullptr)
    return {};
  if (field->num_components != row)
    fail<InputError>(grid.path, ": the cell data '", field->name, "' has ", field->num_components,
                     " components; the ", what, " has ", row);
  std::vector<T> value = read_vtk_numbers<T>(field->numbers());
  if (value.size() != row * grid.type.size())
    fail<InputError>(grid.path, ": the cell data '", field->name, "' has ", value.size() / row,
                     " rows for ", grid.type.size(), " cells");
  keep_rows(value, row, grid);
  return value;
}

/// Moves the vertices of the tetrahedra, and marks those of other cells.
std::vector<bool> take_cells(const VtkGrid& grid, TetraMesh& mesh) {
  const std::int64_t num_points = std::int64_t(mesh.num_points());
  std::vector<bool> passed_over;
  for (std::size_t cell = 0; cell < grid.type.size(); ++cell) {
    const int dimension = require_cell_type(grid, cell);
    const std::int64_t* v = grid.connectivity.data() + grid.offset[cell];
    const std::int64_t num = grid.offset[cell + 1] - grid.offset[cell];
    if (dimension == 3) {
      if (num != 4)
        fail<InputError>(cell_place(grid, cell), ": cell ", cell, " is a tetrahedron of ", num,
                         " points; it has four");
      if (!is_tetra(v, num_points))
        fail<InputError>(cell_place(grid, cell), ": cell ", cell, ": ",
                         describe_bad_tetra(v, num_points));
      for (int k = 0; k < 4; ++k)
        mesh.tetra.push_back(std::int32_t(v[k]));
      continue;
    }
    passed_over.resize(std::size_t(num_points));
    for (std::int64_t k = 0; k < num; ++k) {
      if (v[k] < 0 || v[k] >= num_points)
        fail<InputError>(cell_place(grid, cell), ": cell ", cell, " names point ", v[k], " of ",
                         num_points, ": the file is damaged");
      passed_over[std::size_t(v[k])] = true;
    }
  }
  return passed_over;
}

} // namespace

TetraMesh make_tetra_mesh(VtkGrid& grid, const VtkFieldNames& names, double unit) {
  require_few_points(grid.path, grid.point.size() / 3);
  require_offsets(grid);
  TetraMesh mesh;
  mesh.point = std::move(grid.point);
  for (std::size_t i = 0; i < mesh.point.size(); ++i) {
    mesh.point[i] *= unit;
    if (!std::isfinite(mesh.point[i]))
      fail<InputError>(point_place(grid, i / 3), ": point ", i / 3, " is not finite in mm");
  }
  mesh.tetra.reserve(grid.connectivity.size());
  const std::vector<bool> passed_over = take_cells(grid, mesh);
  std::vector<std::int64_t>().swap(grid.connectivity);
  std::vector<std::int64_t>().swap(grid.offset);

  // meshtool and openCARP write elemTag, fiber and sheet; Gmsh CellEntityIds, meshio gmsh:physical.
  const VtkField* tag =
      find_field(grid, names.tag, "tag",
                 {"tag", "tags", "elemtag", "elemtags", "region", "regions", "regionid",
                  "region_id", "material", "materialid", "materials", "id", "ids", "label",
                  "labels", "gmsh:physical", "cellentityids", "medit:ref"});
  const VtkField* fibre = find_field(
      grid, names.fibre, "fibre direction",
      {"fiber", "fibre", "fibers", "fibres", "fiber_direction", "fibre_direction", "f0"});
  const VtkField* sheet = find_field(grid, names.sheet, "sheet direction",
                                     {"sheet", "sheets", "sheet_direction", "s0"});
  if (fibre == nullptr && sheet != nullptr)
    fail<InputError>(grid.path, ": has the sheet direction '", sheet->name,
                     "', but no fibre direction by a usual name; name the field of the fibres");
  mesh.tag = read_field<std::int32_t>(grid, tag, 1, "tag");
  mesh.tag.resize(mesh.num_tetra(), 0);
  mesh.fibre = read_field<float>(grid, fibre, 3, "fibre direction");
  mesh.sheet = read_field<float>(grid, sheet, 3, "sheet direction");
  finish_tetra_mesh(grid.path, mesh, passed_over,
                    [&](std::size_t point) { return point_place(grid, point); });
  return mesh;
}

} // namespace femura
