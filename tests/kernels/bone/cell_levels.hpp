// SPDX-License-Identifier: Apache-2.0
// A hierarchy of cells on a backend beside the oracle's (tests/reference/cell_hierarchy.hpp).
#pragma once

#include "tests/kernels/bone/lattice.hpp"
#include "tests/reference/cell_hierarchy.hpp"
#include <ossatura/kernels/bone/cells/coarsen.hpp>

namespace ossatura::test {

/// The voxels of a model with the node numbers of its grid. The next level's cells are numbered by
/// the centres of their groups.
template<class Exec>
reference::CellLevel voxel_level(const VoxelGrid<Exec>& grid, const reference::Model& model) {
  std::map<reference::Place, int> number;
  for (const auto& site : host_sites(grid)) {
    const int next = int(number.size());
    number[site] = next;
  }
  reference::CellLevel level;
  level.num_nodes = grid.num_nodes;
  for (int z = 0; z < model.shape[2]; ++z)
    for (int y = 0; y < model.shape[1]; ++y)
      for (int x = 0; x < model.shape[0]; ++x) {
        if (!model.solid(x, y, z))
          continue;
        reference::Cell cell;
        cell.place = {x, y, z};
        for (int v = 0; v < 8; ++v)
          cell.node[v] = number.at(reference::vertex_of(cell.place, v));
        const int i = model.voxel(x, y, z);
        const double e = model.modulus[i], nu = model.poisson[i];
        cell.lambda = e * nu / ((1 + nu) * (1 - 2 * nu));
        cell.mu = e / (2 * (1 + nu));
        cell.order = number.at({x | 1, y | 1, z | 1});
        level.cell.push_back(cell);
      }
  return level;
}

/// Cells that are summed by patches, whatever their number.
template<class Exec>
CellGrid<Exec> by_patches(const Exec& exec, CellGrid<Exec> cells) {
  cells.patches = make_cell_patches(exec, cells, 64);
  return cells;
}
/// Cells that are summed node by node.
template<class Exec>
CellGrid<Exec> by_nodes(CellGrid<Exec> cells) {
  cells.patches = {};
  return cells;
}

/// The levels of a model on a backend down to a single place. fine[0] is the grid.
template<class Exec>
struct CellLevels {
  reference::Model model;
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  std::vector<CoarseCells<Exec>> coarse;

  CellLevels(const Exec& exec, reference::Model m, Coarsening kind)
      : model(std::move(m)) {
    const auto material = upload_material(exec, model);
    grid = make_voxel_grid(exec, material.solid());
    lame = make_lame_field(exec, grid, material);
    coarse.push_back(coarsen_cells(exec, grid, lame, kind));
    for (;;) {
      const auto& shape = coarse.back().cells.shape;
      if (shape[0] == 1 && shape[1] == 1 && shape[2] == 1)
        break;
      coarse.push_back(coarsen_cells(exec, coarse.back().cells, kind));
    }
    exec.fence();
  }

  /// visit(level's finer grid, level) for every pair of levels.
  template<class Visit>
  void for_each_pair(const Visit& visit) const {
    visit(grid, coarse[0]);
    for (std::size_t l = 1; l < coarse.size(); ++l)
      visit(coarse[l - 1].cells, coarse[l]);
  }
};

/// The oracle's levels: [0] are the voxels, as the finer level of nothing.
template<class Exec>
std::vector<reference::CoarseLevel> oracle_levels(const CellLevels<Exec>& levels, Coarsening kind) {
  std::vector<reference::CoarseLevel> oracle{{voxel_level(levels.grid, levels.model), {}}};
  while (oracle.size() <= levels.coarse.size())
    oracle.push_back(reference::coarsen(oracle.back().level, kind == Coarsening::split));
  return oracle;
}

/// Voxels where `solid(x, y, z)`, all alike.
template<class Solid>
reference::Model drawn_model(std::array<int, 3> shape, const Solid& solid) {
  reference::Model model = reference::homogeneous(shape, 0, 0.3);
  for (int z = 0; z < shape[2]; ++z)
    for (int y = 0; y < shape[1]; ++y)
      for (int x = 0; x < shape[0]; ++x)
        model.modulus[model.voxel(x, y, z)] = solid(x, y, z) ? 10 : 0;
  return model;
}

/// Images that coarsening must tell apart or keep together, and random ones.
inline std::vector<reference::Model> cell_models() {
  std::vector<reference::Model> models{
      // struts a voxel apart, joined at one end
      drawn_model({9, 7, 12},
                  [](int x, int y, int z) { return (x % 2 == 0 && y % 2 == 0) || z == 0; }),
      // plates two voxels thick with gaps of one and of two
      drawn_model({11, 6, 5},
                  [](int x, int, int) { return x % 7 < 2 || (x % 7 > 2 && x % 7 < 5); }),
      // a diagonal: voxels joined at corners
      drawn_model({8, 8, 8}, [](int x, int y, int z) { return x == y && y == z; }),
      // joined at edges, and a second such diagonal beside it
      drawn_model({10, 10, 3}, [](int x, int y, int) { return x == y || x == y + 3; }),
      // a checkerboard
      drawn_model({6, 5, 7}, [](int x, int y, int z) { return (x + y + z) % 2 == 0; }),
      drawn_model({1, 1, 1}, [](int, int, int) { return true; })};
  unsigned seed = 1;
  for (double density : {0.03, 0.1, 0.2, 0.35, 0.6, 1.0})
    for (const std::array<int, 3>& shape : {std::array<int, 3>{8, 8, 8}, {13, 9, 11}, {1, 17, 4}}) {
      const double high_poisson = seed % 2 ? 0.3 : 0.45;
      models.push_back(
          reference::random_model(shape, density, 1e3, 0.3, high_poisson, seed++, 0.25));
    }
  return models;
}

} // namespace ossatura::test
