// SPDX-License-Identifier: Apache-2.0
// This subcommand is `ossatura topopt`: a deck to a part.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/topopt/input/options.hpp"

namespace ossatura {

/// The whole subcommand: parses, checks, runs. Returns an exit code.
int topopt_command(const Invocation& invocation);

/// Reads the problem, takes its steps, writes the results; the options are checked. Returns
/// exit_done, exit_not_converged or exit_stopped.
int run_topopt(const TopoptCommandOptions& options, DriverContext& context);

} // namespace ossatura
