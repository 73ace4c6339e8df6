// SPDX-License-Identifier: Apache-2.0
// This subcommand is `ossatura bone`: a voxel image to a stiffness.
#pragma once

#include "apps/bone/input/options.hpp"
#include "apps/driver/context.hpp"

namespace ossatura {

/// The whole subcommand: parses, checks, runs. Returns an exit code.
int bone_command(const Invocation& invocation);

/// Runs on the one input, or on each of a cohort; the options are checked. Returns an exit code.
int run_bones(const BoneOptions& options, DriverContext& context);

/// Reads or makes one model, solves, writes the results. Returns exit_done or exit_not_converged.
int run_bone(const BoneOptions& options, DriverContext& context);

} // namespace ossatura
