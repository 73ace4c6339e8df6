// SPDX-License-Identifier: Apache-2.0
#include "bench/jobs/executable.hpp"

#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace ossatura::bench {

std::string ossatura_executable(const std::string& asked) {
  if (!asked.empty())
    return asked;
  std::error_code error;
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string beside = (own.parent_path() / "ossatura").string();
  return !error && ::access(beside.c_str(), X_OK) == 0 ? beside : "";
}

} // namespace ossatura::bench
