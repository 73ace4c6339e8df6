// SPDX-License-Identifier: Apache-2.0
// What voxels keep from one load to the next, on the host: to be stored, and to go on from.
#pragma once

#include <cstdint>
#include <vector>

namespace ossatura {

struct BehaviourState {
  std::vector<std::uint8_t> flag; ///< [num_nodes] of plasticity; none with damage
  std::vector<float> value; ///< of voxels, in the order of their lowest corners: rows of those
                            ///< that have flown, or the largest load of each node's
};

} // namespace ossatura
