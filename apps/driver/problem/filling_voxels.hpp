// SPDX-License-Identifier: Apache-2.0
// Voxels that fill a surface can be more than memory has room for, where its unit is another one,
// and another body than it encloses, where they are coarse.
#pragma once

#include <ossatura/core/mesh/triangle_surface.hpp>

#include <cstdint>
#include <string>

namespace ossatura {

/// Voxels that are to fill a surface, as a command speaks of them.
struct WantedVoxels {
  double edge = 0;           ///< in the unit of the surface
  double unit = 1;           ///< the unit of the surface, in `length`
  const char* length = "mm"; ///< the unit that the command speaks in
  std::string remedy;        ///< by its options, where they are too many
  double bytes = 0;          ///< that each takes
  std::int64_t room = 0;     ///< bytes that are left; 0: not known
};

/// Refuses more voxels than memory has room for, before it is asked for: of a surface in mm that is
/// read as in m there are 10^9 times as many.
void require_room_for_voxels(const std::string& source, const TriangleSurface& surface,
                             const WantedVoxels& voxels);

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
