// SPDX-License-Identifier: Apache-2.0
#include "apps/topopt/command.hpp"

#include "apps/driver/subcommand.hpp"

namespace ossatura {

int topopt_command(const Invocation& invocation) {
  return run_subcommand(
      invocation, "topopt", add_topopt_options,
      [](const CLI::App& app, TopoptCommandOptions& options) {
        note_given_options(app, options);
        check_topopt_options(app, options);
      },
      {{"length", "m"}, {"force", "N"}, {"modulus", "Pa"}, {"energy", "J"}, {"stiffness", "N/m"}},
      run_topopt, RankUse::many);
}

} // namespace ossatura
