// SPDX-License-Identifier: Apache-2.0
// The reader makes the mesh of a soft body from a grid of VTK.
#include <ossatura/core/io/mesh/element_collector.hpp>
#include <ossatura/core/io/vtk/grid.hpp>

#include <utility>

namespace ossatura {
namespace {

std::optional<ElementShape> shape_of(const VtkCellType& type) {
  switch (type.number) {
  case vtk_triangle:
    return ElementShape::triangle;
  case vtk_tetra:
    return ElementShape::tetra;
  case vtk_voxel:
  case vtk_hexahedron:
    return ElementShape::hexa;
  default:
    return std::nullopt;
  }
}

} // namespace

ElementFile make_element_file(VtkGrid& grid, const ElementFileOptions& options) {
  scale_points(grid, options.unit);
  require_offsets(grid);
  require_no_ghosts(grid);
  ElementCollector collector(grid.path, options,
                             [&](std::size_t cell) { return cell_place(grid, cell); });
  for (std::size_t cell = 0; cell < grid.type.size(); ++cell) {
    const VtkCellType& type = require_cell_type(grid, cell);
    require_points_of_cell(grid, cell);
    const std::optional<ElementShape> shape = shape_of(type);
    std::int64_t* node = grid.connectivity.data() + grid.offset[cell];
    const std::int64_t num = grid.offset[cell + 1] - grid.offset[cell];
    if (shape && num != nodes_per_elem(*shape))
      fail<InputError>(cell_place(grid, cell), " is a ", type.name, " of ", num, " points; it has ",
                       nodes_per_elem(*shape));
    if (type.number == vtk_voxel) { // x fastest, then y
      std::swap(node[2], node[3]);
      std::swap(node[6], node[7]);
    }
    collector.add({type.dimension, type.number, type.name, shape}, node, cell);
  }
  return collector.finish(std::move(grid.point));
}

} // namespace ossatura
