// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/topopt_command.hpp"

#include "apps/driver/command_line.hpp"

#include <CLI/CLI.hpp>

namespace femura {

int topopt_command(const Invocation& invocation) {
  TopoptCommandOptions options;
  CLI::App app("", "femura topopt");
  add_topopt_options(app, options);
  if (const auto code = parse_command_line(app, invocation.arguments))
    return *code;
  note_given_options(app, options);
  check_topopt_options(app, options);
  check_common_options(options.common);

  DriverContext context(invocation, options.common, option_values(app));
  context.provenance().units = {
      {"length", "m"}, {"force", "N"}, {"modulus", "Pa"}, {"energy", "J"}, {"stiffness", "N/m"}};
  return run_topopt(options, context);
}

} // namespace femura
