// SPDX-License-Identifier: Apache-2.0
// SIGINT and SIGTERM end a run between two iterations or steps, where the run can write its results
// so far.
#pragma once

namespace ossatura {

/// Thrown after a signal; deliberately no std::exception, which a library might swallow.
struct Interrupted {
  int signal;
};

/// From here on the first SIGINT or SIGTERM is only noted; the second, of either kind, ends the
/// process at once, with the files that it has not finished.
/// Nothing is computed yet: the regions of region_timers() throw Interrupted when they are entered,
/// and a process that enters none for two seconds ends with exit_stopped. One of several ranks ends
/// at once: others may wait for it, and the launcher ends them.
void note_interrupts(bool one_of_several = false);

/// From here on there are results to lose: only throw_if_interrupted() and is_interrupted() take
/// notice of a signal.
void protect_results();

/// Throws Interrupted if a signal has been noted, and not again after that: what follows writes the
/// results.
void throw_if_interrupted();

/// While it lives regions throw Interrupted, too: around a solve that has phases without
/// iterations, such as the making of a factor, and whose displacements are an iterate at any time.
class InterruptibleRegions {
public:
  InterruptibleRegions();
  ~InterruptibleRegions();
  InterruptibleRegions(const InterruptibleRegions&) = delete;
  InterruptibleRegions& operator=(const InterruptibleRegions&) = delete;
};

/// Whether a signal has been noted.
bool is_interrupted();

/// The signal that has been noted; 0: none.
int noted_interrupt();

/// The same as throw_if_interrupted() for a signal to another rank, on which all have agreed.
void throw_interrupted_by(int signal);

} // namespace ossatura
