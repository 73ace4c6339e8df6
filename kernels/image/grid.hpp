// SPDX-License-Identifier: Apache-2.0
// A VoxelGrid numbers the nodes of the solid voxels of an image compactly, along the Morton curve
// of blocks.
//
// The node lattice is cut into blocks of 4 x 4 x 4. Blocks follow the Morton curve, as the nodes of
// ParOSol do [1], [2]; the nodes of a block follow its rows, x fastest, so that a plane of a block
// is a run of memory. A block keeps one bit per node and the number of its first node: a node's
// number is that plus a population count, found without search or hashing. That is 16 bytes per 64
// lattice sites (about 1 byte per node of trabecular bone), read in one load; the paper's hash
// tables take 12 bytes per node and more. The way back, from a number to a site, takes 4 bytes per
// block with nodes and 4 per 64 nodes.
//
// [1] C. Flaig, P. Arbenz. A scalable memory efficient multigrid solver for micro-finite element
//     analyses based on CT images. Parallel Computing 37 (2011) 846-854.
// [2] P. Arbenz, C. Flaig, D. Kellenberger. Bone structure analysis on multiple GPGPUs. J. Parallel
//     Distrib. Comput. 74 (2014) 2941-2950, doi:10.1016/j.jpdc.2014.06.014.
#pragma once

#include <ossatura/core/base/morton.hpp>
#include <ossatura/core/base/vector.hpp>
#include <ossatura/kernels/algebra/ranks/owned_nodes.hpp>
#include <ossatura/kernels/algebra/sorting/keys.hpp>
#include <ossatura/kernels/image/array.hpp>

#include <limits>

namespace ossatura {

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
  std::int32_t zero = 0;  ///< so that all 16 bytes, which kernels load at once, are defined
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
  OwnedNodes owned;                       ///< all, unless the image is cut (cut.hpp)
  Array<detail::NodeBlock, Exec> block;   ///< [product of num_blocks], x fastest
  Array<std::uint32_t, Exec> solid_block; ///< indices into `block` of those with nodes, in order
  Array<int, Exec> block_of_64th;         ///< [i] where in solid_block the node 64 i is

  std::int64_t num_dofs() const { return 3 * std::int64_t(num_nodes); }
  double bytes() const {
    return double(block.extent(0)) * sizeof(detail::NodeBlock) +
           double(solid_block.extent(0)) * sizeof(std::uint32_t) +
           double(block_of_64th.extent(0)) * sizeof(int);
  }

  KOKKOS_FUNCTION Site site(int node) const {
    int s = block_of_64th(node >> 6);
    detail::NodeBlock b = block(solid_block(s));
    while (node >= b.begin + count_ones(b.mask))
      b = block(solid_block(++s));
    const Site corner = block_corner(solid_block(s));
    const int local = select_one(b.mask, node - b.begin);
    return {corner.x + (local & 3), corner.y + (local >> 2 & 3), corner.z + (local >> 4)};
  }

  /// Lowest site of a block.
  KOKKOS_FUNCTION Site block_corner(std::uint32_t i) const {
    const std::uint32_t row = i / std::uint32_t(num_blocks[0]),
                        plane = row / std::uint32_t(num_blocks[1]);
    return {4 * int(i - row * std::uint32_t(num_blocks[0])),
            4 * int(row - plane * std::uint32_t(num_blocks[1])), 4 * int(plane)};
  }

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
template<class Exec, class Image>
struct MarkNodes {
  Image image;
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
    block(i) = {mask, 0, 0};
  }
};

/// Keys of the blocks along the Morton curve.
template<class Exec>
struct ListBlockKeys {
  Kokkos::Array<int, 3> num_blocks;
  Array<std::uint64_t, Exec> key;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    key(i) = morton_key(int(i % num_blocks[0]), int(i / num_blocks[0] % num_blocks[1]),
                        int(i / num_blocks[0] / num_blocks[1]));
  }
};

