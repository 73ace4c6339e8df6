// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/softbody_command.hpp"

#include "apps/driver/command_line.hpp"

#include <CLI/CLI.hpp>

namespace femura {

int softbody_command(const Invocation& invocation) {
  SoftbodyCommandOptions options;
  CLI::App app("", "femura softbody");
  add_softbody_options(app, options);
  if (const auto code = parse_command_line(app, invocation.arguments))
    return *code;
  check_softbody_options(app, options);
  check_common_options(options.common);

  DriverContext context(invocation, options.common, option_values(app));
  context.provenance().units = {{"length", "m"},    {"time", "s"},     {"mass", "kg"},
                                {"force", "N"},     {"modulus", "Pa"}, {"energy", "J"},
                                {"velocity", "m/s"}};
  return run_softbody(options, context);
}

} // namespace femura
