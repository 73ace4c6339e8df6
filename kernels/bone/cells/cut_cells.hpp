// SPDX-License-Identifier: Apache-2.0
// Cut cells are a level of cells of which every process has those in its superblocks
// (kernels/image/cut.hpp) and those within two places of them.
//
// A process coarsens what it sees of the finer level. The cells in its superblocks come out as they
// would in one process: what they are joined of and which of their corners are one node depends on
// cells within one place. Beyond, others know; they send their cells. Keys make that possible
// before anything is numbered: a cell has the key of its first child, on level 1 that of its
// centre, a node 8 times that of its first cell and the corner there. Keys ascend as numbers do in
// one process, and they name the superblock.
#pragma once

#include <ossatura/core/comm/together.hpp>
#include <ossatura/kernels/algebra/sorting/search.hpp>
#include <ossatura/kernels/bone/cells/coarsen.hpp>
#include <ossatura/kernels/bone/cells/transfer.hpp>
#include <ossatura/kernels/image/local_grid.hpp>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace ossatura {

/// A level of cells of a cut model. Each process has all of it once superblocks are places.
template<class Exec>
struct CutCells {
  CellGrid<Exec> cells;        ///< in local numbers; `owned` are all where every process has all
  CellTransfer<Exec> transfer; ///< to what this process has of the finer level
  Array<std::uint64_t, Exec> cell_key, node_key; ///< ascending
  bool is_everywhere = false;                    ///< every process has all of the level
  OwnedNodes share;    ///< nodes of which this process knows all fine nodes: cells.owned, or
                       ///< the part of this process of a level that is everywhere
  HaloPlan<Exec> plan; ///< of ghosts, unless the level is everywhere
  std::vector<int> group_begin; ///< [groups of this process + 1] nodes; of all where everywhere
  std::int64_t num_elem = 0;    ///< of all processes
};

namespace detail {

/// A cell as processes send it: 88 bytes.
struct SharedCell {
  std::uint64_t key, place, corner[8]; ///< keys of nodes
  float lambda, mu;
};

/// Cells of this process's coarsening, beyond its superblocks, too.
template<class Exec>
struct VisibleCells {
  CoarseCells<Exec> coarse; ///< corners numbered in `node_key`, parents of all visible fine nodes
  Array<std::uint64_t, Exec> cell_key, node_key;
};

template<class Exec>
struct KeyOfCentre {
  Array<std::uint64_t, Exec> place, key;
  KOKKOS_FUNCTION void operator()(std::int64_t cell) const {
    const Site s = unpack_site(place(cell));
    key(cell) = node_order(2 * s.x + 1, 2 * s.y + 1, 2 * s.z + 1);
  }
};

template<class Exec>
struct KeyOfFirstChild {
  Array<int, Exec> group;
  Array<std::uint64_t, Exec> fine_key, key;
  KOKKOS_FUNCTION void operator()(std::int64_t child) const {
    Kokkos::atomic_fetch_min(&key(group(child)), fine_key(child));
  }
};

/// Of the first cell of a node, which has the least key.
template<class Exec>
struct KeyOfFirstCorner {
  Array<int, Exec> corner;
  Array<std::uint64_t, Exec> cell_key, node_key;
  KOKKOS_FUNCTION void operator()(std::int64_t slot) const {
    Kokkos::atomic_fetch_min(&node_key(corner(slot)),
                             8 * cell_key(slot / 8) + std::uint64_t(slot % 8));
  }
};

template<class Exec>
Array<std::uint64_t, Exec> make_largest_keys(const Exec& exec, std::int64_t n) {
  const auto key = make_uninitialized<std::uint64_t>(exec, n, "ossatura::cut_cells::keys");
  Kokkos::deep_copy(exec, key, VoxelCut::no_key);
  return key;
}

/// Numbers the corners, and gives nodes their keys.
template<class Exec>
void number_visible(const Exec& exec, VisibleCells<Exec>& visible) {
  CellGrid<Exec>& cells = visible.coarse.cells;
  cells.num_nodes = number_sets(exec, cells.corner);
  visible.node_key = make_largest_keys(exec, cells.num_nodes);
  Kokkos::parallel_for("ossatura::cut_cells::node_keys", range(exec, cells.corner.extent(0)),
                       KeyOfFirstCorner<Exec>{cells.corner, visible.cell_key, visible.node_key});
}

/// Marks and lists the cells [begin, begin + n) that other processes see; all if `everywhere`.
template<class Exec>
struct ListSharedCells {
  CutTable<Exec> table;
  int level, halo;
  bool everywhere;
  Array<std::uint64_t, Exec> place;
  int begin;
  Array<int, Exec> list; ///< empty in the first pass

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum, bool final) const {
    const int cell = begin + int(i);
    const Site s = unpack_site(place(cell));
    if (!everywhere &&
        !table.is_near(s.x << level, s.y << level, s.z << level, 1 << level, halo, true))
      return;
    if (final && list.extent(0) > 0)
      list(sum) = cell;
    ++sum;
  }
};

