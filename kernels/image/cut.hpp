// SPDX-License-Identifier: Apache-2.0
// A VoxelCut divides the nodes of a voxel image among processes.
//
// The node lattice is cut into superblocks of 2^bits sites a side, along the Morton curve as the
// blocks of a VoxelGrid. Consecutive superblocks with about 1/1024 of the nodes are a group, and
// consecutive groups belong to a process. Groups depend on the image alone: what is cut at their
// borders, sums and patches, is the same for any number of processes. Ranges of the curve keep what
// a process owns contiguous in the numbering of nodes; they are balanced to a group.
#pragma once

#include <ossatura/core/base/morton.hpp>
#include <ossatura/core/base/require.hpp>
#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/grid.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace ossatura {

/// A superblock by its key along the Morton curve of superblocks, and its nodes.
struct SuperblockNodes {
  std::uint64_t key;
  std::int64_t nodes;
};

/// Which process owns which superblock. Keys of nodes are those of node_order().
struct VoxelCut {
  static constexpr std::uint64_t no_key = std::numeric_limits<std::uint64_t>::max();

  int bits = 2;                  ///< superblocks have 2^bits sites a side
  Kokkos::Array<int, 3> shape{}; ///< voxels of the whole image
  std::vector<std::uint64_t>
      group_begin;             ///< [groups + 1] keys of superblocks; 0 first, no_key last
  std::vector<int> rank_begin; ///< [ranks + 1] groups

  int num_groups() const { return int(group_begin.size()) - 1; }
  int num_ranks() const { return int(rank_begin.size()) - 1; }

  /// The least key of a node of group g; no_key for the group behind the last.
  std::uint64_t first_node_key(int g) const {
    const std::uint64_t key = group_begin[std::size_t(g)];
    return key == no_key ? no_key : key << 3 * bits;
  }
  /// The least key of a node of a rank, and of the rank behind the last.
  std::uint64_t first_node_key_of_rank(int rank) const {
    return first_node_key(rank_begin[std::size_t(rank)]);
  }
  /// The rank that owns a node by its key.
  int owner(std::uint64_t node_key) const {
    int rank = 0;
    for (int r = 1; r < num_ranks(); ++r)
      if (first_node_key_of_rank(r) <= node_key)
        rank = r;
    return rank;
  }
  /// The rank that owns the superblock of a site; -1 where no superblock is, off the lattice.
  int owner_of_site(int x, int y, int z) const {
    const auto is_off = [this](int i, int voxels) { return i < 0 || i >> bits > voxels >> bits; };
    if (is_off(x, shape[0]) || is_off(y, shape[1]) || is_off(z, shape[2]))
      return -1;
    return owner(node_order(x, y, z));
  }
};

/// Cuts among `num_ranks` processes. `superblocks` are those with nodes, by ascending key, and the
/// same on all processes. Ranks may get nothing. Throws std::invalid_argument if there is none.
inline VoxelCut make_voxel_cut(int bits, const Kokkos::Array<int, 3>& shape,
                               const std::vector<SuperblockNodes>& superblocks, int num_ranks) {
  constexpr std::int64_t most_groups = 1024;
  OSSATURA_REQUIRE(bits >= 2 && bits <= 20, "superblocks of 2^" << bits << " sites a side");
  OSSATURA_REQUIRE(num_ranks > 0, num_ranks << " ranks");
  OSSATURA_REQUIRE(!superblocks.empty(), "there is no superblock with nodes");
  VoxelCut cut;
  cut.bits = bits;
  cut.shape = shape;
  std::int64_t total = 0;
  for (const SuperblockNodes& s : superblocks)
    total += s.nodes;
  // Of those with the middle of their nodes in one of the equal parts of all.
  const auto part_of = [total](std::int64_t before, std::int64_t nodes, std::int64_t parts) {
    return std::min(parts - 1, std::int64_t((double(before) + 0.5 * double(nodes)) * double(parts) /
                                            double(total)));
  };
  std::vector<std::int64_t> weight;
  std::int64_t before = 0, last_part = -1;
  for (const SuperblockNodes& s : superblocks) {
    const std::int64_t part = part_of(before, s.nodes, most_groups);
    if (part != last_part) {
      cut.group_begin.push_back(cut.group_begin.empty() ? 0 : s.key);
      weight.push_back(0);
      last_part = part;
    }
    weight.back() += s.nodes;
    before += s.nodes;
  }
  cut.group_begin.push_back(VoxelCut::no_key);
  cut.rank_begin.assign(std::size_t(num_ranks) + 1, 0);
  before = 0;
  for (const std::int64_t nodes : weight) {
    ++cut.rank_begin[std::size_t(part_of(before, nodes, num_ranks)) + 1];
    before += nodes;
  }
  for (int r = 0; r < num_ranks; ++r)
    cut.rank_begin[std::size_t(r) + 1] += cut.rank_begin[std::size_t(r)];
  return cut;
}

