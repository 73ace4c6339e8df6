// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/specimen_size.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/log.hpp>

#include <algorithm>

namespace ossatura {

void warn_of_specimen_size(const BoneOptions& options, const BoneModelInfo& info) {
  // In m these edges (mm) are those of clinical CT and HR-pQCT, 0.1 to 5 mm, and 0.5 m is the most
  // that a scanner sees. In mm they are of synchrotrons, for which two trabeculae are no specimen.
  constexpr double least_edge = 1e-4, greatest_edge = 5e-3, least_extent = 0.5;
  if (options.generator != BoneGenerator::none || info.spacing < least_edge ||
      info.spacing > greatest_edge)
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
