// SPDX-License-Identifier: Apache-2.0
// Cells that VTK marks as not there are refused: those of a neighbouring piece, which are solved
// there, hidden ones, and coarse ones where finer are. They are not left out, since numbers of
// nodes and elements would not be those of the file.
//
// [1] vtkDataSetAttributes.h, CellGhostTypes and PointGhostTypes.
#include <ossatura/core/io/vtk/grid.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace ossatura {
namespace {

constexpr int duplicate_cell = 1, refined_cell = 8, hidden_cell = 32, hidden_point = 2; // [1]

std::vector<std::int32_t> read_flags(const VtkGrid& grid, const VtkField& field, std::size_t num,
                                     const char* of) {
  std::vector<std::int32_t> flags = read_vtk_numbers<std::int32_t>(field.numbers());
  if (flags.size() != num)
    fail<InputError>(grid.path, ": '", field.name, "' has ", flags.size(), " numbers for ", num,
                     " ", of, ": the file is damaged");
  return flags;
}

const char* describe_cell(int flag) {
  return (flag & hidden_cell) != 0    ? "hidden"
         : (flag & refined_cell) != 0 ? "refined by others"
                                      : "a copy of one of another piece";
}

/// `levels`: any above 0 is that of a copy, as files before VTK 6.1 have it.
void refuse_cells(const VtkGrid& grid, const VtkField& field, bool levels) {
  const auto flags = read_flags(grid, field, grid.type.size(), "cells");
  constexpr int gone = duplicate_cell | refined_cell | hidden_cell;
  const auto is_gone = [levels](std::int32_t flag) {
    return levels ? flag > 0 : (flag & gone) != 0;
  };
  const auto first = std::find_if(flags.begin(), flags.end(), is_gone);
  if (first == flags.end())
    return;
  fail<InputError>(
      cell_place(grid, std::size_t(first - flags.begin())), " is ",
      describe_cell(levels ? duplicate_cell : *first), " (", field.name, " ", *first, "); ",
      std::count_if(first, flags.end(), is_gone), " of ", flags.size(),
      " cells are thus none of the mesh: remove them, for example by the filter Remove "
      "Ghost Information of ParaView, or leave the array out if they are");
}

/// Copies of points are points as others, but cells with hidden ones are not seen.
void refuse_points(const VtkGrid& grid, const VtkField& field) {
  const std::size_t num_points = grid.point.size() / 3;
  const auto flags = read_flags(grid, field, num_points, "points");
  const auto is_hidden = [](std::int32_t flag) { return (flag & hidden_point) != 0; };
  const auto first = std::find_if(flags.begin(), flags.end(), is_hidden);
  if (first == flags.end())
    return;
  fail<InputError>(
      point_place(grid, std::size_t(first - flags.begin())), ": point ", first - flags.begin(),
      " is hidden (", field.name, " ", *first, "); ", std::count_if(first, flags.end(), is_hidden),
      " of ", num_points,
      " points are, whose cells are not seen: remove these from the mesh, or leave the "
      "array out if they are of it");
}

} // namespace

void require_no_ghosts(const VtkGrid& grid) {
  for (const VtkField& field : grid.cell_field)
    if (is_ghost_array(field.name))
      refuse_cells(grid, field, field.name == "vtkGhostLevels");
  if (grid.point_ghosts)
    refuse_points(grid, *grid.point_ghosts);
}

} // namespace ossatura