/// The owners of all superblocks in the memory of a backend, void ones included.
template<class Exec>
struct CutTable {
  int bits = 2, rank = 0;        ///< of this process
  Kokkos::Array<int, 3> count{}; ///< superblocks along x, y, z
  Array<int, Exec> owner;        ///< [product of count], x fastest

  /// -1 where no superblock is, off the lattice.
  KOKKOS_FUNCTION int owner_of_site(int x, int y, int z) const {
    const int bx = x >> bits, by = y >> bits, bz = z >> bits; // negative where x, y or z is
    if (bx < 0 || by < 0 || bz < 0 || bx >= count[0] || by >= count[1] || bz >= count[2])
      return -1;
    return owner(bx + count[0] * (by + std::int64_t(count[1]) * bz));
  }
  /// Whether a place of `edge` sites a side, its lowest corner at (x, y, z), is within `halo`
  /// places of a superblock of this rank, or of another rank if `of_others`. Superblocks have at
  /// least `halo` places a side.
  KOKKOS_FUNCTION bool is_near(int x, int y, int z, int edge, int halo, bool of_others) const {
    const int step = halo * edge;
    if (!of_others && owner_of_site(x, y, z) == rank) // most are
      return true;
    for (int k = 0; k < 27; ++k) {
      const int found =
          owner_of_site(x + step * (k % 3 - 1), y + step * (k / 3 % 3 - 1), z + step * (k / 9 - 1));
      if (found >= 0 && (found == rank) != of_others)
        return true;
    }
    return false;
  }
};

namespace detail {
template<class Exec>
struct ListSuperblockOwners {
  CutTable<Exec> table;
  Array<std::uint64_t, Exec> first_key; ///< [ranks] superblocks

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint64_t key =
        morton_key(int(i % table.count[0]), int(i / table.count[0] % table.count[1]),
                   int(i / table.count[0] / table.count[1]));
    int begin = 0, end = int(first_key.extent(0)); // the last rank that begins at or before the key
    while (end - begin > 1) {
      const int middle = (begin + end) / 2;
      (first_key(middle) <= key ? begin : end) = middle;
    }
    table.owner(i) = begin;
  }
};
} // namespace detail

/// 4 bytes for each superblock of the lattice. Fences.
template<class Exec>
CutTable<Exec> make_cut_table(const Exec& exec, const VoxelCut& cut, int rank) {
  OSSATURA_REQUIRE(rank >= 0 && rank < cut.num_ranks(),
                   "rank " << rank << " of " << cut.num_ranks());
  CutTable<Exec> table{cut.bits, rank, {}, {}};
  std::int64_t n = 1;
  for (int d = 0; d < 3; ++d) {
    table.count[d] = (cut.shape[d] >> cut.bits) + 1;
    n *= table.count[d];
  }
  std::vector<std::uint64_t> first_key;
  for (int r = 0; r < cut.num_ranks(); ++r)
    first_key.push_back(cut.group_begin[std::size_t(cut.rank_begin[std::size_t(r)])]);
  table.owner = make_uninitialized<int>(exec, n, "ossatura::cut_table");
  Kokkos::parallel_for("ossatura::make_cut_table", range(exec, n),
                       detail::ListSuperblockOwners<Exec>{
                           table, upload(exec, "ossatura::cut_table::first_key", first_key)});
  fence(exec, "ossatura::make_cut_table");
  return table;
}

