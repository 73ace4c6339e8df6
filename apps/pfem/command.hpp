// SPDX-License-Identifier: Apache-2.0
// This subcommand is `ossatura pfem`: a mesh of high order to energies.
#pragma once

#include "apps/driver/context.hpp"
#include "apps/pfem/input/options.hpp"

namespace ossatura {

/// The whole subcommand: parses, checks, runs. Returns an exit code.
int pfem_command(const Invocation& invocation);

/// Reads the problem, solves it, writes the results; the options are checked. Returns exit_done or
/// exit_not_converged.
int run_pfem(const PfemCommandOptions& options, DriverContext& context);

} // namespace ossatura
