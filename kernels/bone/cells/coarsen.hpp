// SPDX-License-Identifier: Apache-2.0
// Coarsening joins 2 x 2 x 2 voxels or cells into cells of twice the edge, with explicit corners:
// by place, as in [1], or by connection. By connection, children of a group are in one cell if a
// chain of shared nodes of the finer level connects them, and two cells have common corners as one
// node if the cells' children share a node. Struts a voxel apart then move apart on coarse levels
// too, where averaging glues them together. Every fine node has one interpolation: any cell that
// holds the node gives the same coarse nodes. Duplicating cells by connection is from [2], there
// for cuts.
//
// Cells of a periodic grid are joined in the same way around it. Where it has an odd number of
// places along an axis the last one is joined to nothing there, and its cells are taken to fill
// their parent: the coarse grid is longer than the fine one by that half, which smoothing on the
// fine level makes good.
//
// [1] P. Arbenz, C. Flaig, D. Kellenberger. Bone structure analysis on multiple GPGPUs. J. Parallel
//     Distrib. Comput. 74 (2014) 2941-2950, doi:10.1016/j.jpdc.2014.06.014.
// [2] C. Dick, J. Georgii, R. Westermann. A hexahedral multigrid approach for simulating cuts in
//     deformable objects. IEEE Trans. Vis. Comput. Graph. 17 (2011) 1663-1675,
//     doi:10.1109/TVCG.2010.268.
#pragma once

#include <ossatura/kernels/bone/cells/coarsen_voxels.hpp>

namespace ossatura {

namespace detail {

KOKKOS_INLINE_FUNCTION Site parent_place(std::uint64_t place) {
  const Site s = unpack_site(place);
  return {s.x / 2, s.y / 2, s.z / 2};
}
KOKKOS_INLINE_FUNCTION bool same_site(const Site& a, const Site& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

/// Where corner v of a cell at `place` lies in the coarse cell: 0 (low), 1 or 2 along each axis.
template<class Exec>
KOKKOS_INLINE_FUNCTION Site position_in_parent(const CellGrid<Exec>& fine, const Site& place,
                                               int v) {
  const int at[3] = {place.x, place.y, place.z};
  int position[3];
  for (int d = 0; d < 3; ++d) {
    const bool fills = fine.is_periodic && fine.shape[d] % 2 == 1 && at[d] + 1 == fine.shape[d];
    position[d] = fills ? 2 * (v >> d & 1) : (at[d] & 1) + (v >> d & 1);
  }
  return {position[0], position[1], position[2]};
}

/// Joins the cells of a group that share this node.
template<class Exec>
struct JoinTouchingCells {
  CellGrid<Exec> fine;
  Array<int, Exec> group;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const int begin = fine.node_begin(node), end = fine.node_begin(node + 1);
    for (int i = begin + 1; i < end; ++i) {
      const int e = fine.node_corner(i) / 8;
      const Site place = parent_place(fine.place(e));
      for (int j = begin; j < i; ++j) {
        const int f = fine.node_corner(j) / 8;
        if (same_site(parent_place(fine.place(f)), place)) {
          unite(group.data(), e, f);
          break; // the others of this group are joined to f
        }
      }
    }
  }
};

/// The smallest member of each place of a lattice.
template<class Exec>
struct SmallestCellOfPlace {
  CellGrid<Exec> fine;
  Kokkos::Array<int, 3> shape;
  Array<int, Exec> smallest;

  KOKKOS_FUNCTION std::int64_t index(std::int64_t e) const {
    const Site s = parent_place(fine.place(e));
    return s.x + shape[0] * (s.y + shape[1] * std::int64_t(s.z));
  }
  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    Kokkos::atomic_fetch_min(&smallest(index(e)), int(e));
  }
};

template<class Exec>
struct JoinCellsOfPlace {
  SmallestCellOfPlace<Exec> places;
  Array<int, Exec> group;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    group(e) = places.smallest(places.index(e));
  }
};

/// Place and mean constants of each cell from its children.
template<class Exec>
struct SumChildren {
  CellGrid<Exec> fine;
  InverseMap<Exec> children;
  bool uniform;
  CellGrid<Exec> cells;

  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    const int begin = children.begin(cell), end = children.begin(cell + 1);
    float lambda = 0, mu = 0;
    for (int i = begin; i < end; ++i) {
      mu += fine.mu_value(children.member(i));
      if (!uniform)
        lambda += fine.lambda_value(children.member(i));
    }
    const Site s = parent_place(fine.place(children.member(begin)));
    cells.place(cell) = pack_site(s.x, s.y, s.z);
    cells.mu_value(cell) = mu / 8;
    if (!uniform)
      cells.lambda_value(cell) = lambda / 8;
  }
};

