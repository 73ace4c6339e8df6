// SPDX-License-Identifier: Apache-2.0
// Hdf5Compression is how much time the writer of a file takes to make it smaller.
#pragma once

#include <ossatura/core/base/names.hpp>

#include <cstdint>

namespace ossatura {

enum class Hdf5Compression : std::uint8_t {
  none, ///< values lie in the file as they are: most bytes, least time to write and to read
  fast, ///< a third of the bytes, often
  small ///< 1 % fewer, in up to twice the time
};

constexpr Names<Hdf5Compression> names_of(Hdf5Compression) {
  return {{Hdf5Compression::none, "none"},
          {Hdf5Compression::fast, "fast"},
          {Hdf5Compression::small, "small"}};
}

/// The level of libdeflate, behind a byte shuffle; 0: no filters. Of fields of bone, eikonal and
/// topopt, level 2 makes files as small as level 4 of zlib in half the time, level 8 makes them as
/// small as level 9, and level 10 takes three times as long to save another 1 %
/// (docs/performance.md).
constexpr int deflate_level(Hdf5Compression compression) {
  return compression == Hdf5Compression::none ? 0 : compression == Hdf5Compression::fast ? 2 : 8;
}

} // namespace ossatura
