// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/image/raw.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/io/image/voxel_limits.hpp>
#include <ossatura/core/io/text/input_file.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

VoxelImage read_raw_image(const std::string& path, const RawImageOptions& options) {
  const std::array<int, 3>& n = options.shape;
  if (std::min({n[0], n[1], n[2]}) < 1)
    fail<UsageError>("a raw image needs its shape, nx, ny and nz of at least 1; given are ", n[0],
                     ", ", n[1], ", ", n[2]);
  if (!std::isfinite(options.spacing) || !(options.spacing > 0))
    fail<UsageError>("a raw image needs its voxel spacing in mm; given is ", options.spacing);
  const std::uint64_t size = require_input_file(path);
  VoxelImage image;
  image.shape =
      require_voxel_shape(path, std::uint64_t(n[0]), std::uint64_t(n[1]), std::uint64_t(n[2]));
  image.spacing = options.spacing;
  const std::uint64_t data = std::uint64_t(image.num_voxels()) * size_of(options.type);
  if (options.header_bytes > size || data != size - options.header_bytes)
    fail<InputError>(path, ": has ", size, " bytes, but ", n[0], " x ", n[1], " x ", n[2],
                     " voxels of type ", name_of(options.type), " after a header of ",
                     options.header_bytes, " bytes make ", data + options.header_bytes,
                     "; check shape, type and header");
  ByteStream stream(path, options.header_bytes, ByteStream::Coding::plain);
  read_samples(path, stream, options.type, options.order, options.planes, options.target, image);
  return image;
}

} // namespace ossatura
