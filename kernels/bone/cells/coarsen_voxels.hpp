// SPDX-License-Identifier: Apache-2.0
// The first coarsening joins 2 x 2 x 2 voxels into cells of twice the edge.
//
// The voxels of a group share its centre, the node with odd coordinates. So a group with a voxel is
// one cell, named by that node, and coarsening by connection splits only the nodes between groups
// that do not touch. No table over the lattice is needed: the grid finds the centre, and the
// centre's parent is the cell.
#pragma once

#include <ossatura/kernels/bone/cells/merge.hpp>
#include <ossatura/kernels/bone/lame_field.hpp>

namespace ossatura {

namespace detail {

/// The voxels v = 0..7 of a group that touch a node on the side `position` (0 low, 1 between,
/// 2 high) along `axis`, as bits.
KOKKOS_INLINE_FUNCTION int voxels_touching(int axis, int position) {
  constexpr int low[3] = {0x55, 0x33, 0x0f};
  return position == 0 ? low[axis] : position == 2 ? 0xff & ~low[axis] : 0xff;
}

/// parent(node) = number of the cell around it for centres, -1 for other nodes.
template<class Exec>
struct NumberGroups {
  VoxelGrid<Exec> grid;
  Array<int, Exec> parent;

  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& sum, bool final) const {
    const Site s = grid.site(int(node));
    const bool centre = s.x & s.y & s.z & 1;
    if (final)
      parent(node) = centre ? int(sum) : -1;
    sum += centre;
  }
};

/// Place, mean constants and voxels (bit v) of each group.
template<class Exec>
struct SumGroup {
  VoxelGrid<Exec> grid;
  LameField<Exec> lame;
  Array<int, Exec> parent;
  CellGrid<Exec> cells;
  bool uniform;
  Array<std::uint8_t, Exec> voxels;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    if (!(s.x & s.y & s.z & 1))
      return;
    float lambda = 0, mu = 0;
    int solid = 0;
    for (int v = 0; v < 8; ++v) {
      const int lowest = grid.find(s.x - 1 + (v & 1), s.y - 1 + (v >> 1 & 1), s.z - 1 + (v >> 2));
      if (lowest < 0 || !lame.solid(lowest))
        continue;
      solid |= 1 << v;
      mu += lame.mu_value(lowest);
      if (!uniform)
        lambda += lame.lambda_value(lowest);
    }
    const int cell = parent(node);
    cells.place(cell) = pack_site(s.x / 2, s.y / 2, s.z / 2);
    cells.mu_value(cell) = mu / 8;
    if (!uniform)
      cells.lambda_value(cell) = lambda / 8;
    voxels(cell) = std::uint8_t(solid);
  }
};

/// Merges the corners of each cell with those of the 13 neighbours before it.
template<class Exec>
struct MergeNeighbours {
  VoxelGrid<Exec> grid;
  Array<int, Exec> parent;
  Array<std::uint8_t, Exec> voxels;
  bool touching_only;
  Array<std::uint64_t, Exec> place;
  Array<int, Exec> slot;

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    const Site s = unpack_site(place(cell));
    for (int k = 0; k < 13; ++k) {
      const Site step{k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
      const int centre =
          grid.find(2 * (s.x + step.x) + 1, 2 * (s.y + step.y) + 1, 2 * (s.z + step.z) + 1);
      if (centre < 0)
        continue;
      const int other = parent(centre);
      // Voxels of the two groups that face each other all share the centre of the common face,
      // edge or corner.
      const int here = voxels(cell) & voxels_touching(0, 1 + step.x) &
                       voxels_touching(1, 1 + step.y) & voxels_touching(2, 1 + step.z);
      const int there = voxels(other) & voxels_touching(0, 1 - step.x) &
                        voxels_touching(1, 1 - step.y) & voxels_touching(2, 1 - step.z);
      if (!touching_only || (here != 0 && there != 0))
        merge_common_corners(slot.data(), int(cell), other, step);
    }
  }
};

/// The parent of every node: the last group, x fastest, of those around it with a voxel there.
/// Centres have theirs already, and only these are read.
template<class Exec>
struct AttachVoxelNodes {
  VoxelGrid<Exec> grid;
  Array<std::uint8_t, Exec> voxels;
  CellTransfer<Exec> transfer;