/// Merges the common corners of cells whose children share this node.
template<class Exec>
struct MergeTouchingCells {
  CellGrid<Exec> fine;
  Array<int, Exec> group;
  Array<std::uint64_t, Exec> place;
  Array<int, Exec> slot;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const int begin = fine.node_begin(node), end = fine.node_begin(node + 1);
    for (int i = begin + 1; i < end; ++i) {
      const int cell = group(fine.node_corner(i) / 8);
      const Site s = unpack_site(place(cell));
      int previous = cell;
      for (int j = begin; j < i; ++j) {
        const int other = group(fine.node_corner(j) / 8);
        if (other == cell)
          break; // met before: its pairs with all the earlier ones are done
        if (other == previous)
          continue;
        previous = other;
        const Site t = unpack_site(place(other));
        merge_common_corners(slot.data(), cell, other, Site{t.x - s.x, t.y - s.y, t.z - s.z});
      }
    }
  }
};

/// The same in a periodic grid, where two cells, or one with itself, may meet on several sides.
template<class Exec>
struct MergeAroundGrid {
  CellGrid<Exec> fine;
  Array<int, Exec> group;
  Array<int, Exec> slot;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const int begin = fine.node_begin(node), end = fine.node_begin(node + 1);
    for (int i = begin + 1; i < end; ++i) {
      const int child = fine.node_corner(i) / 8, cell = group(child);
      const Site p =
          position_in_parent(fine, unpack_site(fine.place(child)), fine.node_corner(i) % 8);
      for (int j = begin; j < i; ++j) {
        const int neighbour = fine.node_corner(j) / 8, other = group(neighbour);
        const Site q =
            position_in_parent(fine, unpack_site(fine.place(neighbour)), fine.node_corner(j) % 8);
        const Site step{(p.x - q.x) / 2, (p.y - q.y) / 2, (p.z - q.z) / 2};
        if (other == cell && step.x == 0 && step.y == 0 && step.z == 0)
          break; // met before: its pairs with all the earlier ones are done
        merge_common_corners(slot.data(), cell, other, step);
      }
    }
  }
};

/// The smallest corner at each site of the lattice of corners.
template<class Exec>
struct SmallestCornerOfSite {
  Kokkos::Array<int, 3> num_sites; ///< of corners along x, y, z; a corner beyond is one at 0
  Array<std::uint64_t, Exec> place;
  Array<int, Exec> smallest;

  KOKKOS_FUNCTION std::int64_t index(std::int64_t slot) const {
    const Site s = unpack_site(place(slot / 8));
    const int v = int(slot % 8);
    const int x = (s.x + (v & 1)) % num_sites[0], y = (s.y + (v >> 1 & 1)) % num_sites[1],
              z = (s.z + (v >> 2)) % num_sites[2];
    return x + num_sites[0] * (y + num_sites[1] * std::int64_t(z));
  }
  KOKKOS_FUNCTION void operator()(std::int64_t slot) const {
    Kokkos::atomic_fetch_min(&smallest(index(slot)), int(slot));
  }
};

template<class Exec>
struct MergeCornersOfSite {
  SmallestCornerOfSite<Exec> sites;
  Array<int, Exec> slot;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    slot(i) = sites.smallest(sites.index(i));
  }
};

/// A node hangs on the cell of its first child. Ghosts of a unit cell have none, and are left out.
template<class Exec>
struct AttachCellNodes {
  CellGrid<Exec> fine;
  Array<int, Exec> group;
  int num_cells;
  CellTransfer<Exec> transfer;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    if (fine.node_begin(node) == fine.node_begin(node + 1)) {
      transfer.parent(node) = num_cells;
      transfer.position(node) = 0;
      return;
    }
    const int child = fine.node_corner(fine.node_begin(node));
    const Site p = position_in_parent(fine, unpack_site(fine.place(child / 8)), child % 8);
    transfer.parent(node) = group(child / 8);
    transfer.position(node) = std::uint8_t(p.x + 3 * p.y + 9 * p.z);
  }
};

/// An array over a lattice, for its smallest members.
template<class Exec>
Array<int, Exec> make_smallest(const Exec& exec, std::int64_t nx, std::int64_t ny,
                               std::int64_t nz) {
  const Array<int, Exec> smallest =
      make_uninitialized<int>(exec, nx * ny * nz, "ossatura::coarsen_cells::smallest");
  Kokkos::deep_copy(exec, smallest, std::numeric_limits<int>::max());
  return smallest;
}