template<class Exec>
struct PackSharedCells {
  CellGrid<Exec> cells;
  Array<std::uint64_t, Exec> cell_key, node_key;
  Array<int, Exec> list;
  Array<SharedCell, Exec> packed;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int cell = list(i);
    SharedCell to;
    to.key = cell_key(cell);
    to.place = cells.place(cell);
    for (int v = 0; v < 8; ++v)
      to.corner[v] = node_key(cells.corner(8 * std::int64_t(cell) + v));
    to.mu = cells.mu_value(cell);
    to.lambda = cells.lambda_value(cell);
    packed(i) = to;
  }
};

/// The cells of [begin, end) that are for others, in the host's memory.
template<class Exec>
std::vector<SharedCell> pack_shared_cells(const Exec& exec, const CutTable<Exec>& table, int level,
                                          bool everywhere, const VisibleCells<Exec>& visible,
                                          int begin, int end) {
  ListSharedCells<Exec> list{table, level, cut_halo, everywhere, visible.coarse.cells.place,
                             begin, {}};
  std::int64_t count = 0;
  Kokkos::parallel_scan("ossatura::cut_cells::count_shared", range(exec, end - begin), list, count);
  list.list = make_uninitialized<int>(exec, count, "ossatura::cut_cells::shared");
  Kokkos::parallel_scan("ossatura::cut_cells::list_shared", range(exec, end - begin), list, count);
  const auto packed = make_uninitialized<SharedCell>(exec, count, "ossatura::cut_cells::packed");
  Kokkos::parallel_for("ossatura::cut_cells::pack", range(exec, count),
                       PackSharedCells<Exec>{visible.coarse.cells, visible.cell_key,
                                             visible.node_key, list.list, packed});
  return download(exec, packed);
}

/// What other processes see of `mine`, sent to them; returns what this process sees of theirs, by
/// ascending key.
inline std::vector<SharedCell> exchange_cells(const Communicator& comm, const VoxelCut& cut,
                                              int level, const std::vector<SharedCell>& mine) {
  std::vector<std::vector<SharedCell>> to(std::size_t(comm.size()));
  std::vector<int> ranks;
  for (const SharedCell& cell : mine) {
    const Site s = unpack_site(cell.place);
    const int step = cut_halo << level;
    ranks.clear();
    for (int k = 0; k < 27; ++k) {
      const int rank = cut.owner_of_site((s.x << level) + step * (k % 3 - 1),
                                         (s.y << level) + step * (k / 3 % 3 - 1),
                                         (s.z << level) + step * (k / 9 - 1));
      if (rank >= 0 && rank != comm.rank() &&
          std::find(ranks.begin(), ranks.end(), rank) == ranks.end())
        ranks.push_back(rank);
    }
    for (const int rank : ranks)
      to[std::size_t(rank)].push_back(cell);
  }
  std::vector<SharedCell> seen; // ranks have consecutive ranges of keys
  for (const std::vector<SharedCell>& of_rank : comm.exchange(to))
    seen.insert(seen.end(), of_rank.begin(), of_rank.end());
  return seen;
}

/// to = [lower | middle | higher]; lists of the host and a part of an array.
template<class Exec>
Array<std::uint64_t, Exec> join_keys(const Exec& exec, const std::vector<std::uint64_t>& lower,
                                     const Array<std::uint64_t, Exec>& middle,
                                     const std::vector<std::uint64_t>& higher) {
  const std::size_t first = lower.size(), second = middle.extent(0);
  const auto to = make_uninitialized<std::uint64_t>(
      exec, std::int64_t(first + second + higher.size()), "ossatura::cut_cells::keys");
  upload_to(exec, lower, Array<std::uint64_t, Exec>(to.data(), first));
  Kokkos::deep_copy(exec, Array<std::uint64_t, Exec>(to.data() + first, second), middle);
  upload_to(exec, higher, Array<std::uint64_t, Exec>(to.data() + first + second, higher.size()));
  fence(exec, "ossatura::cut_cells::join_keys"); // before the lists go
  return to;
}

