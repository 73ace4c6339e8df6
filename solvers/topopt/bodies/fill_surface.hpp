// SPDX-License-Identifier: Apache-2.0
// fill_surface makes the voxels of a body from its surface, for designs that start from a part.
#pragma once

#include <ossatura/core/mesh/triangle_surface.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

#include <cstdint>

namespace ossatura {

struct FilledSurface {
  VoxelImage image;                 ///< 1 inside, 0 outside; lengths of the surface
  std::int64_t num_overlapping = 0; ///< voxels in more than one shell, which count once
  std::int64_t num_reversed = 0;    ///< voxels in folds that face the other way, which are void
};

/// Voxels of the given edge whose centres are inside closed shells, on the cores of the host
/// (kernels/image/voxelise.hpp). Throws std::invalid_argument for an edge that is too small or
/// large for the surface. Fences.
FilledSurface fill_surface(const TriangleSurface& surface, double edge);

/// The same on a lattice from `origin` (lengths of the surface) of `shape` voxels; the surface is
/// beyond it by an edge at most.
FilledSurface fill_surface(const TriangleSurface& surface, double edge,
                           const std::array<double, 3>& origin, const std::array<int, 3>& shape);

} // namespace ossatura
