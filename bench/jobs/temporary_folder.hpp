// SPDX-License-Identifier: Apache-2.0
// A temporary folder is gone, with all that is in it, when its owner is.
#pragma once

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include <stdlib.h> // NOLINT(modernize-deprecated-headers): mkdtemp

namespace ossatura::bench {

/// A new folder in that for temporary files (TMPDIR). Throws std::runtime_error where there can be
/// none.
class TemporaryFolder {
public:
  TemporaryFolder()
      : path_((std::filesystem::temp_directory_path() / "ossatura-job-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr)
      throw std::runtime_error(path_ + " cannot be made: " + std::strerror(errno) +
                               "; TMPDIR says where");
  }
  ~TemporaryFolder() {
    std::error_code error; // what stays is no result
    std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

private:
  std::string path_;
};

} // namespace ossatura::bench
