// SPDX-License-Identifier: Apache-2.0
// Conducting parts are the parts of a mesh that share no vertex; a wave stays in its part.
#pragma once

#include <ossatura/core/mesh/tetra_mesh.hpp>

#include <cstdint>
#include <vector>

namespace ossatura {

/// Parts of the tissue that conducts; a wave does not leave the one that it starts in.
class ConductingParts {
public:
  /// blocked [num_tetra], or empty: all conduct.
  ConductingParts(const TetraMesh& mesh, const std::vector<bool>& blocked);

  /// In [0, size().size()), or -1 of a vertex that only tetrahedra have that do not conduct.
  std::int32_t part_of(std::int32_t vertex) const { return part_[std::size_t(vertex)]; }
  /// Vertices of each part, the largest first.
  const std::vector<std::int64_t>& size() const { return size_; }
  std::int64_t num_blocked() const { return num_blocked_; } ///< vertices outside all parts

private:
  std::vector<std::int32_t> part_; ///< [num_points]
  std::vector<std::int64_t> size_;
  std::int64_t num_blocked_ = 0;
};

} // namespace ossatura
