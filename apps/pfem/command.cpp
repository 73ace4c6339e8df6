// SPDX-License-Identifier: Apache-2.0
#include "apps/pfem/command.hpp"

#include "apps/driver/subcommand.hpp"
#include "apps/pfem/table3_command.hpp"

namespace ossatura {

int pfem_command(const Invocation& invocation) {
  if (!invocation.arguments.empty() && invocation.arguments[0] == "table3")
    return table3_command({"pfem-table3",
                           invocation.all,
                           {invocation.arguments.begin() + 1, invocation.arguments.end()}});
  return run_subcommand(
      invocation, "pfem", add_pfem_options,
      [](const CLI::App& app, PfemCommandOptions& options) {
        note_given_options(app, options);
        check_pfem_options(app, options);
      },
      {{"length", "m"}, {"force", "N"}, {"modulus", "Pa"}, {"stress", "Pa"}, {"energy", "J"}},
      run_pfem);
}

} // namespace ossatura
