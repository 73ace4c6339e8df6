// SPDX-License-Identifier: Apache-2.0
// Limits of control groups, from files as Linux shows them, below a directory of the test.
#include <ossatura/core/machine/cgroup_memory.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"
#include <ossatura/core/machine/memory.hpp>

using namespace ossatura;
using namespace ossatura_test;

namespace {

constexpr std::int64_t mega = 1000000;

class FakeRoot {
public:
  FakeRoot() { put("proc/meminfo", "MemTotal: 99999999 kB\nMemAvailable: 8000000 kB\n"); }
  void put(const std::string& name, const std::string& content) {
    const std::filesystem::path path = directory_ / name;
    std::filesystem::create_directories(path.parent_path());
    write_bytes(path.string(), content);
  }
  /// A group of version 2.
  void group(const std::string& path, const std::string& limit, std::int64_t used,
             std::int64_t cached) {
    const std::string folder = "sys/fs/cgroup" + path + "/memory.";
    put(folder + "max", limit + "\n");
    put(folder + "current", std::to_string(used) + "\n");
    put(folder + "stat", "anon 12\ninactive_file " + std::to_string(cached) + "\nactive_file 7\n");
  }
  std::string path() const { return directory_.path(); }
  std::int64_t available() const { return available_host_bytes(path()); }

private:
  TestDirectory directory_;
};

} // namespace

TEST_CASE("without groups, or without limits, the machine's memory is there", "[memory]") {
  FakeRoot root;
  CHECK(root.available() == 8000000ll * 1024);
  CHECK_FALSE(cgroup_available_bytes(root.path()));
  root.put("proc/self/cgroup", "0::/user.slice\n");
  root.group("/user.slice", "max", 5 * mega, 0);
  CHECK(root.available() == 8000000ll * 1024);
}

TEST_CASE("version 2: the tightest group above counts, less what is used and not cached",
          "[memory]") {
  FakeRoot root;
  root.put("proc/self/cgroup", "0::/pod/job/step\n");
  root.group("/pod/job/step", "max", 60 * mega, 0);
  root.group("/pod/job", std::to_string(300 * mega), 100 * mega, 40 * mega);
  root.group("/pod", std::to_string(900 * mega), 100 * mega, 0);
  CHECK(root.available() == 240 * mega);
  root.group("/pod", std::to_string(200 * mega), 100 * mega, 0);
  CHECK(root.available() == 100 * mega);
  root.group("/pod", std::to_string(50 * mega), 100 * mega, 0); // lowered under what is used
  CHECK(root.available() == 1);
}

TEST_CASE("version 2 in a container: its group is at the top", "[memory]") {
  FakeRoot root;
  root.put("proc/self/cgroup", "0::/\n");
  root.group("", std::to_string(300 * mega), 20 * mega, 0);
  CHECK(root.available() == 280 * mega);
}

TEST_CASE("version 1: the limit of the memory controller, with the path of the host", "[memory]") {
  FakeRoot root;
  root.put("proc/self/cgroup",
           "5:cpu,cpuacct:/docker/f00\n4:memory:/docker/f00\n1:name=systemd:/\n");
  const std::string folder = "sys/fs/cgroup/memory/memory."; // of the container, as it sees it
  root.put(folder + "limit_in_bytes", "300000000\n");
  root.put(folder + "usage_in_bytes", "100000000\n");
  root.put(folder + "stat", "inactive_file 5\ntotal_inactive_file 30000000\n");
  CHECK(root.available() == 230 * mega);
  root.put(folder + "limit_in_bytes", "9223372036854771712\n");
  CHECK(root.available() == 8000000ll * 1024);
}
