// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/context.hpp"

#include "apps/driver/interrupt.hpp"
#include "apps/driver/table.hpp"
#include "core/require.hpp"
#include "core/version.hpp"

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <utility>

namespace femura {

namespace {

RuntimeOptions runtime_options(const CommonOptions& options) {
  RuntimeOptions runtime;
  runtime.threads = options.threads;
  runtime.device = options.device;
  runtime.warnings = options.log_level == LogLevel::verbose;
  return runtime;
}

void make_directory(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!std::filesystem::is_directory(path))
    fail<InputError>(path, ": cannot be made a directory for the output: ",
                     error ? error.message() : "there is a file of this name");
}

} // namespace

std::string file_stem(const std::string& input) {
  const std::string name = std::filesystem::path(input).filename().string();
  return name.substr(0, name.find('.', 1));
}

DriverContext::DriverContext(const Invocation& invocation, const CommonOptions& options,
                             nlohmann::ordered_json parameters)
    : options_(options)
    , subcommand_(invocation.subcommand)
    , parameters_(std::move(parameters))
    , log_(stderr, options.log_level)
    , runtime_(runtime_options(options))
    , provenance_(start_provenance(invocation.all)) {
  provenance_.seed = options.seed;
  provenance_.backend = options.backend;
  provenance_.device = device_name(options.backend);
  provenance_.threads = host_threads(options.backend);

  if (!options.output_dir.empty())
    make_directory(options.output_dir);
  // A run of hours must not end in "cannot be written".
  if (const auto summary = output_file(options.json, "summary.json"); summary && !json_on_stdout())
    AtomicFile probe(*summary);
  if (!options.history.empty())
    history_ = std::make_unique<HistoryWriter>(output_path(options.history));

  region_timers().set_fencing(options.timings);
  note_interrupts();
  previous_sink_ = set_log_sink([this](const LogMessage& message) {
    log_.message(message.level, message.text);
    if (!message.code.empty())
      warnings_.push_back(message);
  });
  log_info("femura ", version(), " (", git_hash(), "), Kokkos ", kokkos_version(), ", ",
           options.backend, " on ", provenance_.device,
           options.backend == "openmp" ? ", " + std::to_string(provenance_.threads) + " threads"
                                       : std::string());
}

DriverContext::~DriverContext() {
  set_log_sink(std::move(previous_sink_));
}

void DriverContext::print_result(const std::string& text) {
  log_.clear_progress();
  std::ostream& stream = json_on_stdout() ? std::cerr : std::cout;
  stream << text << std::flush;
}

std::string DriverContext::output_path(const std::string& name) const {
  // An absolute name replaces the directory.
  return (std::filesystem::path(options_.output_dir) / name).string();
}

std::optional<std::string> DriverContext::output_file(const std::string& asked,
                                                      const std::string& by_default) const {
  if (!asked.empty())
    return output_path(asked);
  if (!options_.output_dir.empty())
    return output_path(by_default);
  return {};
}

void DriverContext::iteration(int load_case, int iteration, double relative_residual) {
  throw_if_interrupted();
  const double now = seconds();
  if (options_.log_level != LogLevel::quiet) {
    char line[96];
    std::snprintf(line, sizeof line, "%10.3f %5d %12.5e", now, iteration, relative_residual);
    log_info(line);
  }
  if (history_)
    history_->add(now, load_case, iteration, relative_residual);
}

void DriverContext::finish(const nlohmann::ordered_json& summary, const std::string& stem) {
  if (history_)
    history_->commit();
  const std::string text = summary.dump(2) + '\n';
  if (json_on_stdout())
    std::cout << text << std::flush;
  else if (const auto path = output_file(options_.json, stem + ".summary.json")) {
    write_file(*path, text);
    log_info("wrote ", *path);
  }
  if (options_.timings)
    log_message({LogLevel::quiet, region_timers().table(), ""});
}

} // namespace femura
