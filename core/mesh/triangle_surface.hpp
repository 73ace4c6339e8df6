// SPDX-License-Identifier: Apache-2.0
// A TriangleSurface is a surface of triangles in host memory, without Kokkos.
#pragma once

#include <array>
#include <vector>

namespace ossatura {

/// A surface of triangles, coordinates in the unit of its source (mm by convention).
struct TriangleSurface {
  std::vector<std::array<double, 3>> vertex;
  std::vector<std::array<int, 3>> triangle; ///< vertex numbers, counter-clockwise seen from outside
};

} // namespace ossatura
