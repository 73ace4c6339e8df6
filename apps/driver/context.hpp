// SPDX-License-Identifier: Apache-2.0
// What a subcommand runs in: log, history, provenance and the names of its outputs.
#pragma once

#include "apps/driver/common_options.hpp"
#include "apps/driver/history.hpp"
#include "apps/driver/provenance.hpp"
#include "core/kokkos_runtime.hpp"
#include "core/log.hpp"
#include "core/memory.hpp"
#include "core/timer.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace femura {

/// The command line as main() got it.
struct Invocation {
  std::string subcommand;
  std::vector<std::string> all;       ///< argv
  std::vector<std::string> arguments; ///< after the subcommand
};

/// What the outputs of an input are called: its name without directory and extensions.
std::string file_stem(const std::string& input);

/// Made after the options are parsed and checked. While it lives, Kokkos is initialized, its
/// allocations are counted, log messages go to stderr, and a signal ends the run between two
/// iterations.
class DriverContext {
public:
  /// Throws BackendError or InputError where the engine cannot start or an output cannot be
  /// written. `parameters` are all options as option_values() gives them.
  DriverContext(const Invocation& invocation, const CommonOptions& options,
                nlohmann::ordered_json parameters);
  ~DriverContext();
  DriverContext(const DriverContext&) = delete;
  DriverContext& operator=(const DriverContext&) = delete;

  const CommonOptions& options() const { return options_; }
  const std::string& subcommand() const { return subcommand_; }
  const nlohmann::ordered_json& parameters() const { return parameters_; }
  Provenance& provenance() { return provenance_; }
  const Provenance& provenance() const { return provenance_; }
  StreamLog& log() { return log_; }
  double seconds() const { return watch_.seconds(); }
  /// All warnings so far.
  const std::vector<LogMessage>& warnings() const { return warnings_; }

  /// Whether stdout is for JSON alone.
  bool json_on_stdout() const { return options_.json == "-"; }
  /// Prints the result: on stdout, or on stderr where stdout is for JSON.
  void print_result(const std::string& text);

  /// Where an output called `name` goes: below --output-dir unless `name` is absolute.
  std::string output_path(const std::string& name) const;
  /// The file for a result: `asked` where it is not empty, else `by_default` where --output-dir was
  /// given, else none.
  std::optional<std::string> output_file(const std::string& asked,
                                         const std::string& by_default) const;

  /// Records one iteration of a solve: a line on stderr (`time iteration residual`) and one in the
  /// history. Throws Interrupted after SIGINT or SIGTERM.
  void iteration(int load_case, int iteration, double relative_residual);

  /// Writes the summary to the places asked for (`stem`.summary.json with --output-dir) and
  /// completes the history.
  void finish(const nlohmann::ordered_json& summary, const std::string& stem);

private:
  CommonOptions options_;
  std::string subcommand_;
  nlohmann::ordered_json parameters_;
  Stopwatch watch_;
  StreamLog log_;
  std::vector<LogMessage> warnings_;
  LogSink previous_sink_;
  KokkosRuntime runtime_;
  MemoryTracking tracking_;
  Provenance provenance_;
  std::unique_ptr<HistoryWriter> history_;
};

} // namespace femura
