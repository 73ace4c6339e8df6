// SPDX-License-Identifier: Apache-2.0
// Processes that share an image read their planes of its file alone. How many planes there are is
// known once a reader has its header, so that the choice is a function.
#pragma once

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

#include <functional>

namespace ossatura {

/// The planes that a reader shall read of an image with so many; empty: all. It is asked once the
/// header is found right. The reader checks values in these planes alone, and the end of the data
/// where it reads the last plane. So of readers that share an image, the first one that fails, in
/// the order of planes, says what a reader of all planes would say; of a file that is wrong in
/// several ways, as in moduli and in ratios, maybe another one.
using ChoosePlanes = std::function<ImagePlanes(int num_planes)>;

/// Throws std::invalid_argument for planes that are not there.
inline ImagePlanes planes_to_read(const ChoosePlanes& choose, int num_planes) {
  const ImagePlanes planes = choose ? choose(num_planes) : ImagePlanes{0, num_planes};
  OSSATURA_REQUIRE(0 <= planes.begin && planes.begin <= planes.end && planes.end <= num_planes,
                   "planes " << planes.begin << " to " << planes.end << " of " << num_planes);
  return planes;
}

} // namespace ossatura
