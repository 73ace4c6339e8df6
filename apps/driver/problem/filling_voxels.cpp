// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/problem/filling_voxels.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/surface/enclosed_volume.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

void require_room_for_voxels(const std::string& source, const TriangleSurface& surface,
                             const WantedVoxels& voxels) {
  std::array<double, 3> lower{}, upper{};
  for (std::size_t i = 0; i < surface.vertex.size(); ++i)
    for (std::size_t d = 0; d < 3; ++d) {
      const double x = surface.vertex[i][d];
      lower[d] = i == 0 ? x : std::min(lower[d], x);
      upper[d] = i == 0 ? x : std::max(upper[d], x);
    }
  double count = 1;
  std::string sides;
  for (std::size_t d = 0; d < 3; ++d) {
    count *= std::max(1.0, std::ceil((upper[d] - lower[d]) / voxels.edge));
    sides += (d == 0 ? "" : " x ") + format_number((upper[d] - lower[d]) * voxels.unit, 4);
  }
  if (voxels.room > 0 && voxels.bytes * count > double(voxels.room))
    fail<InputError>(source, ": is ", sides, ' ', voxels.length, ", which takes ",
                     format_number(count, 3), " cubes of ",
                     format_number(voxels.edge * voxels.unit), ' ', voxels.length,
                     ", more than memory has room for: ", voxels.remedy);
}

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
