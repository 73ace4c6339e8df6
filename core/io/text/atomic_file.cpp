// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/text/atomic_file.hpp>

#include <ossatura/core/base/require.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ossatura {
namespace {

void (*commit_check)() = nullptr;

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : (slash == 0 ? "/" : path.substr(0, slash));
}

std::string resolve_links(const std::string& path) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr)
    return path;
  std::string target(resolved);
  std::free(resolved);
  return target;
}

/// Whether a file system that cannot do what was asked says so; the file is there all the same.
bool is_unsupported(int reason) {
  return reason == EINVAL || reason == ENOSYS || reason == EOPNOTSUPP; // on Linux also ENOTSUP
}

void flush(const std::string& path, const std::string& name) {
  const int descriptor = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0 || (::fsync(descriptor) != 0 && !is_unsupported(errno))) {
    const int reason = errno;
    if (descriptor >= 0)
      ::close(descriptor);
    fail<InputError>(path, ": cannot be made durable: ", std::strerror(reason));
  }
  if (::close(descriptor) != 0)
    fail<InputError>(path, ": cannot be made durable: ", std::strerror(errno));
}

/// Numbers of processes are unique in this space: a start of the machine, and a name space.
std::string process_space() {
  std::string text;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> text;
  char name[256] = {};
  if (::readlink("/proc/self/ns/pid", name, sizeof name - 1) > 0)
    text += name;
  if (text.empty() && ::gethostname(name, sizeof name - 1) == 0)
    text = name;
  std::uint32_t hash = 2166136261u; // FNV-1a
  for (const unsigned char c : text)
    hash = (hash ^ c) * 16777619u;
  char digits[9];
  std::snprintf(digits, sizeof digits, "%08x", hash);
  return digits;
}

/// Of hidden files: ".NAME.SPACE-PROCESS.NUMBER.tmp".
std::string temporary_suffix(unsigned number) {
  return "." + process_space() + "-" + std::to_string(::getpid()) + "." + std::to_string(number) +
         ".tmp";
}

/// The process in the name of a temporary file of this space; 0 for all other files.
pid_t writer_of(const std::string& name, const std::string& space) {
  const std::string ending = ".tmp";
  if (name.size() < ending.size() || name[0] != '.' ||
      name.compare(name.size() - ending.size(), ending.size(), ending) != 0)
    return 0;
  const std::size_t number = name.rfind('.', name.size() - ending.size() - 1);
  if (number == std::string::npos || number == 0)
    return 0;
  const std::size_t mark = name.rfind('.', number - 1);
  if (mark == std::string::npos || name.compare(mark + 1, space.size() + 1, space + "-") != 0)
    return 0;
  return pid_t(std::atol(name.c_str() + mark + 2 + space.size()));
}

/// Names of the present temporary files; those that find no place are not removed in an emergency.
std::array<std::atomic<char*>, 64> open_files;

/// Keeps a name from being freed by one thread while another compares it.
std::mutex open_files_mutex;

} // namespace

void remember_temporary_file(const std::string& name) noexcept {
  char* copy = ::strdup(name.c_str());
  for (std::atomic<char*>& place : open_files)
    if (char* empty = nullptr; copy != nullptr && place.compare_exchange_strong(empty, copy))
      return;
  std::free(copy);
}

void forget_temporary_file(const std::string& name) noexcept {
  const std::lock_guard<std::mutex> lock(open_files_mutex);
  for (std::atomic<char*>& place : open_files)
    if (char* other = place.load(); other != nullptr && name == other)
      if (place.compare_exchange_strong(other, nullptr))
        std::free(other);
}

