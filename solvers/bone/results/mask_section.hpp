// SPDX-License-Identifier: Apache-2.0
// The cross-section of a mask along the bone, by which studies divide the force through a region of
// interest.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

namespace ossatura {

/// Layers of an image across an axis.
struct MaskLayers {
  std::vector<std::int64_t> mask; ///< voxels of the mask that are bone by its labels; none: no mask
  std::array<int, 2> bone{0, 0};  ///< from the first one with bone to before the last
};

/// From the first layer with some to before the last.
inline std::array<int, 2> filled_layers(const std::vector<std::int64_t>& count) {
  const auto is_filled = [](std::int64_t some) { return some > 0; };
  return {int(std::find_if(count.begin(), count.end(), is_filled) - count.begin()),
          int(count.rend() - std::find_if(count.rbegin(), count.rend(), is_filled))};
}

/// Voxels of the mask in a layer of the bone, in the mean. The box of what is solved is from layer
/// `lower` to before `upper`: crumbs of a segmentation beyond its ends are not of what is loaded.
/// (Islands were bone before they were left out.)
inline double mean_mask_section(const MaskLayers& layers, int lower, int upper) {
  const int first = std::max(layers.bone[0], lower), end = std::min(layers.bone[1], upper);
  return double(std::accumulate(layers.mask.begin() + first, layers.mask.begin() + end,
                                std::int64_t(0))) /
         double(end - first);
}

} // namespace ossatura