/// Numbers the blocks with nodes, and their nodes, along the Morton curve of the smallest cube of
/// blocks that holds the lattice. The sum carries blocks in its upper and nodes in its lower half.
template<class Exec>
struct NumberBlocks {
  Kokkos::Array<int, 3> num_blocks;
  Array<NodeBlock, Exec> block;
  Array<std::uint64_t, Exec> listed_key;  ///< ascending; empty: all keys of the cube
  Array<std::uint32_t, Exec> solid_block; ///< empty in the first pass

  KOKKOS_FUNCTION void operator()(std::int64_t place, std::int64_t& sum, bool final) const {
    const std::int64_t key = listed_key.extent(0) > 0 ? std::int64_t(listed_key(place)) : place;
    const int x = morton_coordinate(key, 0), y = morton_coordinate(key, 1),
              z = morton_coordinate(key, 2);
    if (x >= num_blocks[0] || y >= num_blocks[1] || z >= num_blocks[2])
      return;
    const std::int64_t i = x + num_blocks[0] * (y + std::int64_t(num_blocks[1]) * z);
    NodeBlock& b = block(i);
    if (final) {
      b.begin = std::int32_t(sum & 0xffffffff);
      if (b.mask && solid_block.extent(0) > 0)
        solid_block(sum >> 32) = std::uint32_t(i);
    }
    if (b.mask)
      sum += (std::int64_t(1) << 32) + count_ones(b.mask);
  }
};

/// The keys of a box of blocks in a cube of `side` blocks, a power of two, ascending. Fences.
template<class Exec>
Array<std::uint64_t, Exec> sorted_block_keys(const Exec& exec, Kokkos::Array<int, 3> num_blocks,
                                             std::int64_t side) {
  const std::int64_t count = std::int64_t(num_blocks[0]) * num_blocks[1] * num_blocks[2];
  const auto key = make_uninitialized<std::uint64_t>(exec, count, "ossatura::block_keys");
  const auto sorted =
      make_uninitialized<std::uint64_t>(exec, count, "ossatura::block_keys::sorted");
  Kokkos::parallel_for("ossatura::list_block_keys", range(exec, count),
                       ListBlockKeys<Exec>{num_blocks, key});
  Kokkos::deep_copy(exec, sorted, key);
  const Array<int, Exec> order = sorted_order(exec, sorted, 3 * bits_for(side)); // overwrites them
  Kokkos::parallel_for("ossatura::sort_block_keys", range(exec, count),
                       KeysInOrder<Exec, std::uint64_t>{order, key, sorted});
  fence(exec, "ossatura::sort_block_keys");
  return sorted;
}

/// Notes the block of every 64th node.
template<class Exec>
struct FindBlocks {
  Array<NodeBlock, Exec> block;
  Array<std::uint32_t, Exec> solid_block;
  Array<int, Exec> block_of_64th;

  KOKKOS_FUNCTION void operator()(std::int64_t s) const {
    const NodeBlock b = block(solid_block(s));
    const int end = b.begin + count_ones(b.mask);
    for (std::int64_t i = (std::int64_t(b.begin) + 63) / 64; 64 * i < end; ++i)
      block_of_64th(i) = int(s);
  }
};

} // namespace detail

