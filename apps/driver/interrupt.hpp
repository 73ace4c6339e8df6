// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM end a run between two iterations, so that temporary files are removed.
#pragma once

namespace femura {

/// Thrown between iterations after a signal; deliberately no std::exception, which a library might
/// swallow.
struct Interrupted {
  int signal;
};

/// From here on the first SIGINT or SIGTERM is only noted; the second ends the process at once.
void note_interrupts();

/// Throws Interrupted if a signal has been noted.
void throw_if_interrupted();

/// Ends the process by `signal`, so that a shell sees what happened.
[[noreturn]] void end_by_signal(int signal);

} // namespace femura
