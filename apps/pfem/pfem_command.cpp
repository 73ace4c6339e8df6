// SPDX-License-Identifier: Apache-2.0
#include "apps/pfem/pfem_command.hpp"

#include "apps/driver/command_line.hpp"
#include "apps/pfem/table3_command.hpp"

#include <CLI/CLI.hpp>

namespace femura {

int pfem_command(const Invocation& invocation) {
  if (!invocation.arguments.empty() && invocation.arguments[0] == "table3")
    return table3_command({"pfem-table3",
                           invocation.all,
                           {invocation.arguments.begin() + 1, invocation.arguments.end()}});
  PfemCommandOptions options;
  CLI::App app("", "femura pfem");
  add_pfem_options(app, options);
  if (const auto code = parse_command_line(app, invocation.arguments))
    return *code;
  note_given_options(app, options);
  check_pfem_options(app, options);
  check_common_options(options.common);

  DriverContext context(invocation, options.common, option_values(app));
  context.provenance().units = {
      {"length", "m"}, {"force", "N"}, {"modulus", "Pa"}, {"stress", "Pa"}, {"energy", "J"}};
  return run_pfem(options, context);
}

} // namespace femura
