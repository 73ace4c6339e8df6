// SPDX-License-Identifier: Apache-2.0
// The provenance says where a result comes from; every output contains it.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ossatura {

/// A file as it was read or written. The hash is XXH64 with seed 0, as `xxh64sum` prints it.
struct FileRecord {
  std::string path;
  std::uint64_t bytes = 0;
  std::string xxh64; ///< 16 hexadecimal digits
};

/// Reads and hashes the file at `path`; throws InputError.
FileRecord record_input(const std::string& path);

struct Provenance {
  std::string command_line; ///< quoted for a shell
  std::string directory;    ///< where it was typed: relative names are from there
  std::vector<FileRecord> inputs;
  std::uint64_t seed = 0;
  std::string backend, device;
  int threads = 1;
  std::string host, time_utc; ///< ISO 8601, the start of the run
  std::vector<std::pair<std::string, std::string>> units;
};

/// The present time, ISO 8601.
std::string utc_now();

/// Host name and the present time; the rest is for the caller.
Provenance start_provenance(const std::vector<std::string>& arguments);

/// With the versions of ossatura, Kokkos, CUDA and the compiler, which are those of this build.
nlohmann::ordered_json to_json(const Provenance& provenance);

/// The same as names and texts, for attributes of output files.
std::vector<std::pair<std::string, std::string>> provenance_texts(const Provenance& provenance);

} // namespace ossatura