  KOKKOS_FUNCTION void attach(std::int64_t node, int cell, int position) const {
    transfer.position(node) = std::uint8_t(position);
    if constexpr (finds_fine_nodes<Exec, VoxelGrid<Exec>>)
      Kokkos::atomic_fetch_or(&transfer.fine_mask(cell), std::uint32_t(1) << position);
  }
  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    const int odd = (s.x & 1) | (s.y & 1) << 1 | (s.z & 1) << 2;
    if (odd == 7) {
      attach(node, transfer.parent(node), 13);
      return;
    }
    for (int back = 0; back < 8; ++back) { // bit d: the group before the node along axis d
      if (back & odd)
        continue;
      const int centre = grid.find((s.x | 1) - 2 * (back & 1), (s.y | 1) - 2 * (back >> 1 & 1),
                                   (s.z | 1) - 2 * (back >> 2));
      if (centre < 0)
        continue;
      int touching = 0xff, position = 0, stride = 1;
      for (int d = 0; d < 3; ++d, stride *= 3) {
        const int p = odd >> d & 1 ? 1 : 2 * (back >> d & 1);
        touching &= voxels_touching(d, p);
        position += stride * p;
      }
      const int cell = transfer.parent(centre);
      if (voxels(cell) & touching) {
        transfer.parent(node) = cell;
        attach(node, cell, position);
        return;
      }
    }
  }
};

/// Cells of groups of voxels, their corners merged but not numbered, and the transfer without lists
/// of fine nodes. Does not fence.
template<class Exec>
CoarseCells<Exec> join_voxels(const Exec& exec, const VoxelGrid<Exec>& grid,
                              const LameField<Exec>& lame, Coarsening kind) {
  const std::int64_t n = grid.num_nodes;
  CellTransfer<Exec> transfer;
  transfer.parent = make_uninitialized<int>(exec, n, "ossatura::transfer::parent");
  transfer.position = make_uninitialized<std::uint8_t>(exec, n, "ossatura::transfer::position");
  std::int64_t num_cells = 0;
  Kokkos::parallel_scan("ossatura::coarsen_cells::number", range(exec, n),
                        NumberGroups<Exec>{grid, transfer.parent}, num_cells);

  const bool uniform = lame.lambda_value.data() == lame.mu_value.data();
  CellGrid<Exec> cells = make_cells(exec, num_cells, uniform);
  for (int d = 0; d < 3; ++d)
    cells.shape[d] = (grid.shape[d] + 1) / 2;
  cells.lambda_scale = lame.lambda_scale;
  cells.mu_scale = lame.mu_scale;
  const Array<std::uint8_t, Exec> voxels =
      make_uninitialized<std::uint8_t>(exec, num_cells, "ossatura::coarsen_cells::voxels");
  Kokkos::parallel_for("ossatura::coarsen_cells::sum", range(exec, n),
                       SumGroup<Exec>{grid, lame, transfer.parent, cells, uniform, voxels});
  Kokkos::parallel_for("ossatura::coarsen_cells::merge", range(exec, num_cells),
                       MergeNeighbours<Exec>{grid, transfer.parent, voxels,
                                             kind == Coarsening::split, cells.place, cells.corner});
  if (finds_fine_nodes<Exec, VoxelGrid<Exec>>)
    transfer.fine_mask =
        make_zeros<std::uint32_t>(exec, num_cells, "ossatura::transfer::fine_mask");
  Kokkos::parallel_for("ossatura::coarsen_cells::attach", range(exec, n),
                       AttachVoxelNodes<Exec>{grid, voxels, transfer});
  return {cells, transfer};
}

} // namespace detail

/// Cells of twice the edge from voxels. The result takes 5 bytes per fine node (cores: 9, and 5
/// after drop_parents) and about 90 per cell, 36 of them for lists that only set-up needs
/// (drop_node_lists); 1 byte more per cell is taken for a while. The same on every backend. Fences.
template<class Exec>
CoarseCells<Exec> coarsen_cells(const Exec& exec, const VoxelGrid<Exec>& grid,
                                const LameField<Exec>& lame, Coarsening kind) {
  CoarseCells<Exec> coarse = detail::join_voxels(exec, grid, lame, kind);
  if (!finds_fine_nodes<Exec, VoxelGrid<Exec>>)
    detail::list_fine_nodes(exec, coarse.cells.num_elem, coarse.transfer);
  detail::finish_cells(exec, coarse.cells);
  return coarse;
}

} // namespace ossatura
