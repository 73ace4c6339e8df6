// SPDX-License-Identifier: Apache-2.0
// Processes share an image by its planes until it is cut among them: they read or make their own,
// count the nodes of superblocks, and hand each other the voxels that they see of the cut.
#pragma once

#include <ossatura/kernels/image/voxel_ranks.hpp>

namespace ossatura {

/// Planes are shared in multiples of so many, a power of two: few enough that each rank has some,
/// unless there are too few.
inline int plane_unit(const Communicator& comm, int num_planes) {
  int unit = 8;
  while (unit < 64 && 8 * unit * comm.size() <= num_planes)
    unit *= 2;
  return unit;
}

/// Those of this rank, in the order of ranks; some may have none.
inline ImagePlanes planes_of_rank(const Communicator& comm, int num_planes) {
  const int unit = plane_unit(comm, num_planes);
  const RankPart part = part_of_rank(comm, (num_planes + unit - 1) / unit);
  return {std::min(num_planes, int(part.begin) * unit), std::min(num_planes, int(part.end) * unit)};
}

namespace detail {

/// Planes with the one below them, which another process has.
template<class Exec>
struct PlanesAndBelow {
  VoxelArray<Exec> image;
  Array<float, Exec> below; ///< [nx * ny], or empty
  Kokkos::Array<int, 3> shape = image.shape;

  KOKKOS_FUNCTION float value_or_void(int x, int y, int z) const {
    if (z != image.first_plane - 1)
      return image.value_or_void(x, y, z);
    const bool inside = x >= 0 && y >= 0 && x < shape[0] && y < shape[1] && below.extent(0) > 0;
    return inside ? below(x + std::int64_t(shape[0]) * y) : 0.0f;
  }
};

/// By all. Fences.
template<class Exec>
PlanesAndBelow<Exec> join_plane_below(const Exec& exec, const Communicator& comm,
                                      const VoxelArray<Exec>& image) {
  const ImagePlanes planes = image.planes();
  const std::vector<ImagePlanes> all = comm.gather(planes);
  std::vector<std::vector<float>> to(all.size());
  const std::size_t size = std::size_t(image.shape[0]) * std::size_t(image.shape[1]);
  for (std::size_t rank = 0; planes.count() > 0 && rank < all.size(); ++rank)
    if (all[rank].count() > 0 && all[rank].begin == planes.end)
      to[rank] = download(
          exec, Array<float, Exec>(image.value.data() + image.index(0, 0, planes.end - 1), size));
  PlanesAndBelow<Exec> joined{image, {}};
  for (const std::vector<float>& plane : comm.exchange(to))
    if (!plane.empty())
      joined.below = upload(exec, "ossatura::plane_below", plane);
  return joined;
}

/// Superblocks of all processes, which have nodes of one in several lists.
inline std::vector<SuperblockNodes> merge_superblocks(std::vector<SuperblockNodes> listed) {
  std::sort(listed.begin(), listed.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  std::vector<SuperblockNodes> merged;
  for (const SuperblockNodes& s : listed)
    if (!merged.empty() && merged.back().key == s.key)
      merged.back().nodes += s.nodes;
    else
      merged.push_back(s);
  return merged;
}

} // namespace detail

/// An image whose planes the ranks of `comm` share (planes_of_rank), cut among them; the plan is
/// still empty. Superblocks have 2^bits voxels a side; 0 chooses the least for which those with
/// nodes are few, so that every process may have all of a level of as many places. By all. Fences.
template<class Exec>
VoxelRanks<Exec> cut_among(const Exec& exec, const DeviceComm<Exec>& device_comm,
                           const VoxelArray<Exec>& solid, int bits = 0) {
  constexpr std::int64_t most = BackendTraits<Exec>::is_device ? 200'000 : 10'000;
  const Communicator& comm = device_comm.communicator();
  const auto image = detail::join_plane_below(exec, comm, solid);
  const VoxelGrid<Exec> grid =
      together(comm, [&] { return detail::make_any_voxel_grid(exec, image); });
  // A node belongs to the process with the plane of voxels above it, the last ones to the last.
  const ImagePlanes planes = solid.planes();
  ImagePlanes blocks{planes.begin / 4, planes.end / 4};
  if (planes.count() == 0)
    blocks.end = blocks.begin;
  else if (planes.end == solid.shape[2])
    blocks.end = grid.num_blocks[2];
  std::vector<SuperblockNodes> superblocks;
  const auto count = [&] {
    superblocks =
        detail::merge_superblocks(comm.gather(count_superblock_nodes(exec, grid, blocks, bits)));
    return std::int64_t(superblocks.size());
  };
  const auto may_be_few = [&] {  // lists are gathered where they are not long
    const std::int64_t sharing = // processes that may have nodes of one superblock
        std::max<std::int64_t>(1, (1 << bits) / plane_unit(comm, solid.shape[2]));
    return comm.sum(count_superblocks(exec, grid, blocks, bits)) <= sharing * most;
  };
  constexpr int most_bits = 10;
  const bool chooses = bits == 0;
  if (chooses)
    bits = 2;
  while (chooses && bits < most_bits && !(may_be_few() && count() <= most))
    ++bits;
  if (!chooses || bits == most_bits)
    count();
  OSSATURA_REQUIRE(!superblocks.empty(), "the image has no voxel greater than 0");
  VoxelRanks<Exec> ranks{device_comm, {}, {}, {}};
  ranks.cut = make_voxel_cut(bits, solid.shape, superblocks, comm.size());
  ranks.table = make_cut_table(exec, ranks.cut, ranks.rank());
  return ranks;
}

/// Solid voxels in any order, with the values of one or two images.
template<class Exec>
struct VoxelList {
  Array<std::uint64_t, Exec> site; ///< packed (detail::pack_site)
  Array<float, Exec> first;        ///< or empty
  Array<float, Exec> solid;        ///< greater than 0
};

namespace detail {

/// Lists the solid voxels that the rank of the table sees.
template<class Exec>
struct ListVisible {
  CutTable<Exec> table;
  VoxelArray<Exec> first, solid; ///< first: or without values
  std::int64_t begin;            ///< in the list
  VoxelList<Exec> list;          ///< empty: counts alone

