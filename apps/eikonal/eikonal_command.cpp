// SPDX-License-Identifier: Apache-2.0
#include "apps/eikonal/eikonal_command.hpp"

#include "apps/driver/command_line.hpp"

#include <CLI/CLI.hpp>

namespace femura {

int eikonal_command(const Invocation& invocation) {
  EikonalCommandOptions options;
  CLI::App app("", "femura eikonal");
  add_eikonal_options(app, options);
  if (const auto code = parse_command_line(app, invocation.arguments))
    return *code;
  check_eikonal_options(app, options);
  check_common_options(options.common);

  DriverContext context(invocation, options.common, option_values(app));
  context.provenance().units = {{"length", "mm"}, {"time", "ms"}, {"velocity", "m/s"}};
  return run_eikonal(options, context);
}

} // namespace femura
