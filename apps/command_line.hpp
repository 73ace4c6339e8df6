// SPDX-License-Identifier: Apache-2.0
// The command line picks the subcommand and turns exceptions into exit codes.
//
//   ossatura bone tibia.h5 -o out
//   ossatura --help
#pragma once

namespace ossatura {

/// All that main() does, with its arguments; returns the exit code. Once in a process, before
/// anything else happens in it, and may end it or start it again.
int run_command_line(int argc, char* argv[]);

} // namespace ossatura
