// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include <ossatura/core/machine/processors.hpp>

#include <filesystem>
#include <fstream>

using namespace ossatura;

namespace {

/// A tree of control groups in a directory of its own.
class Groups {
public:
  Groups() {
    std::string name = (std::filesystem::temp_directory_path() / "ossatura-groups-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    root_ = name;
  }
  ~Groups() { std::filesystem::remove_all(root_); }
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  double quota(const std::string& membership) const {
    return cpu_quota(membership, root_.string());
  }

private:
  std::filesystem::path root_;
};

} // namespace

TEST_CASE("quotas of control groups v2 hold for all below them", "[processors]") {
  const Groups groups;
  CHECK(groups.quota("0::/\n") == 0);
  groups.write("a/cpu.max", "max 100000\n");
  CHECK(groups.quota("0::/a/b\n") == 0);
  groups.write("a/cpu.max", "150000 100000\n");
  CHECK(groups.quota("0::/a/b\n") == 1.5);
  groups.write("a/b/cpu.max", "300000 100000\n");
  CHECK(groups.quota("0::/a/b\n") == 1.5);
  groups.write("a/b/cpu.max", "50000 100000\n");
  CHECK(groups.quota("0::/a/b\n") == 0.5);
  // In a container the path is often that of the host.
  groups.write("cpu.max", "200000 100000\n");
  CHECK(groups.quota("0::/not/here\n") == 2);
}

TEST_CASE("quotas of control groups v1 are those of the controller cpu", "[processors]") {
  const Groups groups;
  groups.write("cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
  groups.write("cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  CHECK(groups.quota("4:memory:/x\n3:cpu,cpuacct:/x\n") == 0);
  groups.write("cpu,cpuacct/x/cpu.cfs_quota_us", "250000\n");
  CHECK(groups.quota("4:memory:/x\n3:cpu,cpuacct:/x\n") == 2.5);
  CHECK(groups.quota("4:memory:/x\n3:cpuset:/x\n") == 0);
}

TEST_CASE("numbers of threads are read as OpenMP reads them", "[processors]") {
  CHECK(first_thread_count(nullptr) == 0);
  CHECK(first_thread_count("") == 0);
  CHECK(first_thread_count("3") == 3);
  CHECK(first_thread_count(" 4 ,2") == 4);
  CHECK(first_thread_count("0") == 0);
  CHECK(first_thread_count("-2") == 0);
  CHECK(first_thread_count("4x") == 0);
  CHECK(first_thread_count("100000") == 100000);
  CHECK(first_thread_count("99999999999999999999") == 1000000000);
}

TEST_CASE("some processor is available, and not more than Kokkos has room for", "[processors]") {
  CHECK(available_processors() >= 1);
  CHECK(available_processors() <= max_host_threads);
}
