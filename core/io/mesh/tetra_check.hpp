// SPDX-License-Identifier: Apache-2.0
// Every reader of tetrahedral meshes calls these checks.
#pragma once

#include <ossatura/core/mesh/tetra_mesh.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ossatura {

/// Whether a tetrahedron's vertices are four different ones in [0, num_points).
inline bool is_tetra(const std::int64_t* v, std::int64_t num_points) {
  for (int k = 0; k < 4; ++k)
    if (v[k] < 0 || v[k] >= num_points)
      return false;
  return v[0] != v[1] && v[0] != v[2] && v[0] != v[3] && v[1] != v[2] && v[1] != v[3] &&
         v[2] != v[3];
}

/// The fault of a tetrahedron that is_tetra() refuses, and the remedy.
std::string describe_bad_tetra(const std::int64_t* v, std::int64_t num_points);

/// Throws InputError unless there are up to 2^31 - 1 points.
void require_few_points(const std::string& place, std::uint64_t num_points);

/// Where a point stands, for messages: "heart.pts: line 12".
using PointPlace = std::function<std::string(std::size_t point)>;

/// The last check: there are tetrahedra, none twice, not all of them flat, and every point belongs
/// to one. Points that do not but are marked in `passed_over` (empty: none), vertices of other
/// elements, are removed, and counted in `num_left_out`. Throws InputError that begins with the
/// place of the point, or with `path`.
void finish_tetra_mesh(const std::string& path, TetraMesh& mesh,
                       const std::vector<bool>& passed_over, const PointPlace& place);

} // namespace ossatura
