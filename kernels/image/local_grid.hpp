// SPDX-License-Identifier: Apache-2.0
// The local grid of a process has the nodes that the process owns in a cut (cut.hpp) and the ghosts
// around them, which others own.
//
// Visible are voxels within two of a superblock that is owned. The first coarsening joins
// 2 x 2 x 2 voxels, and whether corners of cells are one node depends on the cells around: with two
// voxels every process finds for its own cells and nodes what one process alone would.
#pragma once

#include <ossatura/core/comm/together.hpp>
#include <ossatura/kernels/algebra/ranks/halo.hpp>
#include <ossatura/kernels/image/cut.hpp>

namespace ossatura {

/// How far a process sees beyond what it owns, in places of a level.
constexpr int cut_halo = 2;

namespace detail {
template<class Exec>
struct CountBlocksNodesOfRanks {
  VoxelGrid<Exec> grid;
  CutTable<Exec> table;
  bool of_lower; ///< those of lower ranks, else those of this one

  KOKKOS_FUNCTION void operator()(std::int64_t s, std::int64_t& sum) const {
    const std::uint32_t i = grid.solid_block(s);
    const Site corner = grid.block_corner(i);
    const int owner = table.owner_of_site(corner.x, corner.y, corner.z);
    if (of_lower ? owner < table.rank : owner == table.rank)
      sum += count_ones(grid.block(i).mask);
  }
};

template<class Exec>
struct ListNodeKeys {
  VoxelGrid<Exec> grid;
  int begin;
  Array<std::uint64_t, Exec> key;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Site s = grid.site(begin + int(i));
    key(i) = node_order(s.x, s.y, s.z);
  }
};
} // namespace detail

namespace detail {
/// Finds the nodes of a grid that this process owns. By all. Fences.
template<class Exec>
void find_owned_nodes(const Exec& exec, const Communicator& comm, const CutTable<Exec>& table,
                      VoxelGrid<Exec>& grid) {
  const auto count = [&](bool of_lower) {
    std::int64_t nodes = 0;
    Kokkos::parallel_reduce("ossatura::make_local_grid::count",
                            range(exec, grid.solid_block.extent(0)),
                            CountBlocksNodesOfRanks<Exec>{grid, table, of_lower}, nodes);
    return nodes;
  };
  const std::int64_t lower = count(true), own = count(false);
  grid.owned = {int(lower), int(lower + own), comm.scan_before(own), comm.sum(own)};
  OSSATURA_REQUIRE(grid.owned.global_count > 0, "the image has no voxel greater than 0");
}
} // namespace detail

/// The grid of the voxels that a process sees of an image of the given shape, `site` packed
/// (detail::pack_site), in any order: owned nodes and ghosts in the order of all nodes, lattice
/// coordinates as in the whole image. A process may own and see nothing. Called by all processes of
/// `comm`, whose ranks are those of the cut. Throws std::invalid_argument if no process has a
/// voxel, InputError if one has too many nodes for 32-bit numbers, on all processes. Fences.
template<class Exec>
VoxelGrid<Exec> make_local_grid(const Exec& exec, const Communicator& comm,
                                const CutTable<Exec>& table, const Kokkos::Array<int, 3>& shape,
                                const Array<std::uint64_t, Exec>& site) {
  VoxelGrid<Exec> grid =
      together(comm, [&] { return detail::make_listed_grid(exec, shape, site); });
  detail::find_owned_nodes(exec, comm, table, grid);
  return grid;
}

/// Keys of the nodes [begin, end) of a grid, node_order() of their sites, ascending. Fences.
template<class Exec>
std::vector<std::uint64_t> node_keys(const Exec& exec, const VoxelGrid<Exec>& grid, int begin,
                                     int end) {
  const auto key = make_uninitialized<std::uint64_t>(exec, end - begin, "ossatura::node_keys");
  Kokkos::parallel_for("ossatura::node_keys", range(exec, end - begin),
                       detail::ListNodeKeys<Exec>{grid, begin, key});
  return download(exec, key);
}

namespace detail {
template<class Exec>
struct FindNodeKeys {
  VoxelGrid<Exec> grid;
  Array<std::uint64_t, Exec> key;
  Array<int, Exec> node;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint64_t block = key(i) >> 6;
    const int local = int(key(i) & 63);
    node(i) = grid.find(4 * morton_coordinate(block, 0) + (local & 3),
                        4 * morton_coordinate(block, 1) + (local >> 2 & 3),
                        4 * morton_coordinate(block, 2) + (local >> 4));
  }
};
} // namespace detail

/// Nodes of a grid by their keys; -1 where there is none. Fences.
template<class Exec>
std::vector<int> find_nodes(const Exec& exec, const VoxelGrid<Exec>& grid,
                            const std::vector<std::uint64_t>& keys) {
  const auto node =
      make_uninitialized<int>(exec, std::int64_t(keys.size()), "ossatura::find_nodes");
  Kokkos::parallel_for(
      "ossatura::find_nodes", range(exec, std::int64_t(keys.size())),
      detail::FindNodeKeys<Exec>{grid, upload(exec, "ossatura::find_nodes::key", keys), node});
  return download(exec, node);
}

/// The plan that brings all ghosts of a local grid. Called by all processes. Fences.
template<class Exec>
HaloPlan<Exec> make_halo_plan(const Exec& exec, const Communicator& comm, const VoxelCut& cut,
                              const VoxelGrid<Exec>& grid) {
  std::vector<std::uint64_t> ghosts = node_keys(exec, grid, 0, grid.owned.begin);
  const std::vector<std::uint64_t> higher = node_keys(exec, grid, grid.owned.end, grid.num_nodes);
  ghosts.insert(ghosts.end(), higher.begin(), higher.end());
  return make_halo_plan(
      exec, comm, grid.owned, ghosts, [&](std::uint64_t key) { return cut.owner(key); },
      [&](const std::vector<std::uint64_t>& keys) { return find_nodes(exec, grid, keys); });
}

} // namespace ossatura
