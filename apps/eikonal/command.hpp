// SPDX-License-Identifier: Apache-2.0
// This subcommand is `ossatura eikonal`: a heart to activation times.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/eikonal/input/options.hpp"

namespace ossatura {

/// The whole subcommand: parses, checks, runs. Returns an exit code.
int eikonal_command(const Invocation& invocation);

/// Reads or makes the mesh, solves, writes the results; the options are checked. Returns exit_done
/// or exit_not_converged.
int run_eikonal(const EikonalCommandOptions& options, DriverContext& context);

} // namespace ossatura
