// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/machine/processors.hpp>

#include <ossatura/core/base/require.hpp>
#include <ossatura/core/machine/processor_binding.hpp>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#if defined(__linux__)
#include <sched.h>
#endif

namespace ossatura {

namespace {

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Processors of "QUOTA PERIOD" in microseconds; 0 for no limit ("max", -1) or anything else.
double quota_of(const std::string& quota, const std::string& period) {
  const double allowed = std::atof(quota.c_str()), of = std::atof(period.c_str());
  return allowed > 0 && of > 0 ? allowed / of : 0;
}

double smaller_limit(double a, double b) {
  return a == 0 ? b : b == 0 ? a : std::min(a, b);
}

/// The limit of a group and of all above it. In a container the path may be that of the host,
/// which is not there: then the group mounted at `root` is meant.
double limit_along(const std::string& root, std::string group, bool is_v2) {
  double limit = 0;
  while (true) {
    const std::string folder = root + group;
    if (is_v2) {
      std::istringstream text(read_text(folder + "/cpu.max"));
      std::string quota, period;
      text >> quota >> period;
      limit = smaller_limit(limit, quota_of(quota, period));
    } else {
      limit = smaller_limit(limit, quota_of(read_text(folder + "/cpu.cfs_quota_us"),
                                            read_text(folder + "/cpu.cfs_period_us")));
    }
    if (group.empty())
      return limit;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

} // namespace

double cpu_quota(const std::string& membership, const std::string& root) {
  // Lines "NUMBER:CONTROLLERS:PATH"; no controllers in v2.
  double limit = 0;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string group = line.substr(second + 1);
    if (group == "/")
      group.clear();
    if (controllers.empty())
      limit = smaller_limit(limit, limit_along(root, group, true));
    else if (has_word(controllers, "cpu"))
      for (const char* mount : {"/cpu", "/cpu,cpuacct"})
        limit = smaller_limit(limit, limit_along(root + mount, group, false));
  }
  return limit;
}

int available_processors() {
  int count = int(std::thread::hardware_concurrency());
#if defined(__linux__)
  // The set of a machine with more than 1024 processors does not fit one cpu_set_t.
  constexpr int most = 1 << 16;
  if (cpu_set_t* set = CPU_ALLOC(most); set != nullptr) {
    const std::size_t bytes = CPU_ALLOC_SIZE(most);
    if (sched_getaffinity(0, bytes, set) == 0)
      count = CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
  }
  if (const int bound = bound_processors(); bound > 0)
    count = bound; // the calling thread has those of its own place alone
  const double quota = cpu_quota(read_text("/proc/self/cgroup"), "/sys/fs/cgroup");
  if (quota > 0)
    count = std::min(count, int(std::min(std::ceil(quota), double(max_host_threads))));
#endif
  return std::clamp(count, 1, max_host_threads);
}

int first_thread_count(const char* list) {
  if (list == nullptr)
    return 0;
  char* end = nullptr;
  const long count = std::strtol(list, &end, 10);
  while (std::isspace(static_cast<unsigned char>(*end)) != 0)
    ++end;
  if (end == list || (*end != '\0' && *end != ',') || count < 1)
    return 0;
  return int(std::min(count, 1000000000L));
}

namespace {

std::atomic<int> chosen_io_threads = 0;

} // namespace

int io_threads() {
  if (chosen_io_threads == 0)
    chosen_io_threads = available_processors();
  return chosen_io_threads;
}

void set_io_threads(int count) {
  OSSATURA_REQUIRE(count >= 1 && count <= max_host_threads, count << " threads");
  chosen_io_threads = count;
}

} // namespace ossatura