namespace detail {

/// The blocks of a lattice around an image of the given shape, for masks.
template<class Exec>
VoxelGrid<Exec> make_blocks(const Exec& exec, const Kokkos::Array<int, 3>& shape) {
  VoxelGrid<Exec> grid;
  grid.shape = shape;
  std::int64_t num_blocks = 1;
  for (int d = 0; d < 3; ++d) {
    OSSATURA_REQUIRE(shape[d] <= 1 << 20, "an axis of " << shape[d] << " voxels");
    grid.num_blocks[d] = shape[d] / 4 + 1;
    num_blocks *= grid.num_blocks[d];
    OSSATURA_REQUIRE(num_blocks <= std::numeric_limits<std::uint32_t>::max(),
                     "an image of more than 64 * 2^32 voxels");
  }
  grid.block = make_uninitialized<NodeBlock>(exec, num_blocks, "ossatura::node_blocks");
  return grid;
}

/// Numbers the nodes of the masks of a grid, which may be none. Fences.
template<class Exec>
void number_nodes(const Exec& exec, std::int64_t num_elem, VoxelGrid<Exec>& grid) {
  const std::int64_t num_blocks = grid.block.extent(0);
  std::int64_t side = 1;
  for (int d = 0; d < 3; ++d)
    while (side < grid.num_blocks[d])
      side *= 2;
  // The cube around a slender box is mostly empty: there the box's own keys are sorted.
  Array<std::uint64_t, Exec> listed_key;
  std::int64_t num_keys = side * side * side;
  if (num_keys / 64 > num_blocks && num_blocks <= std::numeric_limits<std::int32_t>::max()) {
    listed_key = sorted_block_keys(exec, grid.num_blocks, side);
    num_keys = num_blocks;
  }
  std::int64_t counts = 0;
  const auto number = [&] {
    Kokkos::parallel_scan(
        "ossatura::make_voxel_grid::number", range(exec, num_keys),
        NumberBlocks<Exec>{grid.num_blocks, grid.block, listed_key, grid.solid_block}, counts);
  };
  number();
  const std::int64_t num_nodes = counts & 0xffffffff, num_solid = counts >> 32;
  if (num_nodes > std::numeric_limits<std::int32_t>::max())
    fail<InputError>(num_nodes, " nodes are more than the 2^31 that are taken: crop the image, or "
                                "make its voxels larger");
  grid.num_elem = int(num_elem);
  grid.num_nodes = int(num_nodes);
  grid.owned = own_all(grid.num_nodes);
  grid.solid_block = make_uninitialized<std::uint32_t>(exec, num_solid, "ossatura::solid_blocks");
  number();
  grid.block_of_64th = make_uninitialized<int>(exec, num_nodes / 64 + 1, "ossatura::block_of_64th");
  Kokkos::parallel_for("ossatura::make_voxel_grid::find", range(exec, num_solid),
                       FindBlocks<Exec>{grid.block, grid.solid_block, grid.block_of_64th});
}

/// The grid of the voxels of `image` that are greater than 0, which may be none. An Image has the
/// shape and value_or_void() of a VoxelArray.
template<class Exec, class Image>
VoxelGrid<Exec> make_any_voxel_grid(const Exec& exec, const Image& image) {
  VoxelGrid<Exec> grid = make_blocks(exec, image.shape);
  std::int64_t num_elem = 0;
  Kokkos::parallel_reduce("ossatura::make_voxel_grid::mark", range(exec, grid.block.extent(0)),
                          MarkNodes<Exec, Image>{image, grid.num_blocks, grid.block}, num_elem);
  number_nodes(exec, num_elem, grid);
  return grid;
}

/// Marks the corners of listed voxels.
template<class Exec>
struct MarkCorners {
  Array<std::uint64_t, Exec> site;
  Kokkos::Array<int, 3> num_blocks;
  Array<NodeBlock, Exec> block;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const Site s = unpack_site(site(i));
    for (int v = 0; v < 8; ++v) {
      const int x = s.x + (v & 1), y = s.y + (v >> 1 & 1), z = s.z + (v >> 2);
      std::uint64_t& mask =
          block(x / 4 + num_blocks[0] * (y / 4 + std::int64_t(num_blocks[1]) * (z / 4))).mask;
      const std::uint64_t bit = std::uint64_t(1) << local_index(x, y, z);
      if (!(mask & bit)) // most are set already
        Kokkos::atomic_fetch_or(&mask, bit);
    }
  }
};

/// The grid of listed voxels of an image of the given shape, `site` packed.
template<class Exec>
VoxelGrid<Exec> make_listed_grid(const Exec& exec, const Kokkos::Array<int, 3>& shape,
                                 const Array<std::uint64_t, Exec>& site) {
  VoxelGrid<Exec> grid = make_blocks(exec, shape);
  Kokkos::deep_copy(exec, grid.block, NodeBlock());
  Kokkos::parallel_for("ossatura::make_listed_grid", range(exec, site.extent(0)),
                       MarkCorners<Exec>{site, grid.num_blocks, grid.block});
  number_nodes(exec, std::int64_t(site.extent(0)), grid);
  return grid;
}

} // namespace detail

