// SPDX-License-Identifier: Apache-2.0
#include <ossatura/solvers/bone/results/contact_area.hpp>

#include <algorithm>
#include <cstdint>

namespace ossatura {

namespace {

/// A node by layer, row and place in the row, 21 bits each, and whether a voxel lies on either side
/// of the face that begins there.
struct FaceCorner {
  std::uint64_t key;
  bool solid;
};

constexpr std::uint64_t next_row = std::uint64_t(1) << 21;

} // namespace

double contact_area(const std::vector<HeldNode>& nodes, int normal, double edge) {
  const int a = (normal + 1) % 3, b = (normal + 2) % 3;
  std::vector<FaceCorner> corner;
  corner.reserve(nodes.size());
  for (const HeldNode& node : nodes) {
    const std::uint64_t at[3] = {std::uint64_t(node.site.x), std::uint64_t(node.site.y),
                                 std::uint64_t(node.site.z)};
    const unsigned towards = 1u << a | 1u << b; // the voxel above the face
    corner.push_back({at[normal] << 42 | at[b] << 21 | at[a],
                      ((node.solid >> (towards | 1u << normal) | node.solid >> towards) & 1) != 0});
  }
  std::sort(corner.begin(), corner.end(),
            [](const FaceCorner& p, const FaceCorner& q) { return p.key < q.key; });
  std::vector<std::uint64_t> shadow; // of the faces
  std::size_t above = 0;             // the first node that is not before the one in the next row
  const auto has = [&](std::size_t i, std::uint64_t key) {
    return i < corner.size() && corner[i].key == key;
  };
  for (std::size_t i = 0; i < corner.size(); ++i) {
    const std::uint64_t key = corner[i].key;
    while (above < corner.size() && corner[above].key < key + next_row)
      ++above;
    if (corner[i].solid && has(i + 1, key + 1) && has(above, key + next_row) &&
        has(above + 1, key + next_row + 1))
      shadow.push_back(key & ((std::uint64_t(1) << 42) - 1));
  }
  std::sort(shadow.begin(), shadow.end());
  const auto end = std::unique(shadow.begin(), shadow.end());
  return edge * edge * double(end - shadow.begin());
}

} // namespace ossatura
