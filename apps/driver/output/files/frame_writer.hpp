// SPDX-License-Identifier: Apache-2.0
// A frame writer has the files of a series written while the steps go on.
#pragma once

#include "apps/driver/context.hpp"
#include <ossatura/core/machine/job_queue.hpp>

#include <functional>
#include <string>

namespace ossatura {

/// A thread of its own writes frames in their order, one at a time; no more than two are held in
/// memory, the one that is written and the next. What becomes of a frame is reported by the thread
/// of the run in add(), make_room() and wait(), as if it had written it: to `context` as by
/// try_output() where files cannot be written, else (no memory, a failed device) as an exception.
/// wait() comes before whatever refers to frames (a checkpoint, a summary).
class FrameWriter {
public:
  /// `context` must outlive this.
  explicit FrameWriter(DriverContext& context)
      : context_(context)
      , queue_(2) {}

  /// Waits until no more than one frame is left: call it before the next one takes memory.
  void make_room() { queue_.make_room(); }
  /// `write` writes a file and returns its name. It owns what it needs; what it refers to outlives
  /// this, and the run leaves it alone until wait() returns. `series` is the output that is lost
  /// where it cannot. Throws as AtomicFile::commit() where the device failed before.
  void add(const std::string& series, std::function<std::string()> write);
  /// Waits until all frames are written.
  void wait() { queue_.wait(); }

private:
  DriverContext& context_;
  JobQueue queue_;
};

} // namespace ossatura
