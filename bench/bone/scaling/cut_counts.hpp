// SPDX-License-Identifier: Apache-2.0
// These functions count, in one process, what each of any number of processes would own and see of
// the levels of a voxel model: the cut is that of the solver (kernels/image/cut.hpp), the levels
// are those of its hierarchy.
#pragma once

#include <ossatura/kernels/bone/cells/grid.hpp>
#include <ossatura/kernels/image/cut.hpp>
#include <ossatura/kernels/image/local_grid.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ossatura::bench {

/// A level as the process that has most of it does.
struct CutCounts {
  std::int64_t most_nodes = 0, most_ghosts = 0, num_ghosts = 0;
  int most_neighbours = 0; ///< of which a process has ghosts
};

/// Ranks, each once.
struct RankList {
  static constexpr int most =
      64; ///< four superblocks along each axis around a node of the coarsest cut level
  int rank[most];
  int count = 0;

  KOKKOS_FUNCTION void add(int r) {
    for (int i = 0; i < count; ++i)
      if (rank[i] == r)
        return;
    if (count < most)
      rank[count] = r;
    ++count; // more than `most`: somebody is left out, which the caller sees
  }
};

/// Marks superblocks around which, two blocks far, all belong to one process.
template<class Exec>
struct MarkInterior {
  CutTable<Exec> table;
  Array<std::uint8_t, Exec> interior;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const int x = int(i % table.count[0]), y = int(i / table.count[0] % table.count[1]),
              z = int(i / table.count[0] / table.count[1]);
    bool same = true;
    for (int k = 0; k < 125; ++k) {
      const int found =
          table.owner_of_site((x + k % 5 - 2) << table.bits, (y + k / 5 % 5 - 2) << table.bits,
                              (z + k / 25 - 2) << table.bits);
      same = same && (found < 0 || found == table.owner(i));
    }
    interior(i) = same;
  }
};

/// What is counted of a level, by rank.
template<class Exec>
struct LevelCounter {
  CutTable<Exec> table;               ///< its rank is not read
  Array<std::uint8_t, Exec> interior; ///< by superblock, as its owners
  int level;
  Array<std::int64_t, Exec> nodes, ghosts; ///< [ranks]
  Array<std::uint8_t, Exec> meets;         ///< [ranks, ranks] has ghosts of

  /// Whether one process alone sees what is around a place, which it owns.
  KOKKOS_FUNCTION bool is_interior(int x, int y, int z) const {
    const int shift = table.bits - level;
    return interior((x >> shift) +
                    table.count[0] * ((y >> shift) + std::int64_t(table.count[1]) * (z >> shift)));
  }
  /// Adds the processes that see a place of the level, its lowest corner at (x, y, z) in places.
  KOKKOS_FUNCTION void add_seeing(int x, int y, int z, RankList& seeing) const {
    for (int k = 0; k < 27; ++k) {
      const int r = table.owner_of_site((x + cut_halo * (k % 3 - 1)) << level,
                                        (y + cut_halo * (k / 3 % 3 - 1)) << level,
                                        (z + cut_halo * (k / 9 - 1)) << level);
      if (r >= 0)
        seeing.add(r);
    }
  }
  /// Counts a node of `owner` that these see.
  KOKKOS_FUNCTION void count(int owner, const RankList& seeing, int& left_out) const {
    Kokkos::atomic_inc(&nodes(owner));
    left_out += seeing.count > RankList::most;
    for (int i = 0; i < seeing.count && i < RankList::most; ++i)
      if (const int r = seeing.rank[i]; r != owner) {
        Kokkos::atomic_inc(&ghosts(r));
        meets(r * std::int64_t(nodes.extent(0)) + owner) = 1; // of whoever comes last: the same
      }
  }
};

/// Of voxels: those around a node, which are visible within cut_halo of what is owned.
template<class Exec>
struct CountVoxelNodes {
  LevelCounter<Exec> counter;
  VoxelGrid<Exec> grid;
  VoxelArray<Exec> image;

  KOKKOS_FUNCTION void operator()(std::int64_t node, int& left_out) const {
    const Site s = grid.site(int(node));
    RankList seeing;
    for (int v = 0; v < 8 && !counter.is_interior(s.x, s.y, s.z); ++v) {
      const int x = s.x - (v & 1), y = s.y - (v >> 1 & 1), z = s.z - (v >> 2);
      if (image.value_or_void(x, y, z) > 0)
        counter.add_seeing(x, y, z, seeing);
    }
    counter.count(counter.table.owner_of_site(s.x, s.y, s.z), seeing, left_out);
  }
};

/// Of a level of cells: a node belongs to the owner of its first cell.
template<class Exec>
struct CountCellNodes {
  LevelCounter<Exec> counter;
  CellGrid<Exec> cells;

  KOKKOS_FUNCTION void operator()(std::int64_t node, int& left_out) const {
    RankList seeing;
    int owner = -1;
    for (int i = cells.node_begin(node); i < cells.node_begin(node + 1); ++i) {
      const Site s = ossatura::detail::unpack_site(cells.place(cells.node_corner(i) / 8));
      if (owner < 0)
        owner = counter.table.owner_of_site(s.x << counter.level, s.y << counter.level,
                                            s.z << counter.level);
      if (counter.is_interior(s.x, s.y, s.z)) // two superblocks far: around the other cells, too
        break;
      counter.add_seeing(s.x, s.y, s.z, seeing);
    }
    counter.count(owner, seeing, left_out);
  }
};

/// Counts with `functor`, whose counter is still empty, among the ranks of the cut. Throws
/// std::logic_error where a node is seen by more than RankList holds. Fences.
template<class Exec, class Functor>
CutCounts count_level(const Exec& exec, const VoxelCut& cut, const CutTable<Exec>& table, int level,
                      Functor functor, std::int64_t num_nodes) {
  const auto interior = make_zeros<std::uint8_t>(exec, table.owner.extent(0), "interior");
  Kokkos::parallel_for("ossatura::bench::mark_interior", range(exec, table.owner.extent(0)),
                       MarkInterior<Exec>{table, interior});
  const std::int64_t ranks = cut.num_ranks();
  LevelCounter<Exec> counter{table,
                             interior,
                             level,
                             make_zeros<std::int64_t>(exec, ranks, "nodes"),
                             make_zeros<std::int64_t>(exec, ranks, "ghosts"),
                             make_zeros<std::uint8_t>(exec, ranks * ranks, "meets")};
  functor.counter = counter;
  int left_out = 0;
  Kokkos::parallel_reduce("ossatura::bench::count_level", range(exec, num_nodes), functor,
                          left_out);
  if (left_out > 0)
    fail<std::logic_error>(left_out, " nodes are seen by more than ", int(RankList::most),
                           " processes");
  CutCounts found;
  for (const std::int64_t nodes : download(exec, counter.nodes))
    found.most_nodes = std::max(found.most_nodes, nodes);
  for (const std::int64_t ghosts : download(exec, counter.ghosts)) {
    found.most_ghosts = std::max(found.most_ghosts, ghosts);
    found.num_ghosts += ghosts;
  }
  const std::vector<std::uint8_t> meets = download(exec, counter.meets);
  for (std::int64_t r = 0; r < ranks; ++r)
    found.most_neighbours =
        std::max(found.most_neighbours,
                 int(std::count(meets.begin() + r * ranks, meets.begin() + (r + 1) * ranks, 1)));
  return found;
}

} // namespace ossatura::bench
