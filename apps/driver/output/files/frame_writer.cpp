// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/files/frame_writer.hpp"

#include <ossatura/core/base/log.hpp>
#include <ossatura/core/io/text/atomic_file.hpp>

#include <exception>
#include <utility>
#include <vector>

namespace ossatura {

namespace {

/// What became of a frame.
struct WrittenFrame {
  FileRecord file;
  std::vector<LogMessage> messages;
  std::exception_ptr error;
};

WrittenFrame write_frame(const std::function<std::string()>& write) {
  WrittenFrame frame;
  const LogCapture capture(frame.messages);
  try {
    frame.file = record_input(write());
  } catch (...) {
    frame.error = std::current_exception();
  }
  return frame;
}

} // namespace

void FrameWriter::add(const std::string& series, std::function<std::string()> write) {
  check_commit();
  queue_.add([this, series, write = std::move(write)]() -> JobQueue::Rest {
    return [this, series, frame = write_frame(write)] {
      for (const LogMessage& message : frame.messages)
        log_message(message);
      context_.try_output(series, [&] {
        if (frame.error)
          std::rethrow_exception(frame.error);
        context_.note_output(frame.file);
      });
    };
  });
}

} // namespace ossatura
