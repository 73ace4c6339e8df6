// SPDX-License-Identifier: Apache-2.0
// The first coarsening of a unit cell, the image of which repeats without end: its voxels become a
// periodic grid of cells of their size, which is coarsened as levels of cells are (coarsen.hpp).
#pragma once

#include <ossatura/kernels/bone/cells/coarsen.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>
#include <ossatura/kernels/image/periodic_rim.hpp>

namespace ossatura {

namespace detail {

/// The lowest corners of the voxels that are not of the rim.
template<class Exec>
struct ListVoxelsOfCell {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  Kokkos::Array<int, 3> shape;
  Array<int, Exec> element; ///< empty in the first pass

  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& sum, bool final) const {
    if (!lame.solid(int(node)))
      return;
    const Site s = grid.site(int(node));
    if (s.x >= shape[0] || s.y >= shape[1] || s.z >= shape[2])
      return;
    if (final && element.extent(0) > 0)
      element(sum) = int(node);
    ++sum;
  }
};

/// The cell of each voxel; its corners are nodes inside.
template<class Exec>
struct VoxelsAsCells {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  Array<int, Exec> inside, element;
  bool uniform;
  CellGrid<Exec> cells;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const Site s = grid.site(element(e));
    cells.place(e) = pack_site(s.x, s.y, s.z);
    cells.mu_value(e) = lame.mu_value(element(e));
    if (!uniform)
      cells.lambda_value(e) = lame.lambda_value(element(e));
    for (int v = 0; v < 8; ++v)
      cells.corner(8 * e + v) =
          inside(grid.find(s.x + (v & 1), s.y + (v >> 1 & 1), s.z + (v >> 2)));
  }
};

/// Gives nodes without a cell the first one: they are held, and only read from it.
template<class Exec>
struct GiveGhostsParent {
  int num_cells;
  Array<int, Exec> parent;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    if (parent(node) == num_cells)
      parent(node) = 0;
  }
};

} // namespace detail

/// The lowest corners of the voxels of a unit cell that are not of its rim, ascending. Fences.
template<class Exec>
Array<int, Exec> list_voxels_of_cell(const Exec& exec, const VoxelGrid<Exec>& grid,
                                     const PeriodicRim<Exec>& rim, const LameField<Exec>& lame) {
  std::int64_t count = 0;
  Array<int, Exec> element;
  const auto list = [&] {
    Kokkos::parallel_scan("ossatura::list_voxels_of_cell", range(exec, grid.num_nodes),
                          detail::ListVoxelsOfCell<Exec>{grid, lame, rim.shape, element}, count);
  };
  list();
  element = make_uninitialized<int>(exec, count, "ossatura::voxels_of_cell");
  list();
  return element;
}

/// The voxels of a unit cell as a periodic grid of cells, with the nodes of `grid`, of which ghosts
/// are in no cell. Takes about 85 bytes for a voxel. Fences.
template<class Exec>
CellGrid<Exec> voxels_as_cells(const Exec& exec, const VoxelGrid<Exec>& grid,
                               const PeriodicRim<Exec>& rim, const LameField<Exec>& lame) {
  const Array<int, Exec> element = list_voxels_of_cell(exec, grid, rim, lame);
  const std::int64_t count = element.extent(0);
  const bool uniform = lame.lambda_value.data() == lame.mu_value.data();
  CellGrid<Exec> cells = detail::make_cells(exec, count, uniform);
  cells.shape = rim.shape;
  cells.is_periodic = true;
  cells.lambda_scale = lame.lambda_scale;
  cells.mu_scale = lame.mu_scale;
  Kokkos::parallel_for(
      "ossatura::voxels_as_cells", range(exec, count),
      detail::VoxelsAsCells<Exec>{grid, lame, rim.inside, element, uniform, cells});
  cells.num_nodes = grid.num_nodes;
  cells.owned = grid.owned;
  detail::list_node_corners(exec, cells);
  return cells;
}

/// Cells of twice the edge from the voxels of a unit cell, `grid` with its rim; fine nodes are
/// listed on all backends. The same on every backend. Fences.
template<class Exec>
CoarseCells<Exec> coarsen_unit_cell(const Exec& exec, const VoxelGrid<Exec>& grid,
                                    const PeriodicRim<Exec>& rim, const LameField<Exec>& lame,
                                    Coarsening kind) {
  const CoarseCells<Exec> coarse =
      coarsen_cells(exec, voxels_as_cells(exec, grid, rim, lame), kind);
  Kokkos::parallel_for(
      "ossatura::coarsen_unit_cell", range(exec, grid.num_nodes),
      detail::GiveGhostsParent<Exec>{coarse.cells.num_elem, coarse.transfer.parent});
  return coarse;
}

} // namespace ossatura