/// The grid of the voxels of `image` that are greater than 0. Throws std::invalid_argument if there
/// is none, InputError if the nodes are too many for 32-bit numbers. Fences.
template<class Exec>
VoxelGrid<Exec> make_voxel_grid(const Exec& exec, const VoxelArray<Exec>& image) {
  const VoxelGrid<Exec> grid = detail::make_any_voxel_grid(exec, image);
  OSSATURA_REQUIRE(grid.num_elem > 0, "the image has no voxel greater than 0");
  return grid;
}

namespace detail {
/// Writes the sites of the nodes of a block.
template<class Exec>
struct ListSites {
  VoxelGrid<Exec> grid;
  Array<std::uint64_t, Exec> packed_site;

  KOKKOS_FUNCTION void operator()(std::int64_t s) const {
    const NodeBlock b = grid.block(grid.solid_block(s));
    const Site corner = grid.block_corner(grid.solid_block(s));
    int node = b.begin;
    for (int local = 0; local < 64; ++local)
      if (b.mask >> local & 1)
        packed_site(node++) =
            pack_site(corner.x + (local & 3), corner.y + (local >> 2 & 3), corner.z + (local >> 4));
  }
};
} // namespace detail

/// [num_nodes] packed sites of all nodes (detail::unpack_site). Does not fence.
template<class Exec>
Array<std::uint64_t, Exec> list_sites(const Exec& exec, const VoxelGrid<Exec>& grid) {
  const Array<std::uint64_t, Exec> packed =
      make_uninitialized<std::uint64_t>(exec, grid.num_nodes, "ossatura::node_sites");
  Kokkos::parallel_for("ossatura::list_sites", range(exec, grid.solid_block.extent(0)),
                       detail::ListSites<Exec>{grid, packed});
  return packed;
}

namespace detail {
template<class Exec, class Image>
struct RestrictToGrid {
  VoxelGrid<Exec> grid;
  Image image;
  Array<float, Exec> value;

  KOKKOS_FUNCTION void operator()(std::int64_t node) const {
    const Site s = grid.site(int(node));
    value(node) = image.value_or_void(s.x, s.y, s.z);
  }
};
} // namespace detail

/// The values of an image at the voxels of a grid, kept at the voxel's lowest corner:
/// result(find(x, y, z)) = image(x, y, z), and 0 for the nodes that are no voxel's lowest corner.
/// An Image has the value_or_void() of a VoxelArray. Does not fence.
template<class Exec, class Image>
Array<float, Exec> restrict_to_grid(const Exec& exec, const VoxelGrid<Exec>& grid,
                                    const Image& image) {
  Array<float, Exec> value =
      make_uninitialized<float>(exec, grid.num_nodes, "ossatura::voxel_values");
  Kokkos::parallel_for("ossatura::restrict_to_grid", range(exec, grid.num_nodes),
                       detail::RestrictToGrid<Exec, Image>{grid, image, value});
  return value;
}

namespace detail {
template<class Exec>
struct CountElements {
  Array<float, Exec> solid;
  KOKKOS_FUNCTION void operator()(std::int64_t node, std::int64_t& sum) const {
    sum += solid(node) > 0;
  }
};

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

/// Lowest corners of the voxels, in node order: node numbers, for which `solid` > 0; those that are
/// owned. `solid` is an array over nodes as `restrict_to_grid` makes. Fences.
template<class Exec>
Array<int, Exec> list_elements(const Exec& exec, const VoxelGrid<Exec>& grid,
                               const Array<float, Exec>& solid) {
  const auto owned = range(exec, grid.owned.begin, grid.owned.end);
  std::int64_t count = 0;
  Kokkos::parallel_reduce("ossatura::list_elements::count", owned,
                          detail::CountElements<Exec>{solid}, count);
  Array<int, Exec> element = make_uninitialized<int>(exec, count, "ossatura::elements");
  Kokkos::parallel_scan("ossatura::list_elements", owned,
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
  Array<int, Exec> corner = make_uninitialized<int>(exec, 8 * n, "ossatura::corners");
  Kokkos::parallel_for("ossatura::list_corners", range(exec, n),
                       detail::ListCorners<Exec>{grid, element, corner});
  return corner;
}

} // namespace ossatura