/// [fine cells] the smallest cell of the coarse cell of each.
template<class Exec>
Array<int, Exec> group_cells(const Exec& exec, const CellGrid<Exec>& fine,
                             const Kokkos::Array<int, 3>& shape, Coarsening kind) {
  const Array<int, Exec> group =
      make_singletons(exec, fine.num_elem, "ossatura::coarsen_cells::group");
  if (kind == Coarsening::split) {
    Kokkos::parallel_for("ossatura::coarsen_cells::join", range(exec, fine.num_nodes),
                         JoinTouchingCells<Exec>{fine, group});
  } else {
    const SmallestCellOfPlace<Exec> places{fine, shape,
                                           make_smallest(exec, shape[0], shape[1], shape[2])};
    Kokkos::parallel_for("ossatura::coarsen_cells::places", range(exec, fine.num_elem), places);
    Kokkos::parallel_for("ossatura::coarsen_cells::join_places", range(exec, fine.num_elem),
                         JoinCellsOfPlace<Exec>{places, group});
  }
  return group;
}

template<class Exec>
void merge_cells(const Exec& exec, const CellGrid<Exec>& fine, const Array<int, Exec>& group,
                 const CellGrid<Exec>& cells, Coarsening kind) {
  if (kind == Coarsening::split && fine.is_periodic) {
    Kokkos::parallel_for("ossatura::coarsen_cells::merge_around", range(exec, fine.num_nodes),
                         MergeAroundGrid<Exec>{fine, group, cells.corner});
  } else if (kind == Coarsening::split) {
    Kokkos::parallel_for("ossatura::coarsen_cells::merge", range(exec, fine.num_nodes),
                         MergeTouchingCells<Exec>{fine, group, cells.place, cells.corner});
  } else {
    const std::int64_t num_slots = cells.corner.extent(0);
    Kokkos::Array<int, 3> n = cells.shape;
    for (int d = 0; d < 3; ++d)
      n[d] += cells.is_periodic ? 0 : 1;
    const SmallestCornerOfSite<Exec> sites{n, cells.place, make_smallest(exec, n[0], n[1], n[2])};
    Kokkos::parallel_for("ossatura::coarsen_cells::sites", range(exec, num_slots), sites);
    Kokkos::parallel_for("ossatura::coarsen_cells::merge_sites", range(exec, num_slots),
                         MergeCornersOfSite<Exec>{sites, cells.corner});
  }
}

/// Cells of groups of cells as join_voxels makes them, and the cell that each finer cell is part
/// of.
template<class Exec>
struct JoinedCells {
  CoarseCells<Exec> coarse;
  Array<int, Exec> group; ///< [fine cells]
};

/// Fences.
template<class Exec>
JoinedCells<Exec> join_cells(const Exec& exec, const CellGrid<Exec>& fine, Coarsening kind) {
  Kokkos::Array<int, 3> shape{};
  for (int d = 0; d < 3; ++d)
    shape[d] = (fine.shape[d] + 1) / 2;
  const Array<int, Exec> group = group_cells(exec, fine, shape, kind);
  const int num_cells = number_sets(exec, group); // now group(e) is the coarse cell of e

  const bool uniform = fine.lambda_value.data() == fine.mu_value.data();
  CellGrid<Exec> cells = make_cells(exec, num_cells, uniform);
  cells.shape = shape;
  cells.is_periodic = fine.is_periodic;
  cells.lambda_scale = fine.lambda_scale;
  cells.mu_scale = fine.mu_scale;
  Kokkos::parallel_for("ossatura::coarsen_cells::sum", range(exec, num_cells),
                       SumChildren<Exec>{fine, invert_map(exec, group, num_cells), uniform, cells});
  merge_cells(exec, fine, group, cells, kind);

  CellTransfer<Exec> transfer;
  transfer.parent = make_uninitialized<int>(exec, fine.num_nodes, "ossatura::transfer::parent");
  transfer.position =
      make_uninitialized<std::uint8_t>(exec, fine.num_nodes, "ossatura::transfer::position");
  Kokkos::parallel_for("ossatura::coarsen_cells::attach", range(exec, fine.num_nodes),
                       AttachCellNodes<Exec>{fine, group, num_cells, transfer});
  return {{cells, transfer}, group};
}

} // namespace detail

/// Cells of twice the edge from cells. The same on every backend. Fences.
template<class Exec>
CoarseCells<Exec> coarsen_cells(const Exec& exec, const CellGrid<Exec>& fine, Coarsening kind) {
  CoarseCells<Exec> coarse = detail::join_cells(exec, fine, kind).coarse;
  detail::list_fine_nodes(exec, coarse.cells.num_elem, coarse.transfer);
  detail::finish_cells(exec, coarse.cells);
  return coarse;
}

} // namespace ossatura
