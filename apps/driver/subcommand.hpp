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
#include <ossatura/core/machine/kokkos_runtime.hpp>

#include <CLI/CLI.hpp>

namespace ossatura {

/// Adds the options of `ossatura NAME` to a command line, parses and checks it, and runs. `units`
/// go into the provenance. Returns the exit code.
template<class Options, class Check>
int run_subcommand(const Invocation& invocation, const std::string& name,
                   void (*add)(CLI::App&, Options&), Check check,
                   const std::vector<std::pair<std::string, std::string>>& units,
                   int (*run)(const Options&, DriverContext&)) {
  Options options;
  CLI::App app("", "ossatura " + name);
  add(app, options);
  if (const auto code = parse_command_line(app, invocation.arguments))
    return *code;
  options.common.has_backend = app.count("--backend") > 0;
  check(app, options);
  check_common_options(options.common);

  DriverContext context(invocation, options.common, option_values(app));
  context.provenance().units = units;
  try {
    return context.exit_code(run(options, context));
  } catch (const Interrupted&) {
    return context.exit_code(finish_interrupted(context));
  } catch (const std::exception& error) {
    // Kokkos may be half way in what it had no memory for: its end would free that once more. A
    // device that failed fails again there.
    if (is_out_of_memory(error) || is_device_failure(error))
      end_process(report_current_exception());
    throw;
  }
}

} // namespace ossatura
