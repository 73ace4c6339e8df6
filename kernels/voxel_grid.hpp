// SPDX-License-Identifier: BSD-3-Clause
// The nodes of the solid voxels of an image, numbered compactly along the Morton curve of blocks.
//
// The node lattice is cut into blocks of 4 x 4 x 4. Blocks follow the Morton curve, as the nodes of
// ParOSol do [1], [2]; the nodes of a block follow its rows, x fastest, so that a plane of a block
// is a run of memory. A block keeps one bit per node and the number of its first node: a node's
// number is that plus a population count, found without search or hashing. That is 16 bytes per 64
// lattice sites (about 1 byte per node of trabecular bone), read in one load; the paper's hash
// tables take 12 bytes per node and more.
//
// [1] C. Flaig, P. Arbenz. A scalable memory efficient multigrid solver for micro-finite element
//     analyses based on CT images. Parallel Computing 37 (2011) 846-854.
// [2] P. Arbenz, C. Flaig, D. Kellenberger. Bone structure analysis on multiple GPGPUs. J. Parallel
//     Distrib. Comput. 74 (2014) 2941-2950, doi:10.1016/j.jpdc.2014.06.014.
#pragma once

#include "core/morton.hpp"
#include "core/vector.hpp"
#include "kernels/voxel_array.hpp"

#include <limits>

namespace femura {

/// Lattice coordinates of a node or voxel.
struct Site {
  int x, y, z;
};

namespace detail {
/// 21 bits for each coordinate.
KOKKOS_INLINE_FUNCTION std::uint64_t pack_site(int x, int y, int z) {
  return std::uint64_t(x) | std::uint64_t(y) << 21 | std::uint64_t(z) << 42;
}
KOKKOS_INLINE_FUNCTION Site unpack_site(std::uint64_t packed) {
  constexpr std::uint64_t low = (1u << 21) - 1;
  return {int(packed & low), int(packed >> 21 & low), int(packed >> 42)};
}

/// Place of a site within its block.
KOKKOS_INLINE_FUNCTION int local_index(int x, int y, int z) {
  return (x & 3) + 4 * (y & 3) + 16 * (z & 3);
}

/// 4 x 4 x 4 lattice nodes: bit i of `mask` is the node with local index i.
struct alignas(16) NodeBlock {
  std::uint64_t mask = 0;
  std::int32_t begin = 0; ///< number of the first node of the block
};
} // namespace detail

/// Sorts sites in the order of their node numbers: blocks along the Morton curve, rows within.
KOKKOS_INLINE_FUNCTION std::uint64_t node_order(int x, int y, int z) {
  return 64 * morton_key(x / 4, y / 4, z / 4) + std::uint64_t(detail::local_index(x, y, z));
}

/// One level: nodes (corners of solid voxels) and, for each, where it lies. A voxel is named by its
/// lowest corner, which has the smallest number among its eight nodes.
template<class Exec>
struct VoxelGrid {
  using exec_space = Exec;
  Kokkos::Array<int, 3> shape{};      ///< voxels along x, y, z
  Kokkos::Array<int, 3> num_blocks{}; ///< blocks of the node lattice along x, y, z
  int num_nodes = 0;
  int num_elem = 0;
  Array<detail::NodeBlock, Exec> block;   ///< [product of num_blocks], x fastest
  Array<std::uint64_t, Exec> packed_site; ///< [num_nodes]

  std::int64_t num_dofs() const { return 3 * std::int64_t(num_nodes); }

  KOKKOS_FUNCTION Site site(int node) const { return detail::unpack_site(packed_site(node)); }

