// SPDX-License-Identifier: Apache-2.0
// A raw image has no header: the caller gives shape, spacing and type.
#pragma once

#include <ossatura/core/io/image/samples.hpp>
#include <ossatura/core/mesh/voxel_image.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace ossatura {

struct RawImageOptions {
  std::array<int, 3> shape{0, 0, 0}; ///< nx, ny, nz; x fastest in the file
  SampleType type = SampleType::u8;
  ByteOrder order = ByteOrder::little;
  double spacing = 1;             ///< edge of a voxel in mm
  std::uint64_t header_bytes = 0; ///< bytes before the first voxel
  VoxelTarget* target = nullptr;  ///< takes the values in place of the image
  ChoosePlanes planes;            ///< all, unless given
};

/// Reads a headerless image. Throws UsageError for a shape or spacing that makes no sense, and
/// InputError unless the size of the file is exactly header plus voxels, and for values that are
/// not finite.
VoxelImage read_raw_image(const std::string& path, const RawImageOptions& options);

} // namespace ossatura