namespace detail {
template<class Exec>
struct CountSuperblockNodes {
  Array<NodeBlock, Exec> block;
  Kokkos::Array<int, 3> num_blocks, count;
  int bits;
  Array<std::int64_t, Exec> nodes;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint64_t mask = block(i).mask;
    if (mask == 0)
      return;
    const int shift = bits - 2;
    const int x = int(i % num_blocks[0]) >> shift,
              y = int(i / num_blocks[0] % num_blocks[1]) >> shift,
              z = int(i / num_blocks[0] / num_blocks[1]) >> shift;
    Kokkos::atomic_add(&nodes(x + count[0] * (y + std::int64_t(count[1]) * z)),
                       std::int64_t(count_ones(mask)));
  }
};

template<class Exec>
struct CountPositive {
  Array<std::int64_t, Exec> number;
  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum) const { sum += number(i) > 0; }
};

/// The nodes in planes of blocks of a grid, by superblocks.
template<class Exec>
struct SuperblockTable {
  Kokkos::Array<int, 3> count{};   ///< superblocks along x, y, z
  Array<std::int64_t, Exec> nodes; ///< [product of count], x fastest
};

template<class Exec>
SuperblockTable<Exec> make_superblock_table(const Exec& exec, const VoxelGrid<Exec>& grid,
                                            ImagePlanes blocks, int bits) {
  OSSATURA_REQUIRE(bits >= 2 && bits <= 20, "superblocks of 2^" << bits << " sites a side");
  SuperblockTable<Exec> table;
  std::int64_t n = 1;
  for (int d = 0; d < 3; ++d) {
    table.count[d] = (grid.shape[d] >> bits) + 1;
    n *= table.count[d];
  }
  table.nodes = make_zeros<std::int64_t>(exec, n, "ossatura::superblock_nodes");
  const std::int64_t plane = std::int64_t(grid.num_blocks[0]) * grid.num_blocks[1];
  Kokkos::parallel_for(
      "ossatura::count_superblock_nodes", range(exec, plane * blocks.begin, plane * blocks.end),
      CountSuperblockNodes<Exec>{grid.block, grid.num_blocks, table.count, bits, table.nodes});
  return table;
}
} // namespace detail

/// How many superblocks have nodes in planes of blocks of a grid. Fences.
template<class Exec>
std::int64_t count_superblocks(const Exec& exec, const VoxelGrid<Exec>& grid, ImagePlanes blocks,
                               int bits) {
  const auto table = detail::make_superblock_table(exec, grid, blocks, bits);
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::count_superblocks", range(exec, table.nodes.extent(0)),
                          detail::CountPositive<Exec>{table.nodes}, count);
  return count;
}

/// The superblocks with nodes in planes of blocks of a grid, and how many there, by ascending key.
/// Fences.
template<class Exec>
std::vector<SuperblockNodes> count_superblock_nodes(const Exec& exec, const VoxelGrid<Exec>& grid,
                                                    ImagePlanes blocks, int bits) {
  const auto table = detail::make_superblock_table(exec, grid, blocks, bits);
  const std::vector<std::int64_t> host = download(exec, table.nodes);
  const Kokkos::Array<int, 3>& count = table.count;
  std::vector<SuperblockNodes> listed;
  for (std::int64_t i = 0; i < std::int64_t(host.size()); ++i)
    if (host[std::size_t(i)] > 0)
      listed.push_back({morton_key(int(i % count[0]), int(i / count[0] % count[1]),
                                   int(i / count[0] / count[1])),
                        host[std::size_t(i)]});
  std::sort(listed.begin(), listed.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  return listed;
}

/// The same of a whole grid.
template<class Exec>
std::vector<SuperblockNodes> count_superblock_nodes(const Exec& exec, const VoxelGrid<Exec>& grid,
                                                    int bits) {
  return count_superblock_nodes(exec, grid, {0, grid.num_blocks[2]}, bits);
}

} // namespace ossatura
