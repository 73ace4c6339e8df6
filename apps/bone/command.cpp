// SPDX-License-Identifier: Apache-2.0
#include "apps/bone/command.hpp"

#include "apps/driver/subcommand.hpp"

namespace ossatura {

int bone_command(const Invocation& invocation) {
  return run_subcommand(invocation, "bone", add_bone_options, check_bone_options,
                        {{"length", "mm"},
                         {"force", "N"},
                         {"moment", "N mm"},
                         {"modulus, stress, energy density", "MPa"},
                         {"energy", "N mm"}},
                        run_bones, RankUse::many);
}

} // namespace ossatura
