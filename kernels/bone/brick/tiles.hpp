// SPDX-License-Identifier: Apache-2.0
// Brick tiles are the runs of planes that the brick operator (operator.hpp) marches through:
// a window of columns of nodes, and the planes of it that hold any.
#pragma once

#include <ossatura/kernels/image/grid.hpp>

namespace ossatura {

namespace detail {

/// A tile has 8 x 8 columns of elements, one more each way than columns of nodes that it finishes:
/// large tiles repeat less at their seams, small ones waste less on void; docs/performance/bone.md
/// has the choices measured.
struct BrickShape {
  static constexpr int columns_x = 8, columns_y = 8;
  static constexpr int planes = 32; ///< of nodes per tile, at most 64
};

/// A run of node planes of one tile column.
struct alignas(16) BrickTile {
  int x, y;           ///< first node that the tile finishes; its elements begin one column below
  int z_begin, z_end; ///< node planes to finish
};

/// Lists the runs of planes that hold nodes of a tile column; writes them in the second pass.
template<class Exec>
struct ListTiles {
  VoxelGrid<Exec> grid;
  int step_x, step_y, planes; ///< nodes that a tile finishes
  int tiles_x, tiles_y;
  bool write;
  Array<BrickTile, Exec> tile;

  /// Bit i: the plane z + i of the tile's window holds an owned node. A block of nodes is owned as
  /// a whole or not at all.
  KOKKOS_FUNCTION std::uint64_t occupied_planes(int x, int y, int z) const {
    const int x_end = Kokkos::min(x + step_x, grid.shape[0] + 1),
              y_end = Kokkos::min(y + step_y, grid.shape[1] + 1),
              z_end = Kokkos::min(z + planes, grid.shape[2] + 1);
    std::uint64_t occupied = 0;
    for (int by = y / 4; by <= (y_end - 1) / 4; ++by)
      for (int bx = x / 4; bx <= (x_end - 1) / 4; ++bx) {
        std::uint64_t window = 0;
        for (int ly = Kokkos::max(y - 4 * by, 0); ly < Kokkos::min(y_end - 4 * by, 4); ++ly)
          for (int lx = Kokkos::max(x - 4 * bx, 0); lx < Kokkos::min(x_end - 4 * bx, 4); ++lx)
            window |= std::uint64_t(1) << (lx + 4 * ly);
        for (int bz = z / 4; bz <= (z_end - 1) / 4; ++bz) {
          const NodeBlock b =
              grid.block(bx + grid.num_blocks[0] * (by + std::int64_t(grid.num_blocks[1]) * bz));
          const std::uint64_t mask = grid.owned.has(b.begin) ? b.mask : 0;
          for (int lz = 0; lz < 4; ++lz)
            if (mask >> 16 * lz & window)
              occupied |= std::uint64_t(1) << (4 * bz + lz - z);
        }
      }
    return occupied;
  }

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum, bool final) const {
    const int x = step_x * int(i % tiles_x), y = step_y * int(i / tiles_x % tiles_y),
              z = planes * int(i / tiles_x / tiles_y);
    const std::uint64_t occupied = occupied_planes(x, y, z);
    int begin = 0;
    while (begin < planes) {
      if (!(occupied >> begin & 1)) {
        ++begin;
        continue;
      }
      // A new run costs a layer and the time to fill the pipeline, so it takes a gap to start one.
      int end = begin + 1;
      for (int plane = end; plane < planes && plane < end + 3; ++plane)
        if (occupied >> plane & 1)
          end = plane + 1;
      if (final && write)
        tile(sum) = {x, y, z + begin, z + end};
      ++sum;
      begin = end;
    }
  }
};

} // namespace detail

} // namespace ossatura
