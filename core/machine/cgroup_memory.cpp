// SPDX-License-Identifier: Apache-2.0
// The reader follows the files of control groups, version 2 [1] and version 1 [2].
//
// [1] Linux kernel documentation, "Control Group v2", section "Memory interface files".
// [2] The same, "Memory Resource Controller" (version 1).
#include <ossatura/core/machine/cgroup_memory.hpp>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace ossatura {

namespace {

/// The number that a file begins with; none for "max" and where there is no file.
std::optional<std::int64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  if (file >> number)
    return number;
  return {};
}

/// The number behind `key` in a file of lines "KEY NUMBER"; 0 where there is none.
std::int64_t number_after(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  for (std::int64_t number = 0; file >> word >> number;)
    if (word == key)
      return number;
  return 0;
}

struct FileNames {
  const char *limit, *usage, *droppable;
};
constexpr FileNames version_1{"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                              "total_inactive_file"};
constexpr FileNames version_2{"/memory.max", "/memory.current", "inactive_file"};

/// Version 1 writes a number of pages near 2^63 where there is no limit.
constexpr std::int64_t no_limit = std::int64_t(1) << 60;

void tighten(std::optional<std::int64_t>& left, const std::string& group, const FileNames& names) {
  const std::optional<std::int64_t> limit = number_in(group + names.limit);
  const std::optional<std::int64_t> usage = number_in(group + names.usage);
  if (!limit || !usage || *limit >= no_limit)
    return;
  const std::int64_t droppable = number_after(group + "/memory.stat", names.droppable);
  const std::int64_t here =
      std::max<std::int64_t>(0, *limit - std::max<std::int64_t>(0, *usage - droppable));
  left = left ? std::min(*left, here) : here;
}

} // namespace

std::optional<std::int64_t> cgroup_available_bytes(const std::string& root) {
  std::optional<std::int64_t> left;
  std::ifstream list(root + "/proc/self/cgroup");
  for (std::string line; std::getline(list, line);) { // HIERARCHY:CONTROLLERS:PATH
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',';
    const bool is_2 = controllers == ",,";
    if (!is_2 && controllers.find(",memory,") == std::string::npos)
      continue;
    const std::string mount = root + (is_2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory");
    std::string path = line.substr(second + 1);
    while (!path.empty() && path.back() == '/')
      path.pop_back();
    for (;; path.resize(path.rfind('/'))) {
      tighten(left, mount + path, is_2 ? version_2 : version_1);
      if (path.rfind('/') == std::string::npos)
        break;
    }
  }
  return left;
}

} // namespace ossatura
