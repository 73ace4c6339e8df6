// SPDX-License-Identifier: Apache-2.0
// Readers take a path, fuzzers have bytes.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

namespace ossatura_test {

/// A function of reader_targets.hpp on a temporary file of these bytes (set TMPDIR to a file system
/// in memory). An exception that escapes it is a finding.
inline void run_on_bytes(bool (*target)(const std::string&), const void* data, std::size_t size) {
  // A new file each time: HDF5 knows files by device and inode, and keeps some damaged ones open.
  std::string path = (std::filesystem::temp_directory_path() / "ossatura-fuzz-XXXXXX").string();
  const int file = ::mkstemp(path.data());
  if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) {
    std::perror("ossatura fuzz target");
    std::abort();
  }
  ::close(file);
  target(path);
  ::unlink(path.c_str());
}

} // namespace ossatura_test
