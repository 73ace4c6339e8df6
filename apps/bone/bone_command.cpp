// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/bone_command.hpp"

#include "apps/driver/command_line.hpp"

#include <CLI/CLI.hpp>

namespace femura {

int bone_command(const Invocation& invocation) {
  BoneOptions options;
  CLI::App app("", "femura bone");
  add_bone_options(app, options);
  if (const auto code = parse_command_line(app, invocation.arguments))
    return *code;
  check_bone_options(app, options);
  check_common_options(options.common);

  DriverContext context(invocation, options.common, option_values(app));
  context.provenance().units = {{"length", "mm"},
                                {"force", "N"},
                                {"moment", "N mm"},
                                {"modulus, stress, energy density", "MPa"},
                                {"energy", "N mm"}};
  return run_bone(options, context);
}

} // namespace femura
