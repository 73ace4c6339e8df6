// SPDX-License-Identifier: Apache-2.0
// Oracle: connected components by breadth-first search in plain loops.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <queue>
#include <vector>

namespace reference {

/// The smallest voxel of the component of each voxel > 0, -1 elsewhere; neighbours share a face, or
/// with `corners` at least a corner.
inline std::vector<std::int64_t> components(std::array<int, 3> n, const std::vector<float>& value,
                                            bool corners) {
  std::vector<std::int64_t> label(value.size(), -1);
  for (std::size_t start = 0; start < value.size(); ++start) {
    if (!(value[start] > 0) || label[start] >= 0)
      continue;
    std::queue<std::int64_t> front;
    front.push(start);
    label[start] = start;
    while (!front.empty()) {
      const std::int64_t voxel = front.front();
      front.pop();
      const int x = int(voxel % n[0]);
      const int y = int(voxel / n[0] % n[1]);
      const int z = int(voxel / n[0] / n[1]);
      for (int dz = -1; dz <= 1; ++dz)
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx) {
            if (!corners && std::abs(dx) + std::abs(dy) + std::abs(dz) != 1)
              continue;
            const int u = x + dx;
            const int v = y + dy;
            const int w = z + dz;
            if (u < 0 || v < 0 || w < 0 || u >= n[0] || v >= n[1] || w >= n[2])
              continue;
            const std::int64_t next = u + std::int64_t(n[0]) * (v + std::int64_t(n[1]) * w);
            if (value[next] > 0 && label[next] < 0) {
              label[next] = start;
              front.push(next);
            }
          }
    }
  }
  return label;
}

} // namespace reference
