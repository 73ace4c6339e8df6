// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/image/world_frame.hpp>

namespace ossatura {

bool is_mirrored(const ImageDirection& direction) {
  const auto& d = direction;
  return d[0] * (d[4] * d[8] - d[5] * d[7]) - d[1] * (d[3] * d[8] - d[5] * d[6]) +
             d[2] * (d[3] * d[7] - d[4] * d[6]) <
         0;
}

} // namespace ossatura
