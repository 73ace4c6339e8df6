// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/provenance.hpp"

#include "apps/driver/output/content_hash.hpp"
#include "apps/driver/problem/json_file.hpp"
#include <ossatura/core/base/require.hpp>
#include <ossatura/core/base/version.hpp>
#include <ossatura/core/io/text/input_file.hpp>
#include <ossatura/core/machine/kokkos_runtime.hpp>

#include <nlohmann/json.hpp>

#include <ctime>
#include <filesystem>
#include <fstream>

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

} // namespace

FileRecord record_input(const std::string& path) {
  FileRecord record;
  record.path = path;
  record.bytes = require_input_file(path);
  std::ifstream file(path, std::ios::binary);
  ContentHash hash;
  std::vector<char> block(1 << 20);
  while (file) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    hash.add_bytes(block.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof())
    fail<InputError>(path, ": cannot be read to its end");
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
