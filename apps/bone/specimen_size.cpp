// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/specimen_size.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>

#include <algorithm>

namespace ossatura {

void warn_of_specimen_size(const BoneOptions& options, const BoneModelInfo& info) {
  // A trabecula is 0.1 to 0.2 mm thick: two of them and the marrow between are no specimen. 512
  // voxels of 0.5 mm, said to be 0.0005, are 0.26 mm.
  constexpr double least_extent = 0.4, least_edge = 1e-4; // mm
  if (options.generator != BoneGenerator::none || info.spacing < least_edge)
    return;
  const double extent =
      info.spacing * *std::max_element(std::begin(info.shape), std::end(info.shape));
  if (extent < least_extent)
    log_warning("odd-size", info.source, ": the longest side is ", format_number(extent, 3),
                " mm, by voxels of ", format_number(info.spacing),
                " mm, and forces grow with its square: lengths are in mm, not in m; --spacing MM "
                "sets the edge of an image's voxels");
}

} // namespace ossatura
