// SPDX-License-Identifier: Apache-2.0
// Every subcommand runs in the same steps. Only files that define a subcommand include this header:
// CLI11 is heavy.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/driver/exit_code.hpp"
#include "apps/driver/interrupt.hpp"
#include "apps/driver/options/command_line.hpp"
#include "apps/driver/output/summary.hpp"
#include "apps/driver/process_start.hpp"
#include "apps/driver/ranks.hpp"
#include <ossatura/core/machine/kokkos_runtime.hpp>

#include <CLI/CLI.hpp>

#include <memory>
#include <optional>

namespace ossatura {

/// Which subcommands run in the ranks of a launcher.
enum class RankUse {
  one, ///< refuses more than one
  many ///< run() refuses what it cannot divide, on all ranks
};

/// Adds the options of `ossatura NAME` to a command line, parses and checks it, and runs. `units`
/// go into the provenance. Returns the exit code, the same on all ranks.
template<class Options, class Check>
int run_subcommand(const Invocation& invocation, const std::string& name,
                   void (*add)(CLI::App&, Options&), Check check,
                   const std::vector<std::pair<std::string, std::string>>& units,
                   int (*run)(const Options&, DriverContext&), RankUse ranks = RankUse::one) {
  const Communicator world = Communicator::world();
  Options options;
  CLI::App app("", "ossatura " + name);
  add(app, options);
  const auto code = together(world, [&]() -> std::optional<int> {
    if (const auto printed = parse_command_line(app, invocation.arguments))
      return printed;
    options.common.has_backend = app.count("--backend") > 0;
    if (app.count("--config") > 0)
      options.common.config = app.get_config_ptr()->as<std::string>();
    check(app, options);
    check_common_options(options.common);
    if (ranks == RankUse::one && world.size() > 1)
      fail<UsageError>("ossatura ", name, " runs in one process, and a launcher started ",
                       world.size(), ": start it without, or with one");
    return {};
  });
  if (code)
    return *code;

  options.common.rank_threads = threads_of_rank(world);
  std::optional<DriverEngine> engine;
  const auto context = together(world, [&] {
    engine.emplace(options.common, world);
    return std::make_unique<DriverContext>(*engine, invocation, options.common, option_values(app),
                                           world);
  });
  context->provenance().units = units;
  const auto end = [&](int first_code) { // the first rank alone knows of outputs that failed
    int all_code = world.is_first() ? context->exit_code(first_code) : first_code;
    world.broadcast(all_code);
    return all_code;
  };
  try {
    return end(run(options, *context));
  } catch (const Interrupted&) {
    return end(world.is_first() ? finish_interrupted(*context) : exit_stopped);
  } catch (const std::exception& error) {
    // Kokkos may be half way in what it had no memory for: its end would free that once more. A
    // device that failed fails again there.
    if (is_out_of_memory(error) || is_device_failure(error))
      end_process(report_current_exception());
    throw;
  }
}

} // namespace ossatura
