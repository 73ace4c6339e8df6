// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include "tests/core/io/sample_files.hpp"
#include "tests/core/io/test_directory.hpp"
#include <ossatura/core/io/text/atomic_file.hpp>
#include <ossatura/core/machine/other_threads.hpp>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

using namespace ossatura;
using namespace ossatura_test;

namespace {

constexpr std::chrono::milliseconds moment(5);

/// Calls `run` in a process of its own, which it ends; returns its exit code, or -1.
template<class Run>
int exit_code_of(Run run) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(30); // in place of a hang
    run();
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status))
    return -1;
  return WEXITSTATUS(status);
}

[[noreturn]] void count_and_stop() {
  std::atomic<long> count = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&count] {
      for (;;)
        ++count;
    });
  while (count < 1000)
    std::this_thread::yield();
  stop_other_threads();
  const long stopped_at = count;
  std::this_thread::sleep_for(moment);
  ::_exit(count == stopped_at ? 0 : 1);
}

[[noreturn]] void stop_one_another() {
  const auto stop = [] {
    stop_other_threads();
    ::_exit(0);
  };
  for (int i = 0; i < 3; ++i)
    std::thread(stop).detach();
  stop();
  ::_exit(1);
}

[[noreturn]] void write_and_end(const std::string& path) {
  std::atomic<int> count = 0;
  std::thread writer([&] {
    for (;; ++count)
      write_file(path, "whole");
  });
  while (count < 3)
    std::this_thread::yield();
  stop_other_threads();
  remove_temporary_files();
  std::this_thread::sleep_for(moment);
  ::_exit(0);
}

} // namespace

TEST_CASE("other threads stop where they are", "[other_threads]") {
  CHECK(exit_code_of(count_and_stop) == 0);
}

TEST_CASE("of threads that stop one another one goes on", "[other_threads]") {
  for (int i = 0; i < 20; ++i)
    CHECK(exit_code_of(stop_one_another) == 0);
}

TEST_CASE("a process that ends leaves no temporary file of another thread", "[other_threads]") {
  for (int i = 0; i < 20; ++i) {
    const TestDirectory directory;
    REQUIRE(exit_code_of([&] { write_and_end(directory / "out.txt"); }) == 0);
    CHECK(directory.count() == 1);
    CHECK(read_bytes_of(directory / "out.txt") == "whole");
  }
}