/// Cells of the level from those of this process [own_begin, own_end) of its coarsening, `lower`
/// ones of other processes before and the rest behind.
template<class Exec>
struct PlaceCutCells {
  CellGrid<Exec> visible;
  Array<std::uint64_t, Exec> visible_node_key;
  Array<SharedCell, Exec> seen;
  int lower, own_begin, num_own;
  bool uniform;
  CellGrid<Exec> cells;
  Array<std::uint64_t, Exec> node_key;

  KOKKOS_FUNCTION void operator()(std::int64_t cell, std::int64_t& unknown) const {
    const int i = int(cell) - lower;
    const bool own = i >= 0 && i < num_own;
    const int from = own ? own_begin + i : i < 0 ? int(cell) : int(cell) - num_own;
    const auto place_corner = [&](int v, std::uint64_t key) {
      const int node = find_key<Exec>(node_key, key);
      unknown += node < 0;
      cells.corner(8 * cell + v) = node < 0 ? 0 : node;
    };
    if (own) {
      cells.place(cell) = visible.place(from);
      cells.mu_value(cell) = visible.mu_value(from);
      if (!uniform)
        cells.lambda_value(cell) = visible.lambda_value(from);
      for (int v = 0; v < 8; ++v)
        place_corner(v, visible_node_key(visible.corner(8 * std::int64_t(from) + v)));
    } else {
      cells.place(cell) = seen(from).place;
      cells.mu_value(cell) = seen(from).mu;
      if (!uniform)
        cells.lambda_value(cell) = seen(from).lambda;
      for (int v = 0; v < 8; ++v)
        place_corner(v, seen(from).corner[v]);
    }
  }
};

/// Where each cell of the coarsening is in the level. Counts cells that are not there, or not the
/// same: then a process saw too little of the finer level.
template<class Exec>
struct FindVisibleCells {
  CellGrid<Exec> visible, cells;
  Array<std::uint64_t, Exec> visible_key, key;
  Array<int, Exec> found;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& wrong) const {
    const int cell = find_key<Exec>(key, visible_key(i));
    found(i) = cell < 0 ? 0 : cell;
    wrong += cell < 0 || cells.place(cell) != visible.place(i) ||
             cells.mu_value(cell) != visible.mu_value(i) ||
             cells.lambda_value(cell) != visible.lambda_value(i);
  }
};

template<class Exec>
struct MoveTransfer {
  Array<int, Exec> found; ///< [cells of the coarsening]
  Array<int, Exec> parent;
  KOKKOS_FUNCTION void operator()(std::int64_t node) const { parent(node) = found(parent(node)); }
};

template<class Exec>
struct MoveFineMask {
  Array<int, Exec> found;
  Array<std::uint32_t, Exec> from, to;
  KOKKOS_FUNCTION void operator()(std::int64_t cell) const { to(found(cell)) = from(cell); }
};

/// The transfer of a coarsening, for the cells of the level; `finds_nodes`: see finds_fine_nodes.
template<class Exec>
CellTransfer<Exec> move_transfer(const Exec& exec, const CellTransfer<Exec>& from,
                                 const Array<int, Exec>& found, std::int64_t num_cells,
                                 bool finds_nodes) {
  CellTransfer<Exec> transfer = from;
  Kokkos::parallel_for("ossatura::cut_cells::parents", range(exec, transfer.parent.extent(0)),
                       MoveTransfer<Exec>{found, transfer.parent});
  if (finds_nodes) {
    transfer.fine_mask =
        make_zeros<std::uint32_t>(exec, num_cells, "ossatura::transfer::fine_mask");
    Kokkos::parallel_for("ossatura::cut_cells::fine_masks", range(exec, found.extent(0)),
                         MoveFineMask<Exec>{found, from.fine_mask, transfer.fine_mask});
  } else {
    list_fine_nodes(exec, num_cells, transfer);
  }
  return transfer;
}