AtomicFile::AtomicFile(const std::string& path)
    : path_(path)
    , target_(path) {
  if (path.empty() || path.back() == '/')
    fail<InputError>("'", path, "' is not the name of an output file");
  mode_t mode = 0;
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode))
      fail<InputError>(path, ": is a directory; name a file to write in it");
    if (!S_ISREG(status.st_mode))
      fail<InputError>(path, ": is not a regular file and cannot be replaced; choose another name");
    if (::access(path.c_str(), W_OK) != 0)
      fail<InputError>(path, ": is write protected; choose another name or change its permissions");
    mode = status.st_mode & 07777;
    target_ = resolve_links(path);
  }
  const std::string directory = directory_of(target_);
  if (::stat(directory.c_str(), &status) != 0)
    fail<InputError>(path, ": cannot be written: the directory '", directory,
                     "' does not exist; create it first");
  if (!S_ISDIR(status.st_mode))
    fail<InputError>(path, ": cannot be written: '", directory, "' is not a directory");

  static std::atomic<unsigned> counter{0};
  const std::size_t slash = target_.rfind('/');
  const std::string name = slash == std::string::npos ? target_ : target_.substr(slash + 1);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    temporary_ = directory + "/." + name.substr(0, 200) + temporary_suffix(counter.fetch_add(1));
    // Before it is there, so that the end of the process finds it whenever that comes.
    remember_temporary_file(temporary_);
    const int descriptor =
        ::open(temporary_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (descriptor < 0) {
      const int reason = errno;
      forget_temporary_file(temporary_);
      if (reason == EEXIST)
        continue; // left by a process that was killed and had our number
      fail<InputError>(path, ": cannot be written: ", std::strerror(reason), " in '", directory,
                       "'");
    }
    // Nothing throws from here on, for want of memory or else: nobody would remove the file.
    if (mode != 0)
      (void)!::fchmod(descriptor, mode); // keeping the permissions is a courtesy
    if (::close(descriptor) != 0) {
      const int reason = errno;
      discard();
      fail<InputError>(path, ": cannot be written: ", std::strerror(reason));
    }
    return;
  }
  fail<InputError>(path, ": cannot be written: no temporary name is free in '", directory, "'");
}

AtomicFile::~AtomicFile() {
  discard();
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_))
    , target_(std::move(other.target_))
    , temporary_(std::exchange(other.temporary_, std::string())) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this != &other) {
    discard();
    path_ = std::move(other.path_);
    target_ = std::move(other.target_);
    temporary_ = std::exchange(other.temporary_, std::string());
  }
  return *this;
}

void AtomicFile::commit() {
  OSSATURA_REQUIRE(!temporary_.empty(), path_ << " was committed before");
  check_commit();
  flush(path_, temporary_);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0)
    fail<InputError>(path_, ": cannot be written: ", std::strerror(errno));
  forget_temporary_file(temporary_);
  temporary_.clear();
  // The file has its name; a file system that cannot flush directories is not an error.
  const int directory = ::open(directory_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    (void)!::fsync(directory);
    ::close(directory);
  }
}

void set_commit_check(void (*check)()) noexcept {
  commit_check = check;
}

void check_commit() {
  if (commit_check != nullptr)
    commit_check();
}

void AtomicFile::discard() noexcept {
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    forget_temporary_file(temporary_);
  }
  temporary_.clear();
}

void remove_temporary_files() noexcept {
  // Signal handlers come here, so it takes no lock. A name that is taken out is freed by nobody.
  for (std::atomic<char*>& place : open_files)
    if (const char* name = place.exchange(nullptr); name != nullptr)
      ::unlink(name);
}

void remove_abandoned_files(const std::string& directory) noexcept {
  DIR* entries = ::opendir(directory.empty() ? "." : directory.c_str());
  if (entries == nullptr)
    return;
  try {
    const std::string space = process_space();
    while (const dirent* entry = ::readdir(entries)) {
      const pid_t writer = writer_of(entry->d_name, space);
      if (writer > 0 && ::kill(writer, 0) != 0 && errno == ESRCH)
        ::unlinkat(::dirfd(entries), entry->d_name, 0);
    }
  } catch (...) { // no memory: they stay
  }
  ::closedir(entries);
}

void write_file(const std::string& path, const std::string& content) {
  AtomicFile file(path);
  std::FILE* stream = std::fopen(file.temporary_path().c_str(), "wb");
  if (stream == nullptr)
    fail<InputError>(path, ": cannot be written: ", std::strerror(errno));
  errno = 0;
  const bool written = std::fwrite(content.data(), 1, content.size(), stream) == content.size();
  int reason = errno;
  const bool closed = std::fclose(stream) == 0;
  if (written)
    reason = errno;
  if (!written || !closed)
    fail<InputError>(path, ": cannot be written: ", std::strerror(reason));
  file.commit();
}

} // namespace ossatura
