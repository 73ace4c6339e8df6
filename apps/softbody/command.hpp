// SPDX-License-Identifier: Apache-2.0
// This subcommand is `ossatura softbody`: a scene to motion.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/softbody/input/options.hpp"

namespace ossatura {

/// The whole subcommand: parses, checks, runs. Returns an exit code.
int softbody_command(const Invocation& invocation);

/// Runs the one scene, or each of a cohort; the options are checked. Returns an exit code.
int run_scenes(const SoftbodyCommandOptions& options, DriverContext& context);

/// Reads a scene, takes its steps, writes the results. Returns exit_done, exit_not_converged or
/// exit_stopped.
int run_softbody(const SoftbodyCommandOptions& options, DriverContext& context);

} // namespace ossatura