/// Ghosts of lower and of higher ranks among the corners of cells.
struct GhostKeys {
  std::vector<std::uint64_t> lower, higher;

  GhostKeys(const std::vector<SharedCell>& seen, std::uint64_t own_begin, std::uint64_t own_end) {
    for (const SharedCell& cell : seen)
      for (const std::uint64_t key : cell.corner)
        if (key < own_begin)
          lower.push_back(key);
        else if (key >= own_end)
          higher.push_back(key);
    for (std::vector<std::uint64_t>* keys : {&lower, &higher}) {
      std::sort(keys->begin(), keys->end());
      keys->erase(std::unique(keys->begin(), keys->end()), keys->end());
    }
  }
};

/// The least key of a node of a level of cells for that of a cell.
inline std::uint64_t first_corner_key(std::uint64_t cell_key) {
  return cell_key == VoxelCut::no_key ? VoxelCut::no_key : 8 * cell_key;
}

/// Throws where a process saw too little.
inline void require_exact(const Communicator& comm, int level, std::int64_t wrong) {
  const std::int64_t all = comm.sum(wrong);
  if (all > 0)
    fail<std::logic_error>("level ", level, " of the cut model is not that of one process: ", all,
                           " cells or corners are unknown to a process or differ between two");
}

/// Nodes with which the groups of a rank begin, and the end; of all ranks if `everywhere`.
template<class Exec>
std::vector<int> find_groups(const Exec& exec, const VoxelCut& cut, int rank, bool everywhere,
                             const Array<std::uint64_t, Exec>& node_key) {
  std::vector<std::uint64_t> first;
  const int begin = everywhere ? 0 : cut.rank_begin[std::size_t(rank)],
            end = everywhere ? cut.num_groups() : cut.rank_begin[std::size_t(rank) + 1];
  for (int g = begin; g <= end; ++g)
    first.push_back(first_corner_key(cut.first_node_key(g)));
  return lower_bounds(exec, node_key, first);
}

/// Numbers of this process and nodes of a level from what it has of it itself and `seen` of others.
template<class Exec>
void number_cut_cells(const Exec& exec, const Communicator& comm, const VoxelCut& cut, int level,
                      const VisibleCells<Exec>& visible, const std::vector<SharedCell>& seen,
                      bool uniform, CutCells<Exec>& to) {
  const int rank = comm.rank();
  const std::uint64_t begin = cut.first_node_key_of_rank(rank),
                      end = cut.first_node_key_of_rank(rank + 1);
  std::vector<int> own_cells{0, 0}, own_nodes{0, 0};
  if (!to.is_everywhere) {
    own_cells = lower_bounds(exec, visible.cell_key, {begin, end});
    own_nodes =
        lower_bounds(exec, visible.node_key, {first_corner_key(begin), first_corner_key(end)});
  }
  const int num_own = own_cells[1] - own_cells[0], num_nodes = own_nodes[1] - own_nodes[0];
  std::vector<std::uint64_t> lower, higher;
  for (const SharedCell& cell : seen)
    (!to.is_everywhere && cell.key < begin ? lower : higher).push_back(cell.key);
  const auto part = [](const Array<std::uint64_t, Exec>& keys, const std::vector<int>& range) {
    return Array<std::uint64_t, Exec>(keys.data() + range[0], std::size_t(range[1] - range[0]));
  };
  to.cell_key = join_keys(exec, lower, part(visible.cell_key, own_cells), higher);
  const GhostKeys ghosts(seen, to.is_everywhere ? 0 : first_corner_key(begin),
                         to.is_everywhere ? 0 : first_corner_key(end));
  to.node_key = join_keys(exec, ghosts.lower, part(visible.node_key, own_nodes), ghosts.higher);

  CellGrid<Exec> cells = make_cells(exec, to.cell_key.extent(0), uniform);
  const CellGrid<Exec>& from = visible.coarse.cells;
  cells.shape = from.shape;
  cells.lambda_scale = from.lambda_scale;
  cells.mu_scale = from.mu_scale;
  cells.num_nodes = int(to.node_key.extent(0));
  to.num_elem = comm.sum(std::int64_t(num_own));
  const int first = int(ghosts.lower.size());
  cells.owned = {first, first + num_nodes, comm.scan_before(std::int64_t(num_nodes)),
                 comm.sum(std::int64_t(num_nodes))};
  to.share = cells.owned;
  if (to.is_everywhere) {
    to.num_elem = cells.num_elem;
    cells.owned = own_all(cells.num_nodes);
    const std::vector<int> mine =
        lower_bounds(exec, to.node_key, {first_corner_key(begin), first_corner_key(end)});
    to.share = {mine[0], mine[1], mine[0], cells.num_nodes};
  }
  std::int64_t unknown = 0;
  Kokkos::parallel_reduce(
      "ossatura::cut_cells::place", range(exec, cells.num_elem),
      PlaceCutCells<Exec>{from, visible.node_key, upload(exec, "ossatura::cut_cells::seen", seen),
                          int(lower.size()), own_cells[0], num_own, uniform, cells, to.node_key},
      unknown);
  require_exact(comm, level, unknown);
  to.cells = cells;
}

