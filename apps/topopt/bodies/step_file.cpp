// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/bodies/step_file.hpp"

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace ossatura {

namespace {

constexpr const char* script_name = "mesh_step.py";

/// Beside the executable as it is installed, or as it is built.
std::string find_script(const std::string& path) {
  std::error_code none;
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
  const std::filesystem::path places[] = {folder / ".." / "share" / "ossatura" / script_name,
                                          folder / script_name};
  for (const auto& place : places)
    if (std::filesystem::exists(place, none))
      return place.lexically_normal().string();
  fail<InputError>(path, ": reading it takes ", script_name, ", which is not at ",
                   places[0].lexically_normal().string(),
                   ": install Ossatura as a whole, or write an .stl file in CAD");
}

/// Both ends of a pipe, closed in the end.
struct Pipe {
  int end[2] = {-1, -1};

  explicit Pipe(const std::string& path) {
    if (::pipe2(end, O_CLOEXEC) != 0)
      fail<InputError>(path, ": no pipe to a program: ", std::strerror(errno));
  }
  ~Pipe() {
    close(0);
    close(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close(int which) {
    if (end[which] >= 0)
      ::close(end[which]);
    end[which] = -1;
  }
};

/// All that comes until the other end is closed.
std::string read_all(int file) {
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(file, buffer, sizeof buffer);
    if (count > 0)
      text.append(buffer, std::size_t(count));
    else if (count == 0 || errno != EINTR)
      return text;
  }
}

struct ProgramOutput {
  int status; ///< of waitpid
  std::string out, error;
};

/// Runs a program to its end, with an empty standard input. What it says of errors goes to an open
/// file without a name: one pipe alone is read at a time.
ProgramOutput run_program(const std::vector<std::string>& words, const std::string& path) {
  Pipe out(path);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> error(std::tmpfile(), &std::fclose);
  if (!error)
    fail<InputError>(path, ": no temporary file for what ", words[0],
                     " says: ", std::strerror(errno));
  std::vector<char*> argv;
  for (const std::string& word : words)
    argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.end[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(error.get()), STDERR_FILENO);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    fail<InputError>(path, ": reading it takes Python, but ", words[0], " cannot be run (",
                     std::strerror(failed),
                     "): install python3, name another one by OSSATURA_PYTHON, or write an .stl "
                     "file in CAD");
  out.close(1);
  ProgramOutput result{0, read_all(out.end[0]), {}};
  while (::waitpid(child, &result.status, 0) < 0)
    if (errno != EINTR)
      fail<InputError>(path, ": waiting for ", words[0], ": ", std::strerror(errno));
  ::lseek(::fileno(error.get()), 0, SEEK_SET);
  result.error = read_all(::fileno(error.get()));
  return result;
}

/// Without blank space at the ends, and without the colours that OpenCASCADE prints in.
std::string trimmed(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\x1b')
      i = std::min(text.find('m', i), text.size());
    else
      plain += text[i];
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  const auto begin = std::find_if_not(plain.begin(), plain.end(), is_space);
  const auto end = std::find_if_not(plain.rbegin(), plain.rend(), is_space).base();
  return begin < end ? std::string(begin, end) : std::string();
}

/// What the script prints: its docstring has the form.
StepSurface parse_triangles(const std::string& text, const std::string& path) {
  const auto require = [&](bool good) {
    if (!good)
      fail<InputError>(path, ": ", script_name,
                       " printed no closed surface: is it the one of this "
                       "version?");
  };
  const char* at = text.c_str();
  const auto whole = [&](long long least, long long most) {
    char* end = nullptr;
    const long long value = std::strtoll(at, &end, 10);
    require(end != at && value >= least && value <= most);
    at = end;
    return value;
  };
  const auto real = [&] {
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    require(end != at && std::isfinite(value));
    at = end;
    return value;
  };
  const auto length = static_cast<long long>(text.size()); // a number has a digit and a space
  const long long num_vertices = whole(4, length / 2), num_triangles = whole(4, length / 2);
  StepSurface result;
  for (long long i = 0; i < num_vertices; ++i) {
    const double x = real(), y = real(), z = real();
    result.surface.vertex.push_back({x, y, z});
  }
  for (long long i = 0; i < num_triangles; ++i) {
    std::array<int, 3> corner{};
    for (int& one : corner)
      one = int(whole(0, num_vertices - 1));
    result.surface.triangle.push_back(corner);
    result.face.push_back(std::int32_t(whole(1, 1 << 30)));
  }
  require(trimmed(at).empty());
  return result;
}

} // namespace

TriangleSurface StepSurface::of_face(std::int32_t number) const {
  TriangleSurface own;
  std::vector<int> at(surface.vertex.size(), -1);
  for (std::size_t t = 0; t < face.size(); ++t) {
    if (face[t] != number)
      continue;
    std::array<int, 3> corner = surface.triangle[t];
    for (int& one : corner) {
      int& known = at[std::size_t(one)];
      if (known < 0) {
        known = int(own.vertex.size());
        own.vertex.push_back(surface.vertex[std::size_t(one)]);
      }
      one = known;
    }
    own.triangle.push_back(corner);
  }
  return own;
}

std::vector<std::int32_t> StepSurface::faces() const {
  std::vector<std::int32_t> numbers = face;
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

bool is_step(const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  for (char& c : ending)
    c = char(std::tolower(static_cast<unsigned char>(c)));
  for (const char* known : {".step", ".stp", ".iges", ".igs", ".brep"})
    if (ending == known)
      return true;
  return false;
}

StepSurface read_step(const std::string& path) {
  if (!std::ifstream(path))
    fail<InputError>(path, ": cannot be opened: ", std::strerror(errno));
  const char* python = std::getenv("OSSATURA_PYTHON");
  const std::vector<std::string> words = {python != nullptr && *python != '\0' ? python : "python3",
                                          find_script(path), "--triangles",
                                          std::filesystem::absolute(path).string()};
  const ProgramOutput output = run_program(words, path);
  if (WIFEXITED(output.status) && WEXITSTATUS(output.status) == 0)
    return parse_triangles(output.out, path);
  const std::string said = trimmed(output.error);
  std::ostringstream end;
  if (WIFSIGNALED(output.status))
    end << "was ended by " << ::strsignal(WTERMSIG(output.status));
  else
    end << "ended with " << WEXITSTATUS(output.status);
  fail<InputError>(path, ": ", words[0], " ", words[1], " ", end.str(), ": ",
                   said.empty() ? "it said nothing" : said);
}

} // namespace ossatura