  /// Number of the node at (x, y, z); -1 if there is none there or the place is off the lattice.
  KOKKOS_FUNCTION int find(int x, int y, int z) const {
    if (x < 0 || y < 0 || z < 0 || x > shape[0] || y > shape[1] || z > shape[2])
      return -1;
    const detail::NodeBlock b =
        block(x / 4 + num_blocks[0] * (y / 4 + std::int64_t(num_blocks[1]) * (z / 4)));
    const std::uint64_t bit = std::uint64_t(1) << detail::local_index(x, y, z);
    return b.mask & bit ? b.begin + count_ones(b.mask & (bit - 1)) : -1;
  }
};

namespace detail {

/// Marks the corners of solid voxels in each block.
template<class Exec>
struct MarkNodes {
  VoxelArray<Exec> image;
  Kokkos::Array<int, 3> num_blocks;
  Array<NodeBlock, Exec> block;

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& solid) const {
    const int bx = 4 * int(i % num_blocks[0]);
    const int by = 4 * int(i / num_blocks[0] % num_blocks[1]);
    const int bz = 4 * int(i / num_blocks[0] / num_blocks[1]);
    std::uint64_t mask = 0;
    // The voxel (x, y, z) touches the nodes (x, y, z) .. (x + 1, y + 1, z + 1).
    for (int z = -1; z < 4; ++z)
      for (int y = -1; y < 4; ++y)
        for (int x = -1; x < 4; ++x) {
          if (!(image.value_or_void(bx + x, by + y, bz + z) > 0))
            continue;
          solid += x >= 0 && y >= 0 && z >= 0;
          for (int corner = 0; corner < 8; ++corner) {
            const int cx = x + (corner & 1), cy = y + (corner >> 1 & 1), cz = z + (corner >> 2);
            if (cx >= 0 && cy >= 0 && cz >= 0 && cx < 4 && cy < 4 && cz < 4)
              mask |= std::uint64_t(1) << local_index(cx, cy, cz);
          }
        }
    block(i).mask = mask;
  }
};

/// Numbers the blocks along the Morton curve of the smallest cube of blocks that holds the lattice.
template<class Exec>
struct NumberBlocks {
  Kokkos::Array<int, 3> num_blocks;
  Array<NodeBlock, Exec> block;

  KOKKOS_FUNCTION void operator()(std::int64_t key, std::int64_t& sum, bool final) const {
    const int x = morton_coordinate(key, 0), y = morton_coordinate(key, 1),
              z = morton_coordinate(key, 2);
    if (x >= num_blocks[0] || y >= num_blocks[1] || z >= num_blocks[2])
      return;
    NodeBlock& b = block(x + num_blocks[0] * (y + std::int64_t(num_blocks[1]) * z));
    if (final)
      b.begin = std::int32_t(sum);
    sum += count_ones(b.mask);
  }
};

/// Writes the site of each node of a block.
template<class Exec>
struct ListSites {
  Kokkos::Array<int, 3> num_blocks;
  Array<NodeBlock, Exec> block;
  Array<std::uint64_t, Exec> packed_site;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const NodeBlock b = block(i);
    const int bx = 4 * int(i % num_blocks[0]);
    const int by = 4 * int(i / num_blocks[0] % num_blocks[1]);
    const int bz = 4 * int(i / num_blocks[0] / num_blocks[1]);
    int node = b.begin;
    for (int local = 0; local < 64; ++local)
      if (b.mask >> local & 1)
        packed_site(node++) = pack_site(bx + (local & 3), by + (local >> 2 & 3), bz + (local >> 4));
  }
};

} // namespace detail

/// The grid of the voxels of `image` that are greater than 0. Throws std::invalid_argument if there
/// is none, or if the nodes are too many for 32-bit numbers. Fences.
template<class Exec>
VoxelGrid<Exec> make_voxel_grid(const Exec& exec, const VoxelArray<Exec>& image) {
  VoxelGrid<Exec> grid;
  grid.shape = image.shape;
  std::int64_t num_blocks = 1, side = 1;
  for (int d = 0; d < 3; ++d) {
    FEMURA_REQUIRE(image.shape[d] < 1 << 20, "an axis of " << image.shape[d] << " voxels");
    grid.num_blocks[d] = image.shape[d] / 4 + 1;
    num_blocks *= grid.num_blocks[d];
    while (side < grid.num_blocks[d])
      side *= 2;
  }
  grid.block = make_uninitialized<detail::NodeBlock>(exec, num_blocks, "femura::node_blocks");

  std::int64_t num_elem = 0, num_nodes = 0;
  Kokkos::parallel_reduce("femura::make_voxel_grid::mark", range(exec, num_blocks),
                          detail::MarkNodes<Exec>{image, grid.num_blocks, grid.block}, num_elem);
  FEMURA_REQUIRE(num_elem > 0, "the image has no voxel greater than 0");
  Kokkos::parallel_scan("femura::make_voxel_grid::number", range(exec, side * side * side),
                        detail::NumberBlocks<Exec>{grid.num_blocks, grid.block}, num_nodes);
  FEMURA_REQUIRE(num_nodes <= std::numeric_limits<std::int32_t>::max(),
                 num_nodes << " nodes are more than 32-bit node numbers hold");
  grid.num_elem = int(num_elem);
  grid.num_nodes = int(num_nodes);
  grid.packed_site = make_uninitialized<std::uint64_t>(exec, num_nodes, "femura::node_sites");
  Kokkos::parallel_for("femura::make_voxel_grid::sites", range(exec, num_blocks),
                       detail::ListSites<Exec>{grid.num_blocks, grid.block, grid.packed_site});
  return grid;
}

