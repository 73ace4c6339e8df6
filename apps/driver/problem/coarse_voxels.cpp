// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/problem/coarse_voxels.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/mesh/surface/enclosed_volume.hpp>

#include <cmath>

namespace ossatura {

void warn_of_coarse_voxels(const std::string& source, const TriangleSurface& surface,
                           const FillingVoxels& voxels, const std::string& length) {
  // Of a body that is thick everywhere, voxels lose as much as they gain, and the volume is right
  // to a few per cent. A wall whose thickness is a tenth off bends by a third less or more.
  constexpr double alike = 0.1;
  const double voxel = voxels.edge * voxels.edge * voxels.edge;
  const double enclosed = // also of a surface that faces inward as a whole
      std::abs(enclosed_volume(surface)) - double(voxels.num_overlapping) * voxel;
  const double filled = double(voxels.count) * voxel;
  if (std::abs(filled - enclosed) > alike * enclosed)
    log_warning(
        "coarse-voxels", source, ": voxels of ", length, " have ",
        format_number(filled / enclosed, 3),
        " times the volume that the surface encloses: walls are hardly thicker than a voxel, "
        "and results are of another body. Take smaller ones (--voxel)");
}

} // namespace ossatura
