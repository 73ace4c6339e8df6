// SPDX-License-Identifier: Apache-2.0
#include "bench/host/child_process.hpp"

#include <ossatura/core/machine/processor_binding.hpp>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" char** environ; // NOLINT(readability-redundant-declaration): not in every unistd.h

namespace ossatura::bench {

namespace {

double seconds_of(const timeval& time) {
  return double(time.tv_sec) + 1e-6 * double(time.tv_usec);
}

void require_done(int error, const std::string& program) {
  if (error != 0)
    throw std::runtime_error(program + " cannot be started: " + std::strerror(error));
}

std::vector<char*> environment_of_child() {
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (std::strncmp(*variable, "OMP_PROC_BIND=", 14) != 0 &&
        std::strncmp(*variable, "OMP_PLACES=", 11) != 0)
      variables.push_back(*variable);
  variables.push_back(nullptr);
  return variables;
}

/// The files that a child begins with.
class ChildFiles {
public:
  explicit ChildFiles(const std::string& folder) {
    posix_spawn_file_actions_init(&actions_);
    add(STDIN_FILENO, "/dev/null", O_RDONLY);
    add(STDOUT_FILENO, folder + "/stdout", O_WRONLY | O_CREAT | O_TRUNC);
    add(STDERR_FILENO, folder + "/stderr", O_WRONLY | O_CREAT | O_TRUNC);
  }
  ~ChildFiles() { posix_spawn_file_actions_destroy(&actions_); }
  ChildFiles(const ChildFiles&) = delete;
  ChildFiles& operator=(const ChildFiles&) = delete;
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

private:
  void add(int descriptor, const std::string& path, int flags) {
    require_done(posix_spawn_file_actions_addopen(&actions_, descriptor, path.c_str(), flags, 0600),
                 path);
  }
  posix_spawn_file_actions_t actions_{};
};

/// Starts the program and returns its process.
pid_t start(const std::string& program, const std::vector<std::string>& arguments,
            const std::string& folder) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const std::vector<char*> variables = environment_of_child();
  const ChildFiles files(folder);
  pid_t child = 0;
  int error = 0;
  std::thread([&] { // of its own, whose processors are changed
    unbind_thread();
    error = posix_spawn(&child, program.c_str(), files.actions(), nullptr, pointers.data(),
                        variables.data());
  })
      .join();
  require_done(error, program);
  return child;
}

std::string last_line(const std::string& path) {
  std::ifstream file(path);
  std::string last;
  for (std::string line; std::getline(file, line);)
    if (!line.empty())
      last = line;
  return last;
}

} // namespace

std::string ChildEnd::text() const {
  const std::string what =
      signal != 0 ? "signal " + std::to_string(signal) : "exit code " + std::to_string(exit_code);
  return last_words.empty() ? what : what + ": " + last_words;
}

ChildEnd run_child(const std::string& program, const std::vector<std::string>& arguments,
                   const std::string& folder) {
  const auto before = std::chrono::steady_clock::now();
  const pid_t child = start(program, arguments, folder);
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0)
    if (errno != EINTR)
      throw std::runtime_error(program + ": its end cannot be waited for: " + std::strerror(errno));
  ChildEnd end;
  end.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  end.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  if (WIFEXITED(status))
    end.exit_code = WEXITSTATUS(status);
  else if (WIFSIGNALED(status))
    end.signal = WTERMSIG(status);
  end.last_words = last_line(folder + "/stderr");
  return end;
}

} // namespace ossatura::bench
