// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/output/field_mesh.hpp"

#include <algorithm>
#include <array>

namespace ossatura {

namespace {

constexpr int side = 4; ///< of a block, in nodes

/// Numbers of the nodes about a block: those of its sites, and of the sites behind it along each
/// axis, which are corners of its voxels, too. Where there is no node the number means nothing.
class NodesAbout {
public:
  /// `block(x, y, z)` is the block so many behind the one in question, null where the grid ends.
  template<class Find>
  void set(const Find& block) {
    for (int b = 0; b < 8; ++b) {
      const int x = b & 1, y = b >> 1 & 1, z = b >> 2;
      const detail::NodeBlock* from = block(x, y, z);
      if (from == nullptr)
        continue;
      for (int k = 0; k < (z ? 1 : side); ++k)
        for (int j = 0; j < (y ? 1 : side); ++j)
          for (int i = 0; i < (x ? 1 : side); ++i) {
            const std::uint64_t bit = std::uint64_t(1) << detail::local_index(i, j, k);
            number_[place(side * x + i, side * y + j, side * z + k)] =
                from->begin + count_ones(from->mask & (bit - 1));
          }
    }
  }
  void list_corners(int local, int* corners) const {
    const int* lowest = &number_[place(local & 3, local >> 2 & 3, local >> 4)];
    for (int v = 0; v < 8; ++v)
      corners[v] = lowest[place(v & 1, v >> 1 & 1, v >> 2)];
  }

private:
  static constexpr std::size_t place(int x, int y, int z) {
    return std::size_t(x + (side + 1) * (y + (side + 1) * z));
  }
  std::array<int, (side + 1) * (side + 1) * (side + 1)> number_{};
};

} // namespace

void place_sites(const LatticePlace& place, const std::uint64_t* sites, std::size_t count,
                 double* points) {
  for (std::size_t node = 0; node < count; ++node) {
    const Site s = detail::unpack_site(sites[node]);
    points[3 * node] = place.edge * s.x;
    points[3 * node + 1] = place.edge * s.y;
    points[3 * node + 2] = place.edge * s.z;
  }
  if (!is_identity(place.direction))
    turn_vectors(place.direction, points, count, points);
  for (std::size_t i = 0; i < 3 * count; ++i)
    points[i] += place.origin[i % 3];
}

/// The place in the list of those with nodes of the block that has the node.
std::size_t FieldMesh::block_of(int node) const {
  const auto behind = std::upper_bound(
      solid_block_.begin(), solid_block_.end(), node,
      [&](int number, std::uint32_t block) { return number < block_[block].begin; });
  return std::size_t(behind - solid_block_.begin()) - 1;
}

/// In blocks.
Site FieldMesh::place_of(std::uint32_t block) const {
  const std::uint32_t row = block / std::uint32_t(shape_[0]);
  return {int(block % std::uint32_t(shape_[0])), int(row % std::uint32_t(shape_[1])),
          int(row / std::uint32_t(shape_[1]))};
}

const detail::NodeBlock* FieldMesh::find_block(int x, int y, int z) const {
  return x < shape_[0] && y < shape_[1] && z < shape_[2]
             ? &block_[std::size_t(x) +
                       std::size_t(shape_[0]) *
                           (std::size_t(y) + std::size_t(shape_[1]) * std::size_t(z))]
             : nullptr;
}

void FieldMesh::make_points(std::uint64_t first, std::uint64_t count, double* points) const {
  if (count == 0)
    return;
  const int end = int(first + count);
  std::vector<std::uint64_t> sites;
  sites.reserve(std::size_t(count));
  for (std::size_t s = block_of(int(first)); sites.size() < count; ++s) {
    const std::uint32_t number = solid_block_[s];
    const Site at = place_of(number);
    int node = block_[number].begin;
    for (int local = 0; local < 64 && node < end; ++local)
      if (block_[number].mask >> local & 1) {
        if (node++ >= int(first))
          sites.push_back(detail::pack_site(side * at.x + (local & 3),
                                            side * at.y + (local >> 2 & 3),
                                            side * at.z + (local >> 4)));
      }
  }
  place_sites(place_, sites.data(), sites.size(), points);
}

void FieldMesh::list_corners(std::uint64_t first, std::uint64_t count, int* corners) const {
  if (count == 0)
    return;
  const std::uint64_t end = first + count;
  NodesAbout nodes;
  std::uint64_t voxel = first;
  for (std::size_t s = block_of(element_[std::size_t(first)]); voxel < end; ++s) {
    const std::uint32_t number = solid_block_[s];
    const detail::NodeBlock& block = block_[number];
    const int behind = block.begin + count_ones(block.mask);
    if (element_[std::size_t(voxel)] >= behind)
      continue; // none of its nodes is the lowest corner of a voxel
    const Site at = place_of(number);
    nodes.set([&](int i, int j, int k) { return find_block(at.x + i, at.y + j, at.z + k); });
    int node = block.begin;
    for (int local = 0; local < 64 && voxel < end && element_[std::size_t(voxel)] < behind; ++local)
      if (block.mask >> local & 1) {
        if (node == element_[std::size_t(voxel)]) {
          nodes.list_corners(local, corners + 8 * (voxel - first));
          ++voxel;
        }
        ++node;
      }
  }
}

void FieldMesh::write_to(VtkHdfWriter& file) const {
  file.begin_mesh(num_nodes(), num_voxels(), cell_of_voxel(place_));
  file.points_field<double>().append_made<double>(
      num_nodes(), [&](std::uint64_t first, std::uint64_t count, double* points) {
        make_points(first, count, points);
      });
  file.connectivity_field().append_indices(8 * num_voxels(), [&](std::uint64_t first,
                                                                 std::uint64_t count, auto* cells) {
    // Parts of the list need not begin or end with a voxel.
    const std::uint64_t begin = first / 8, end = (first + count + 7) / 8;
    std::vector<int> corners(std::size_t(8 * (end - begin)));
    list_corners(begin, end - begin, corners.data());
    order_cells(place_, corners.data(), std::size_t(first - 8 * begin), std::size_t(count), cells);
  });
}

} // namespace ossatura