namespace detail {
template<class Exec>
struct RestrictToGrid {
  VoxelGrid<Exec> grid;
  VoxelArray<Exec> image;
  Array<float, Exec> value;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    value(node) = image.value_or_void(s.x, s.y, s.z);
  }
};
} // namespace detail

/// The values of an image at the voxels of a grid, kept at the voxel's lowest corner:
/// result(find(x, y, z)) = image(x, y, z), and 0 for the nodes that are no voxel's lowest corner.
/// Does not fence.
template<class Exec>
Array<float, Exec> restrict_to_grid(const Exec& exec, const VoxelGrid<Exec>& grid,
                                    const VoxelArray<Exec>& image) {
  Array<float, Exec> value =
      make_uninitialized<float>(exec, grid.num_nodes, "femura::voxel_values");
  Kokkos::parallel_for("femura::restrict_to_grid", range(exec, grid.num_nodes),
                       detail::RestrictToGrid<Exec>{grid, image, value});
  return value;
}

namespace detail {
template<class Exec>
struct ListElements {
  Array<float, Exec> solid;
  Array<int, Exec> element;

  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& sum, bool final) const {
    if (!(solid(node) > 0))
      return;
    if (final)
      element(sum) = int(node);
    ++sum;
  }
};
} // namespace detail

/// Lowest corners of the voxels, in node order: [num_elem] node numbers, for which `solid` > 0.
/// `solid` is an array over nodes as `restrict_to_grid` makes. Does not fence.
template<class Exec>
Array<int, Exec> list_elements(const Exec& exec, const VoxelGrid<Exec>& grid,
                               const Array<float, Exec>& solid) {
  Array<int, Exec> element = make_uninitialized<int>(exec, grid.num_elem, "femura::elements");
  Kokkos::parallel_scan("femura::list_elements", range(exec, grid.num_nodes),
                        detail::ListElements<Exec>{solid, element});
  return element;
}

namespace detail {
template<class Exec>
struct ListCorners {
  VoxelGrid<Exec> grid;
  Array<int, Exec> element;
  Array<int, Exec> corner;

  KOKKOS_FUNCTION void operator()(std::int64_t e) const {
    const Site s = grid.site(element(e));
    for (int v = 0; v < 8; ++v)
      corner(8 * e + v) = grid.find(s.x + (v & 1), s.y + (v >> 1 & 1), s.z + (v >> 2));
  }
};
} // namespace detail

/// [8 num_elem] nodes of each voxel of `element`, corner v at (v & 1, v >> 1 & 1, v >> 2): the
/// corner order of VTK_VOXEL. Does not fence.
template<class Exec>
Array<int, Exec> list_corners(const Exec& exec, const VoxelGrid<Exec>& grid,
                              const Array<int, Exec>& element) {
  const std::int64_t n = element.extent(0);
  Array<int, Exec> corner = make_uninitialized<int>(exec, 8 * n, "femura::corners");
  Kokkos::parallel_for("femura::list_corners", range(exec, n),
                       detail::ListCorners<Exec>{grid, element, corner});
  return corner;
}

} // namespace femura
