// SPDX-License-Identifier: Apache-2.0
// Voxels of one colour share no node, so that they add to nodes side by side without atomics and in
// a fixed order: sums have the same bits for any number of threads.
//
// Cores take a block of 4 x 4 x 4 lowest corners a thread; blocks that agree in the parity of their
// coordinates are of one colour. Devices take a voxel a thread; there the parity is that of voxels.
#pragma once

#include <ossatura/kernels/algebra/upload.hpp>
#include <ossatura/kernels/image/grid.hpp>

#include <array>
#include <vector>

namespace ossatura {

/// The blocks of a grid by colour: colour k is block[begin[k]] .. block[begin[k + 1]]. On devices
/// every block has voxels of all eight.
template<class Exec>
struct VoxelColours {
  Array<std::uint32_t, Exec> block; ///< indices into VoxelGrid::block
  std::array<std::int64_t, 9> begin{};
};

/// Fences.
template<class Exec>
VoxelColours<Exec> make_voxel_colours(const Exec& exec, const VoxelGrid<Exec>& grid) {
  VoxelColours<Exec> colours;
  if constexpr (BackendTraits<Exec>::is_device) {
    colours.block = grid.solid_block;
    return colours;
  } else {
    std::array<std::vector<std::uint32_t>, 8> of_colour;
    for (const std::uint32_t i : download(exec, grid.solid_block)) {
      const Site s = grid.block_corner(i);
      of_colour[std::size_t((s.x / 4 & 1) + 2 * (s.y / 4 & 1) + 4 * (s.z / 4 & 1))].push_back(i);
    }
    std::vector<std::uint32_t> blocks;
    for (std::size_t k = 0; k < 8; ++k) {
      blocks.insert(blocks.end(), of_colour[k].begin(), of_colour[k].end());
      colours.begin[k + 1] = std::int64_t(blocks.size());
    }
    colours.block = upload(exec, "ossatura::voxel_colours", blocks);
    return colours;
  }
}

namespace detail {

/// visit(node, site) for the nodes of a block.
template<class Exec, class Visit>
struct VisitBlocks {
  VoxelGrid<Exec> grid;
  Array<std::uint32_t, Exec> list;
  std::int64_t first;
  Visit visit;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint32_t index = list(first + i);
    const NodeBlock block = grid.block(index);
    const Site corner = grid.block_corner(index);
    int node = block.begin;
    for (int local = 0; local < 64; ++local)
      if (block.mask >> local & 1)
        visit(node++,
              Site{corner.x + (local & 3), corner.y + (local >> 2 & 3), corner.z + (local >> 4)});
  }
};

/// visit(node, site) for one node of a colour: there are eight in each block.
template<class Exec, class Visit>
struct VisitVoxels {
  VoxelGrid<Exec> grid;
  Array<std::uint32_t, Exec> list;
  int colour;
  Visit visit;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    const std::uint32_t index = list(i / 8);
    const NodeBlock block = grid.block(index);
    const int place = int(i % 8);
    const int x = (colour & 1) + 2 * (place & 1), y = (colour >> 1 & 1) + 2 * (place >> 1 & 1),
              z = (colour >> 2) + 2 * (place >> 2), local = local_index(x, y, z);
    if (!(block.mask >> local & 1))
      return;
    const Site corner = grid.block_corner(index);
    visit(block.begin + count_ones(block.mask & ((std::uint64_t(1) << local) - 1)),
          Site{corner.x + x, corner.y + y, corner.z + z});
  }
};

} // namespace detail

/// visit(int node, Site) for every node, as the lowest corner that it may be; visits of one colour
/// run side by side, colours one after the other. Does not fence.
template<class Exec, class Visit>
void for_each_lowest_corner(const Exec& exec, const char* label, const VoxelGrid<Exec>& grid,
                            const VoxelColours<Exec>& colours, const Visit& visit) {
  for (int colour = 0; colour < 8; ++colour) {
    if constexpr (BackendTraits<Exec>::is_device) {
      Kokkos::parallel_for(label, range(exec, 8 * std::int64_t(colours.block.extent(0))),
                           detail::VisitVoxels<Exec, Visit>{grid, colours.block, colour, visit});
    } else {
      const std::int64_t begin = colours.begin[std::size_t(colour)],
                         count = colours.begin[std::size_t(colour) + 1] - begin;
      if (count > 0)
        Kokkos::parallel_for(label,
                             Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>,
                                                 Kokkos::IndexType<std::int64_t>>(exec, 0, count),
                             detail::VisitBlocks<Exec, Visit>{grid, colours.block, begin, visit});
    }
  }
}

} // namespace ossatura
