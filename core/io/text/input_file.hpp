// SPDX-License-Identifier: Apache-2.0
// An input file passes the checks that every reader makes first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ossatura {

/// Size in bytes of the regular, readable, non-empty file at `path`. Throws InputError for a
/// missing file, a directory, a device, a file without read permission and an empty one.
std::uint64_t require_input_file(const std::string& path);

/// The bytes [begin, begin + count) of the file at `path`. Throws InputError where the file is
/// shorter or cannot be read; nothing is allocated before the size is checked.
std::vector<unsigned char> read_bytes(const std::string& path, std::uint64_t begin,
                                      std::uint64_t count);

/// Up to `count` bytes from the start of the file at `path`.
std::vector<unsigned char> read_head(const std::string& path, std::size_t count);

/// All bytes of the file at `path`, which may hold at most `limit` bytes.
std::vector<unsigned char> read_all(const std::string& path, std::uint64_t limit = std::uint64_t(1)
                                                                                   << 40);

/// The same bytes as text, which they must outlive.
inline std::string_view text_of(const std::vector<unsigned char>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Whether `path` is longer than `extension` and ends in it, which is cut off then.
bool cut_extension(std::string& path, const std::string& extension);

} // namespace ossatura
