// SPDX-License-Identifier: Apache-2.0
// A PlaneCompressor makes chunks of a dataset as they lie in the file behind HDF5's filters shuffle
// and deflate, without the time that deflate takes to find nothing in noise.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

struct libdeflate_compressor;

namespace ossatura {

/// Shuffles values, so that byte b of all of them is plane b (HDF5 File Format Specification,
/// "Shuffle"), and deflates the planes as a zlib stream (RFC 1950, 1951).
///
/// The low bytes of floating-point results are noise: half of a field in single precision, three
/// quarters of one in double. Up to `storing_level` the planes before the first that compresses are
/// stored blocks, which is what deflate makes of them after a search at a tenth of the speed; no
/// more than 1/64 of their bytes is given away in return. Beyond it (`--compress small`) bytes
/// count more than time, and deflate looks at all. One for each thread.
class PlaneCompressor {
public:
  static constexpr int storing_level = 5;

  /// `level` of libdeflate, 1 to 12.
  explicit PlaneCompressor(int level);
  /// `chunk` becomes the stream of `count` values of `value_bytes`.
  void compress(const unsigned char* values, std::size_t count, std::size_t value_bytes,
                std::vector<unsigned char>& chunk);

private:
  struct Free {
    void operator()(libdeflate_compressor* compressor) const;
  };
  std::unique_ptr<libdeflate_compressor, Free> compressor_;
  int level_;
  std::vector<unsigned char> shuffled_;
};

} // namespace ossatura