/// Patches of a level, which do not cross groups.
template<class Exec>
CellPatches<Exec> make_cut_patches(const Exec& exec, const CutCells<Exec>& level) {
  const CellGrid<Exec>& cells = level.cells;
  const std::int64_t nodes = cells.owned.global_count;
  if (nodes <= most_nodes_without_patches<Exec>)
    return {};
  const int per_patch = choose_patch_nodes<Exec>(int(std::min<std::int64_t>(nodes, 1 << 30)));
  if (level.is_everywhere)
    return make_cell_patches(exec, cells, per_patch);
  std::vector<int> begin;
  for (std::size_t g = 0; g + 1 < level.group_begin.size(); ++g)
    cut_into_patches(level.group_begin[g], level.group_begin[g + 1], per_patch, begin);
  return make_cell_patches(exec, cells, begin);
}

/// The level of a coarsening of what this process sees. Called by all processes. Fences.
template<class Exec>
CutCells<Exec> share_cells(const Exec& exec, const Communicator& comm, const VoxelCut& cut,
                           const CutTable<Exec>& table, int level, bool finds_nodes,
                           VisibleCells<Exec>& visible) {
  const CellGrid<Exec>& from = visible.coarse.cells;
  // A process with nothing has nothing to tell one array from two.
  const bool uniform =
      comm.all(from.num_elem == 0 || from.lambda_value.data() == from.mu_value.data());
  number_visible(exec, visible);
  CutCells<Exec> to;
  to.is_everywhere = level >= cut.bits;
  const std::vector<int> own = lower_bounds(
      exec, visible.cell_key,
      {cut.first_node_key_of_rank(comm.rank()), cut.first_node_key_of_rank(comm.rank() + 1)});
  const std::vector<SharedCell> mine =
      pack_shared_cells(exec, table, level, to.is_everywhere, visible, own[0], own[1]);
  const std::vector<SharedCell> seen =
      to.is_everywhere ? comm.gather(mine) : exchange_cells(comm, cut, level, mine);
  number_cut_cells(exec, comm, cut, level, visible, seen, uniform, to);
  to.group_begin = find_groups(exec, cut, comm.rank(), to.is_everywhere, to.node_key);
  list_node_corners(exec, to.cells);
  to.cells.patches = make_cut_patches(exec, to);

  const Array<int, Exec> found =
      make_uninitialized<int>(exec, from.num_elem, "ossatura::cut_cells::found");
  std::int64_t wrong = 0;
  Kokkos::parallel_reduce(
      "ossatura::cut_cells::find", range(exec, from.num_elem),
      FindVisibleCells<Exec>{from, to.cells, visible.cell_key, to.cell_key, found}, wrong);
  require_exact(comm, level, wrong);
  to.transfer = move_transfer(exec, visible.coarse.transfer, found, to.cells.num_elem, finds_nodes);
  if (!to.is_everywhere) {
    std::vector<std::uint64_t> ghosts = download(exec, to.node_key);
    ghosts.erase(ghosts.begin() + to.cells.owned.begin, ghosts.begin() + to.cells.owned.end);
    to.plan = make_halo_plan(
        exec, comm, to.cells.owned, ghosts, [&](std::uint64_t key) { return cut.owner(key / 8); },
        [&](const std::vector<std::uint64_t>& keys) { return find_keys(exec, to.node_key, keys); });
  }
  return to;
}

} // namespace detail

