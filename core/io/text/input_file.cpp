// SPDX-License-Identifier: Apache-2.0
#include <ossatura/core/io/text/input_file.hpp>

#include <ossatura/core/base/require.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include <sys/stat.h>
#include <unistd.h>

namespace ossatura {
namespace {

using CFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

CFile open_input(const std::string& path) {
  CFile file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file)
    fail<InputError>(path, ": cannot be opened: ", std::strerror(errno));
  return file;
}

} // namespace

std::uint64_t require_input_file(const std::string& path) {
  if (path.empty())
    fail<InputError>("the name of the input file is empty");
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    fail<InputError>(path, ": ",
                     errno == ENOENT
                         ? "there is no such file"
                         : (std::string("cannot be examined: ") + std::strerror(errno)));
  if (S_ISDIR(status.st_mode))
    fail<InputError>(path, ": is a directory; name the file in it");
  if (!S_ISREG(status.st_mode))
    fail<InputError>(path, ": is not a regular file; copy its content to one");
  if (::access(path.c_str(), R_OK) != 0)
    fail<InputError>(path, ": cannot be read: ", std::strerror(errno));
  if (status.st_size == 0)
    fail<InputError>(path, ": is empty");
  return std::uint64_t(status.st_size);
}

std::vector<unsigned char> read_bytes(const std::string& path, std::uint64_t begin,
                                      std::uint64_t count) {
  const std::uint64_t size = require_input_file(path);
  if (begin > size || count > size - begin)
    fail<InputError>(path, ": is truncated: ", size, " bytes, but data is expected in bytes ",
                     begin, " to ", begin + count);
  std::vector<unsigned char> bytes;
  try {
    bytes.resize(count);
  } catch (const std::exception&) {
    fail<BackendError>(path, ": its ", count, " bytes do not fit in memory");
  }
  const CFile file = open_input(path);
  if (::fseeko(file.get(), off_t(begin), SEEK_SET) != 0 ||
      std::fread(bytes.data(), 1, count, file.get()) != count)
    fail<InputError>(path, ": reading ", count, " bytes from byte ", begin, " failed");
  return bytes;
}

std::vector<unsigned char> read_head(const std::string& path, std::size_t count) {
  const std::uint64_t size = require_input_file(path);
  return read_bytes(path, 0, std::min<std::uint64_t>(size, count));
}

std::vector<unsigned char> read_all(const std::string& path, std::uint64_t limit) {
  const std::uint64_t size = require_input_file(path);
  if (size > limit)
    fail<InputError>(path, ": ", size, " bytes is more than the ", limit, " that are read");
  return read_bytes(path, 0, size);
}

bool cut_extension(std::string& path, const std::string& extension) {
  if (path.size() <= extension.size() ||
      path.compare(path.size() - extension.size(), extension.size(), extension) != 0)
    return false;
  path.resize(path.size() - extension.size());
  return true;
}

} // namespace ossatura
