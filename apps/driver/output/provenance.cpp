// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/provenance.hpp"

#include "apps/driver/output/content_hash.hpp"
#include "apps/driver/problem/json_file.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/version.hpp>
#include <ossatura/core/io/text/input_file.hpp>
#include <ossatura/core/machine/kokkos_runtime.hpp>
#include <ossatura/core/machine/part_loop.hpp>
#include <ossatura/core/machine/processor_binding.hpp>
#include <ossatura/core/machine/processors.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <future>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace ossatura {

namespace {

/// `argument` as a POSIX shell reads it back.
std::string quoted(const std::string& argument) {
  const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos)
    return argument;
  std::string text = "'";
  for (const char c : argument)
    text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

/// Hashed while as many are read, by several threads: together they come from memory more slowly
/// than they are hashed.
constexpr std::uint64_t hashed_bytes = std::uint64_t(32) << 20, read_by_a_thread = 4 << 20;

/// A file that is read in any order.
class InputDescriptor {
public:
  explicit InputDescriptor(const std::string& path)
      : path_(path)
      , file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0)
      fail<InputError>(path_, ": cannot be read: ", std::strerror(errno));
  }
  ~InputDescriptor() { ::close(file_); }
  InputDescriptor(const InputDescriptor&) = delete;
  InputDescriptor& operator=(const InputDescriptor&) = delete;

  /// `to` becomes the bytes [begin, begin + count).
  void read(std::uint64_t begin, std::uint64_t count, std::vector<char>& to) const {
    to.resize(std::size_t(count));
    for_parts(to.size(), read_by_a_thread, [&](std::size_t first, std::size_t end) {
      while (first < end) {
        const ::ssize_t got =
            ::pread(file_, to.data() + first, end - first, ::off_t(begin + first));
        if (got < 0 && errno == EINTR)
          continue;
        if (got <= 0)
          fail<InputError>(path_, ": cannot be read to its end");
        first += std::size_t(got);
      }
    });
  }

private:
  std::string path_;
  int file_;
};

} // namespace

FileRecord record_input(const std::string& path) {
  FileRecord record;
  record.path = path;
  record.bytes = require_input_file(path);
  const InputDescriptor file(path);
  ContentHash hash;
  std::vector<char> now, next;
  file.read(0, std::min(hashed_bytes, record.bytes), now);
  for (std::uint64_t begin = now.size(); !now.empty(); begin += next.size(), now.swap(next)) {
    const auto read_next = [&] {
      file.read(begin, std::min(hashed_bytes, record.bytes - begin), next);
    };
    std::future<void> reading;
    try {
      if (begin < record.bytes && io_threads() > 1)
        reading = std::async(std::launch::async, [&] {
          unbind_thread();
          read_next();
        });
    } catch (const std::system_error&) { // no more threads
    }
    hash.add_bytes(now.data(), now.size());
    if (reading.valid())
      reading.get();
    else
      read_next();
  }
  record.xxh64 = hash.digits();
  return record;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Provenance start_provenance(const std::vector<std::string>& arguments) {
  Provenance provenance;
  for (const std::string& argument : arguments)
    provenance.command_line += (provenance.command_line.empty() ? "" : " ") + quoted(argument);
  std::error_code error; // a directory may be gone
  provenance.directory = std::filesystem::current_path(error).string();
  provenance.host = host_name();
  provenance.time_utc = utc_now();
  return provenance;
}

nlohmann::ordered_json to_json(const Provenance& provenance) {
  using Json = nlohmann::ordered_json;
  Json json = {{"ossatura", version()},
               {"git", git_hash()},
               {"command_line", provenance.command_line},
               {"directory", provenance.directory},
               {"inputs", Json::array()},
               {"seed", provenance.seed},
               {"kokkos", kokkos_version()},
               {"compiler", compiler()}};
  for (const FileRecord& input : provenance.inputs)
    json["inputs"].push_back(
        {{"path", input.path}, {"bytes", input.bytes}, {"xxh64", input.xxh64}});
  if (!cuda_version().empty())
    json["cuda"] = cuda_version();
  json["backend"] = provenance.backend;
  json["device"] = provenance.device;
  json["threads"] = provenance.threads;
  json["host"] = provenance.host;
  json["time_utc"] = provenance.time_utc;
  json["units"] = Json::object();
  for (const auto& [quantity, unit] : provenance.units)
    json["units"][quantity] = unit;
  return json;
}

std::vector<std::pair<std::string, std::string>> provenance_texts(const Provenance& provenance) {
  std::vector<std::pair<std::string, std::string>> texts;
  const nlohmann::ordered_json json = to_json(provenance); // items() refers to it
  for (const auto& [name, value] : json.items()) {
    if (name == "directory")
      continue; // the same run gives the same file wherever it is
    std::string text = value.is_string() ? value.get<std::string>() : json_text(value);
    texts.emplace_back(name, std::move(text));
  }
  return texts;
}

} // namespace ossatura
