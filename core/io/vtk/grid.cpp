// SPDX-License-Identifier: Apache-2.0
// The reader checks cells and points of a VTK grid, for all meshes that are made of grids.
#include <ossatura/core/io/vtk/grid.hpp>

#include <ossatura/core/io/mesh/tetra_check.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {
namespace {

// [1], vtkCellType.h.
constexpr VtkCellType cell_types[] = {
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

} // namespace

std::string point_place(const VtkGrid& grid, std::size_t point) {
  return place_of(grid, grid.point_text, 3 * point);
}

std::string cell_place(const VtkGrid& grid, std::size_t cell) {
  return place_of(grid, grid.cell_text,
                  std::size_t(grid.offset[cell]) + (grid.text_has_sizes ? cell : 0)) +
         ": cell " + std::to_string(cell);
}

const VtkCellType& require_cell_type(const VtkGrid& grid, std::size_t cell) {
  const int number = grid.type[cell];
  const auto* type = std::find_if(std::begin(cell_types), std::end(cell_types),
                                  [&](const VtkCellType& t) { return t.number == number; });
  if (type == std::end(cell_types))
    fail<InputError>(cell_place(grid, cell), " has type ", number, ", which is not known");
  return *type;
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

void require_points_of_cell(const VtkGrid& grid, std::size_t cell) {
  const std::int64_t num_points = std::int64_t(grid.point.size() / 3);
  for (std::int64_t k = grid.offset[cell]; k < grid.offset[cell + 1]; ++k) {
    const std::int64_t v = grid.connectivity[std::size_t(k)];
    if (v < 0 || v >= num_points)
      fail<InputError>(cell_place(grid, cell), " names point ", v, " of ", num_points,
                       ": the file is damaged");
  }
}

void scale_points(VtkGrid& grid, double unit) {
  require_few_points(grid.path, grid.point.size() / 3);
  for (std::size_t i = 0; i < grid.point.size(); ++i) {
    grid.point[i] *= unit;
    if (!std::isfinite(grid.point[i]))
      fail<InputError>(point_place(grid, i / 3), ": point ", i / 3, " is not finite");
  }
}

} // namespace ossatura
