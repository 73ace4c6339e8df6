// SPDX-License-Identifier: Apache-2.0
// The reader makes a tetrahedral mesh of the heart from a grid of VTK.
#include <ossatura/core/io/mesh/tetra_check.hpp>
#include <ossatura/core/io/vtk/grid.hpp>
#include <ossatura/core/machine/part_loop.hpp>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <initializer_list>

namespace ossatura {
namespace {

constexpr std::size_t least_part = std::size_t(1) << 15;

std::string lower_case(std::string name) {
  for (char& c : name)
    c = char(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

using UsualNames = std::initializer_list<const char*>;

bool is_one_of(const std::string& name, UsualNames usual) {
  const std::string lower = lower_case(name);
  return std::any_of(usual.begin(), usual.end(), [&](const char* u) { return lower == u; });
}

/// Whether all cells are tetrahedra, which is what most files have.
bool has_tetra_alone(const VtkGrid& grid) {
  std::atomic<bool> all = true;
  for_parts(grid.type.size(), least_part, [&](std::size_t begin, std::size_t end) {
    if (!std::all_of(&grid.type[begin], &grid.type[begin] + (end - begin),
                     [](std::int32_t type) { return type == vtk_tetra; }))
      all = false;
  });
  return all;
}

/// The rows of `value` that belong to tetrahedra.
template<class T>
void keep_rows(std::vector<T>& value, std::size_t row, const VtkGrid& grid) {
  if (has_tetra_alone(grid))
    return;
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

/// The rows of a field that belong to tetrahedra.
template<class T>
std::vector<T> read_rows(const VtkGrid& grid, const VtkField& field, const VtkNumbers& numbers) {
  const std::size_t row = field.num_components;
  std::vector<T> value = read_vtk_numbers<T>(numbers);
  if (row == 0 || value.size() != row * grid.type.size())
    fail<InputError>(grid.path, ": the cell data '", field.name, "' has ",
                     row == 0 ? 0 : value.size() / row, " rows for ", grid.type.size(), " cells");
  keep_rows(value, row, grid);
  return value;
}

/// Whether both are the same numbers.
bool have_equal_rows(const VtkGrid& grid, const VtkField& a, const VtkField& b) {
  const auto rows = [&grid](const VtkField& field) {
    VtkNumbers numbers = field.numbers();
    numbers.may_be_nan = true;
    return read_rows<double>(grid, field, numbers);
  };
  const std::vector<double> first = rows(a), second = rows(b);
  return a.num_components == b.num_components && first.size() == second.size() &&
         std::equal(first.begin(), first.end(), second.begin(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

/// The field by the first of the usual names; null where there is none of these. Throws InputError
/// where fields by several of them differ: the one that is not meant would give another result.
const VtkField* find_usual_field(const VtkGrid& grid, const char* what, UsualNames usual) {
  const VtkField* found = nullptr;
  for (const char* u : usual)
    for (const VtkField& field : grid.cell_field) {
      if (field.is_text || lower_case(field.name) != u)
        continue;
      if (found != nullptr && !have_equal_rows(grid, *found, field))
        fail<InputError>(grid.path, ": the cell data '", found->name, "' and '", field.name,
                         "' differ, and each may be the ", what, ": name the field that is meant");
      if (found == nullptr)
        found = &field;
    }
  return found;
}

/// The field called `name` or, where that is empty, by a usual one, of which those of the first of
/// `ranks` go before the others; null where there is none.
const VtkField* find_field(const VtkGrid& grid, const std::string& name, const char* what,
                           std::initializer_list<UsualNames> ranks) {
  if (name.empty()) {
    for (const UsualNames& usual : ranks)
      if (const VtkField* field = find_usual_field(grid, what, usual))
        return field;
  } else {
    for (const VtkField& field : grid.cell_field)
      if (field.name == name)
        return &field;
  }
  std::string known;
  for (const VtkField& field : grid.cell_field)
    known += (known.empty() ? "" : ", ") + field.name;
  if (known.empty())
    known = "none";
  // Directions that are silently left out would give another result.
  const auto is_usual = [&](const std::string& field) {
    return std::any_of(ranks.begin(), ranks.end(),
                       [&](const UsualNames& usual) { return is_one_of(field, usual); });
  };
  for (const std::string& field : grid.point_field)
    if (name.empty() ? is_usual(field) : field == name)
      fail<InputError>(grid.path, ": the ", what, " '", field,
                       "' is data of points; make it data of cells, for example by the filter "
                       "Point Data to Cell Data of ParaView");
  if (!name.empty())
    fail<InputError>(grid.path, ": there is no cell data called '", name, "' for the ", what,
                     "; there is: ", known);
  return nullptr;
}

template<class T>
std::vector<T> read_field(const VtkGrid& grid, const VtkField* field, std::size_t row,
                          const char* what) {
  if (field == nullptr)
    return {};
  if (field->num_components != row)
    fail<InputError>(grid.path, ": the cell data '", field->name, "' has ", field->num_components,
                     " components; the ", what, " has ", row);
  return read_rows<T>(grid, *field, field->numbers());
}

/// The rows of several fields, one after the other in each row.
std::vector<double> read_values(const VtkGrid& grid, const std::vector<std::string>& names) {
  std::vector<std::vector<double>> column;
  std::vector<std::size_t> width;
  for (const std::string& name : names) {
    const VtkField* field = find_field(grid, name, "values", {});
    VtkNumbers numbers = field->numbers();
    numbers.may_be_nan = true;
    width.push_back(field->num_components);
    column.push_back(read_rows<double>(grid, *field, numbers));
  }
  if (column.size() == 1)
    return std::move(column[0]);
  std::vector<double> value;
  for (std::size_t i = 0; !column.empty() && i < column[0].size() / width[0]; ++i)
    for (std::size_t k = 0; k < column.size(); ++k)
      value.insert(value.end(), &column[k][width[k] * i], &column[k][width[k] * i] + width[k]);
  return value;
}

/// Moves the vertices of cells that are all good tetrahedra, by all threads; else returns false.
bool take_tetra(const VtkGrid& grid, TetraMesh& mesh) {
  const std::int64_t num_points = std::int64_t(grid.point.size() / 3);
  const std::size_t num_cells = grid.type.size();
  if (!has_tetra_alone(grid) || grid.connectivity.size() != 4 * num_cells)
    return false;
  std::vector<std::int32_t> tetra(4 * num_cells);
  std::atomic<bool> good = true;
  for_parts(num_cells, least_part, [&](std::size_t begin, std::size_t end) {
    bool all = true;
    for (std::size_t e = begin; e < end; ++e) {
      const std::int64_t* v = &grid.connectivity[4 * e];
      all = all && grid.offset[e] == std::int64_t(4 * e) && is_tetra(v, num_points);
      for (std::size_t k = 0; k < 4; ++k)
        tetra[4 * e + k] = std::int32_t(v[k]);
    }
    if (!all)
      good = false;
  });
  if (good)
    mesh.tetra = std::move(tetra);
  return good;
}

/// Moves the vertices of the tetrahedra, and marks those of other cells.
std::vector<bool> take_cells(const VtkGrid& grid, TetraMesh& mesh) {
  if (take_tetra(grid, mesh))
    return {};
  mesh.tetra.reserve(grid.connectivity.size());
  const std::int64_t num_points = std::int64_t(grid.point.size() / 3);
  std::vector<bool> passed_over;
  for (std::size_t cell = 0; cell < grid.type.size(); ++cell) {
    const VtkCellType& type = require_cell_type(grid, cell);
    if (type.dimension == 3 && type.number != vtk_tetra)
      fail<InputError>(cell_place(grid, cell), " is a ", type.name, " (type ", type.number,
                       "); of volume cells, only tetrahedra of four points are solved: cut it "
                       "into tetrahedra, for example by the filter Tetrahedralize of ParaView");
    const std::int64_t* v = grid.connectivity.data() + grid.offset[cell];
    const std::int64_t num = grid.offset[cell + 1] - grid.offset[cell];
    if (type.dimension == 3) {
      if (num != 4)
        fail<InputError>(cell_place(grid, cell), " is a tetrahedron of ", num,
                         " points; it has four");
      if (!is_tetra(v, num_points))
        fail<InputError>(cell_place(grid, cell), ": ", describe_bad_tetra(v, num_points));
      for (int k = 0; k < 4; ++k)
        mesh.tetra.push_back(std::int32_t(v[k]));
      continue;
    }
    require_points_of_cell(grid, cell);
    passed_over.resize(std::size_t(num_points));
    for (std::int64_t k = 0; k < num; ++k)
      passed_over[std::size_t(v[k])] = true;
  }
  return passed_over;
}

} // namespace

TetraMesh make_tetra_mesh(VtkGrid& grid, const VtkFieldNames& names, double unit) {
  scale_points(grid, unit);
  require_offsets(grid);
  require_no_ghosts(grid);
  TetraMesh mesh;
  const std::vector<bool> passed_over = take_cells(grid, mesh);
  mesh.point = std::move(grid.point);
  std::vector<std::int64_t>().swap(grid.connectivity);
  std::vector<std::int64_t>().swap(grid.offset);

  // meshtool and openCARP write elemTag, fiber and sheet; Gmsh CellEntityIds, meshio gmsh:physical.
  // The last are also what filters number parts and cells by.
  const VtkField* tag =
      find_field(grid, names.tag, "tag",
                 {{"tag", "tags", "elemtag", "elemtags"},
                  {"region", "regions", "material", "materialid", "materials", "label", "labels",
                   "gmsh:physical", "cellentityids", "medit:ref"},
                  {"regionid", "region_id", "id", "ids"}});
  const VtkField* fibre = find_field(
      grid, names.fibre, "fibre direction",
      {{"fiber", "fibre", "fibers", "fibres", "fiber_direction", "fibre_direction", "f0"}});
  const VtkField* sheet = find_field(grid, names.sheet, "sheet direction",
                                     {{"sheet", "sheets", "sheet_direction", "s0"}});
  if (fibre == nullptr && sheet != nullptr)
    fail<InputError>(grid.path, ": has the sheet direction '", sheet->name,
                     "', but no fibre direction by a usual name; name the field of the fibres");
  mesh.tag = read_field<std::int32_t>(grid, tag, 1, "tag");
  mesh.tag.resize(mesh.num_tetra(), 0);
  mesh.fibre = read_field<float>(grid, fibre, 3, "fibre direction");
  mesh.sheet = read_field<float>(grid, sheet, 3, "sheet direction");
  mesh.value = read_values(grid, names.value);
  finish_tetra_mesh(grid.path, mesh, passed_over,
                    [&](std::size_t point) { return point_place(grid, point); });
  return mesh;
}

} // namespace ossatura
