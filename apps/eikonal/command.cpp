// SPDX-License-Identifier: Apache-2.0
#include "apps/eikonal/command.hpp"

#include "apps/driver/subcommand.hpp"

namespace ossatura {

int eikonal_command(const Invocation& invocation) {
  return run_subcommand(invocation, "eikonal", add_eikonal_options, check_eikonal_options,
                        {{"length", "mm"}, {"time", "ms"}, {"velocity", "m/s"}}, run_eikonal,
                        RankUse::many);
}

} // namespace ossatura
