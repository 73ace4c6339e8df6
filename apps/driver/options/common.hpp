// SPDX-License-Identifier: Apache-2.0
// Every subcommand has these common options.
#pragma once

#include <ossatura/core/base/log.hpp>
#include <ossatura/core/base/precision.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ossatura {

struct CommonOptions {
  std::string backend;                ///< one of backend_names(); the default is the last
  bool has_backend = false;           ///< it is asked for
  std::optional<int> device;          ///< number of the GPU
  std::optional<int> threads;         ///< of the openmp backend
  std::optional<Precision> precision; ///< else ("auto") the fastest for backend and other options
  std::uint64_t seed = 0;
  LogLevel log_level = LogLevel::normal;
  bool timings = false;   ///< fence around timed regions, print their table
  bool dry_run = false;   ///< read the input, print sizes and predicted memory, leave
  bool overwrite = false; ///< results of another input may be replaced
  std::string output_dir;
  std::string json; ///< empty: none; "-": stdout
  std::string history;
};

/// The choices that differ between subcommands.
struct CommonChoices {
  std::vector<std::optional<Precision>> precisions; ///< the default first; none: "auto"
  const char* precision_help;
  bool history = true; ///< whether there is a residual of each iteration
};

/// Adds them to `app`.
void add_common_options(CLI::App& app, CommonOptions& options, const CommonChoices& choices);

/// Throws UsageError or BackendError where they cannot be carried out. Does not need Kokkos to be
/// initialized.
void check_common_options(const CommonOptions& options);

} // namespace ossatura
