// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/text/atomic_file.hpp>

#include "tests/catch.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"

#include <string>
#include <thread>
#include <vector>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ossatura;
using namespace ossatura_test;

TEST_CASE("an output appears whole at commit and leaves nothing else behind", "[atomic]") {
  const TestDirectory directory;
  {
    AtomicFile file(directory / "out.txt");
    CHECK(file.path() == directory / "out.txt");
    write_bytes(file.temporary_path(), "content");
    CHECK_FALSE(std::filesystem::exists(directory / "out.txt"));
    CHECK(std::filesystem::path(file.temporary_path()).parent_path() == directory.path());
    file.commit();
    CHECK(read_bytes_of(directory / "out.txt") == "content");
    CHECK_THROWS_AS(file.commit(), std::invalid_argument);
  }
  CHECK(directory.count() == 1);
}

TEST_CASE("an output that is not committed leaves what was there", "[atomic]") {
  const TestDirectory directory;
  write_bytes(directory / "out.txt", "old");
  {
    AtomicFile file(directory / "out.txt");
    write_bytes(file.temporary_path(), "half-writ");
    AtomicFile moved(std::move(file));
    CHECK(directory.count() == 2);
  }
  CHECK(read_bytes_of(directory / "out.txt") == "old");
  CHECK(directory.count() == 1);
}

TEST_CASE("what is checked before a file gets its name keeps it from it", "[atomic]") {
  const TestDirectory directory;
  write_bytes(directory / "out.txt", "old");
  set_commit_check([] { throw std::runtime_error("the device failed"); });
  CHECK_THROWS_WITH(write_file(directory / "out.txt", "new"), "the device failed");
  set_commit_check(nullptr);
  CHECK(read_bytes_of(directory / "out.txt") == "old");
  CHECK(directory.count() == 1);
  write_file(directory / "out.txt", "new");
  CHECK(read_bytes_of(directory / "out.txt") == "new");
}

TEST_CASE("a replaced file keeps its permissions, a link its place", "[atomic]") {
  const TestDirectory directory;
  write_bytes(directory / "real.txt", "old");
  ::chmod((directory / "real.txt").c_str(), 0640);
  std::filesystem::create_symlink(directory / "real.txt", directory / "link.txt");
  write_file(directory / "link.txt", "new");
  CHECK(std::filesystem::is_symlink(directory / "link.txt"));
  CHECK(read_bytes_of(directory / "real.txt") == "new");
  struct stat status {};
  REQUIRE(::stat((directory / "real.txt").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("a name in the working directory needs no slash", "[atomic]") {
  const TestDirectory directory;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  write_file("plain.txt", "here");
  std::filesystem::current_path(before);
  CHECK(read_bytes_of(directory / "plain.txt") == "here");
}

TEST_CASE("outputs that cannot be written are refused at once", "[atomic]") {
  const TestDirectory directory;
  const auto refusal = [](const std::string& path) {
    return error_of([&] { AtomicFile file(path); });
  };
  CHECK_SAYS(refusal(directory.path()), "is a directory");
  CHECK_SAYS(refusal(directory / "no/such/out.txt"), "no/such' does not exist", "create it");
  write_bytes(directory / "file", "x");
  CHECK_SAYS(refusal(directory / "file/out.txt"), "cannot be written");
  CHECK_SAYS(refusal("/dev/null"), "not a regular file");
  CHECK_SAYS(refusal(""), "not the name");
  CHECK_SAYS(refusal(directory / "sub/"), "not the name");
  if (::geteuid() != 0) { // root may write everywhere
    ::chmod((directory / "file").c_str(), 0444);
    CHECK_SAYS(refusal(directory / "file"), "write protected");
    ::chmod(directory.path().c_str(), 0555);
    CHECK_SAYS(refusal(directory / "out.txt"), "cannot be written");
    ::chmod(directory.path().c_str(), 0755);
  }
  CHECK(directory.count() == 1);
}

TEST_CASE("temporary files of dead processes are removed, others stay", "[atomic]") {
  const TestDirectory directory;
  const pid_t child = fork();
  if (child == 0) {
    const AtomicFile abandoned(directory / "out.txt");
    _exit(0); // as if killed: no destructor runs
  }
  REQUIRE(child > 0);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK(directory.count() == 1);
  const AtomicFile ours(directory / "out.txt");
  write_bytes(directory / ".out.txt.12345678-999999999.0.tmp", "of another machine");
  write_bytes(directory / ".tmp", "no temporary file");
  CHECK(directory.count() == 4);
  remove_abandoned_files(directory.path());
  CHECK(directory.count() == 3);
  CHECK(std::filesystem::exists(ours.temporary_path()));
  remove_abandoned_files(directory / "nothere");
}

TEST_CASE("the end of a process removes its temporary files", "[atomic]") {
  const TestDirectory directory;
  const pid_t child = fork();
  if (child == 0) {
    const AtomicFile first(directory / "a.txt"), second(directory / "b.txt");
    remove_temporary_files();
    _exit(0);
  }
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK(directory.count() == 0);
}

TEST_CASE("threads have temporary files at a time, and none is left", "[atomic]") {
  const TestDirectory directory;
  std::vector<std::thread> threads;
  for (const char* name : {"a", "b", "c"})
    threads.emplace_back([&directory, name] {
      for (int i = 0; i < 50; ++i) {
        const AtomicFile given_up(directory / (name + std::string(".given_up")));
        write_file(directory / (name + std::string(".txt")), std::to_string(i));
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(directory.count() == 3);
  for (const char* name : {"a.txt", "b.txt", "c.txt"})
    CHECK(read_bytes_of(directory / name) == "49");
}
