// SPDX-License-Identifier: Apache-2.0
// Voxels that fill a surface can be another body than it encloses.
#pragma once

#include <ossatura/core/mesh/triangle_surface.hpp>

#include <cstdint>
#include <string>

namespace ossatura {

/// Voxels whose centres are in a surface.
struct FillingVoxels {
  std::int64_t count = 0, num_overlapping = 0; ///< the latter in more than one shell
  double edge = 0;                             ///< in the unit of the surface
};

/// Logs `coarse-voxels` where the volume of the voxels is more than a tenth off that of the
/// surface. `length` is the edge in words.
void warn_of_coarse_voxels(const std::string& source, const TriangleSurface& surface,
                           const FillingVoxels& voxels, const std::string& length);

} // namespace ossatura
