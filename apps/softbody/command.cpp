// SPDX-License-Identifier: Apache-2.0
#include "apps/softbody/command.hpp"

#include "apps/driver/subcommand.hpp"

namespace ossatura {

int softbody_command(const Invocation& invocation) {
  return run_subcommand(invocation, "softbody", add_softbody_options, check_softbody_options,
                        {{"length", "m"},
                         {"time", "s"},
                         {"mass", "kg"},
                         {"force", "N"},
                         {"modulus", "Pa"},
                         {"energy", "J"},
                         {"velocity", "m/s"}},
                        run_scenes, RankUse::many);
}

} // namespace ossatura