/// Level 1 of a cut model, from the voxels that this process sees (local_grid.hpp). Called by all
/// processes. Throws std::logic_error where a process sees too little. Fences.
template<class Exec>
CutCells<Exec> coarsen_cells(const Exec& exec, const Communicator& comm, const VoxelCut& cut,
                             const CutTable<Exec>& table, const VoxelGrid<Exec>& grid,
                             const LameField<Exec>& lame, Coarsening kind) {
  detail::VisibleCells<Exec> visible{
      together(comm, [&] { return detail::join_voxels(exec, grid, lame, kind); }), {}, {}};
  const std::int64_t n = visible.coarse.cells.num_elem;
  visible.cell_key = make_uninitialized<std::uint64_t>(exec, n, "ossatura::cut_cells::keys");
  Kokkos::parallel_for("ossatura::cut_cells::centres", range(exec, n),
                       detail::KeyOfCentre<Exec>{visible.coarse.cells.place, visible.cell_key});
  return detail::share_cells(exec, comm, cut, table, 1, finds_fine_nodes<Exec, VoxelGrid<Exec>>,
                             visible);
}

/// Level `level` of a cut model from the next finer one, which has node_begin and node_corner and
/// is not everywhere. Called by all processes. Throws as above. Fences.
template<class Exec>
CutCells<Exec> coarsen_cells(const Exec& exec, const Communicator& comm, const VoxelCut& cut,
                             const CutTable<Exec>& table, int level, const CutCells<Exec>& fine,
                             Coarsening kind) {
  OSSATURA_REQUIRE(!fine.is_everywhere && level >= 2 && level <= cut.bits,
                   "level " << level << " of superblocks of 2^" << cut.bits << " sites");
  const detail::JoinedCells<Exec> joined =
      together(comm, [&] { return detail::join_cells(exec, fine.cells, kind); });
  const std::int64_t n = joined.coarse.cells.num_elem;
  detail::VisibleCells<Exec> visible{joined.coarse, detail::make_largest_keys(exec, n), {}};
  Kokkos::parallel_for(
      "ossatura::cut_cells::first_children", range(exec, fine.cells.num_elem),
      detail::KeyOfFirstChild<Exec>{joined.group, fine.cell_key, visible.cell_key});
  return detail::share_cells(exec, comm, cut, table, level, false, visible);
}

/// The plan that brings the constants of the cells that a process has of a level, but that others
/// join from finer ones. Called by all processes. Fences.
template<class Exec>
HaloPlan<Exec> make_cell_plan(const Exec& exec, const Communicator& comm, const VoxelCut& cut,
                              const CutCells<Exec>& level) {
  const std::vector<int> own = lower_bounds(
      exec, level.cell_key,
      {cut.first_node_key_of_rank(comm.rank()), cut.first_node_key_of_rank(comm.rank() + 1)});
  std::vector<std::uint64_t> others = download(exec, level.cell_key);
  others.erase(others.begin() + own[0], others.begin() + own[1]);
  return make_halo_plan(
      exec, comm, OwnedNodes{own[0], own[1], 0, level.num_elem}, others,
      [&](std::uint64_t key) { return cut.owner(key); },
      [&](const std::vector<std::uint64_t>& keys) {
        return find_keys(exec, level.cell_key, keys);
      });
}

/// Components of a cut level that are held: coarsen_held (transfer.hpp), the same on all processes
/// that have a node. Called by all. Fences.
template<class Exec, class FineGrid>
Constraints<Exec> coarsen_held(const Exec& exec, const DeviceComm<Exec>& comm,
                               const CutCells<Exec>& level, const FineGrid& fine_grid,
                               const Array<std::uint8_t, Exec>& fine_held) {
  const Array<std::uint8_t, Exec> mask =
      coarsen_held(exec, level.transfer, fine_grid, level.cells, fine_held).mask;
  if (level.is_everywhere) {
    const std::vector<std::uint8_t> own = download(
        exec, Array<std::uint8_t, Exec>(mask.data() + level.share.begin, level.share.count()));
    const std::vector<std::uint8_t> all = comm.communicator().gather(own);
    upload_to(exec, all, mask);
    fence(exec, "ossatura::coarsen_held"); // before the list goes
  } else {
    Halo<Exec, std::uint8_t>(exec, comm, level.plan, 1).exchange(exec, mask);
  }
  return make_constraints(exec, mask);
}

} // namespace ossatura
