// SPDX-License-Identifier: Apache-2.0
// A byte stream delivers the bytes of a file from some place on. A compressed file is inflated on
// the way, so that an image is never in memory twice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ossatura {

class ByteStream {
public:
  enum class Coding {
    plain,
    deflate ///< zlib or gzip, told apart by the header; several gzip members follow one another
  };

  /// Starts at byte `begin` of the file at `path`. Throws InputError as require_input_file() does.
  ByteStream(const std::string& path, std::uint64_t begin, Coding coding);
  ~ByteStream();
  ByteStream(ByteStream&&) noexcept;

  /// Reads exactly `count` bytes. Throws InputError at an early end and on damaged compression.
  void read(void* bytes, std::size_t count);
  /// Passes over `count` bytes, by a seek where they are not compressed. Throws as read() does.
  void skip(std::uint64_t count);
  /// Throws InputError unless the file ends here, and, behind deflate, where a checksum says that
  /// what was read is not what was compressed. `meaning` says what was read.
  void require_end(const std::string& meaning);
  /// Throws InputError, before anything is allocated for it, if `count` bytes cannot come out of
  /// what the file has left: the stored bytes, or 1032 times as many behind deflate. `meaning` says
  /// what they are, e.g. "64 x 64 x 64 voxels of 2 bytes".
  void require_plausible(std::uint64_t count, const std::string& meaning) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace ossatura