  KOKKOS_FUNCTION void operator()(std::int64_t i, std::int64_t& sum, bool final) const {
    if (!(solid.value(i) > 0))
      return;
    const std::int64_t row = i / solid.shape[0];
    const int x = int(i - row * solid.shape[0]), y = int(row % solid.shape[1]),
              z = solid.first_plane + int(row / solid.shape[1]);
    if (!table.is_near(x, y, z, 1, cut_halo, false))
      return;
    if (final && list.site.extent(0) > 0) {
      list.site(begin + sum) = pack_site(x, y, z);
      list.solid(begin + sum) = solid.value(i);
      if (list.first.extent(0) > 0)
        list.first(begin + sum) = first.value(i);
    }
    ++sum;
  }
};

template<class Exec>
VoxelList<Exec> make_voxel_list(const Exec& exec, std::int64_t count, bool has_first) {
  return {make_uninitialized<std::uint64_t>(exec, count, "ossatura::voxel_list::site"),
          make_uninitialized<float>(exec, has_first ? count : 0, "ossatura::voxel_list::first"),
          make_uninitialized<float>(exec, count, "ossatura::voxel_list::solid")};
}

} // namespace detail

/// The voxels that this process sees of an image that is cut, from planes that all share. `first`
/// has the other value of a voxel, or none; `has_first` is the same on all. By all. Fences.
template<class Exec>
VoxelList<Exec> hand_over_voxels(const Exec& exec, const VoxelRanks<Exec>& ranks,
                                 const VoxelArray<Exec>& first, const VoxelArray<Exec>& solid,
                                 bool has_first) {
  const Communicator& comm = ranks.comm.communicator();
  const int size = comm.size(), mine = comm.rank();
  const auto list_for = [&](int rank, std::int64_t begin, const VoxelList<Exec>& list) {
    detail::ListVisible<Exec> kernel{ranks.table, first, solid, begin, list};
    kernel.table.rank = rank;
    std::int64_t count = 0;
    Kokkos::parallel_scan("ossatura::hand_over_voxels", range(exec, solid.num_voxels()), kernel,
                          count);
    return count;
  };
  std::vector<std::int64_t> counts; // for each rank
  std::int64_t sent = 0, received = 0;
  for (int rank = 0; rank < size; ++rank) {
    counts.push_back(list_for(rank, 0, {}));
    sent += rank == mine ? 0 : counts.back();
  }
  const std::vector<std::int64_t> of_all = comm.gather(counts); // [from, to]
  std::vector<RankMessage> sends, receives;
  received = counts[std::size_t(mine)]; // own ones come first
  VoxelList<Exec> out = detail::make_voxel_list(exec, sent, has_first);
  std::int64_t begin = 0;
  for (int rank = 0; rank < size; ++rank) {
    if (rank == mine)
      continue;
    if (const std::int64_t count = counts[std::size_t(rank)]; count > 0) {
      sends.push_back({rank, begin, count});
      begin += list_for(rank, begin, out);
    }
    if (const std::int64_t count = of_all[std::size_t(rank * size + mine)]; count > 0) {
      receives.push_back({rank, received, count});
      received += count;
    }
  }
  const VoxelList<Exec> seen = detail::make_voxel_list(exec, received, has_first);
  if (counts[std::size_t(mine)] > 0)
    list_for(mine, 0, seen);
  ranks.comm.exchange(exec, out.site, sends, seen.site, receives);
  ranks.comm.exchange(exec, out.solid, sends, seen.solid, receives);
  if (has_first)
    ranks.comm.exchange(exec, out.first, sends, seen.first, receives);
  fence(exec, "ossatura::hand_over_voxels");
  return seen;
}

} // namespace ossatura
