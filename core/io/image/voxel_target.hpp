// SPDX-License-Identifier: Apache-2.0
// A voxel target takes the values of an image from its reader block by block, so that an image for
// a device is never in memory of the host as a whole.
#pragma once

#include <ossatura/core/mesh/voxel_image.hpp>

#include <cstddef>

namespace ossatura {

class VoxelTarget {
public:
  virtual ~VoxelTarget() = default;

  /// The image, without values, and those of its planes that will come: all of them, in order.
  virtual void begin(const VoxelImage& image, ImagePlanes planes) = 0;
  /// Memory of the host for the values `first` to first + count of these planes, until filled().
  virtual float* room(std::size_t first, std::size_t count) = 0;
  /// They are there.
  virtual void filled(std::size_t first, std::size_t count) = 0;
};

} // namespace ossatura
