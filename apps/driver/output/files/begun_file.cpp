// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/files/begun_file.hpp"

#include <ossatura/core/base/log.hpp>

#include <utility>
#include <vector>

namespace ossatura {

BegunFile::BegunFile(const std::string& path, Hdf5Compression compression, Begin begin) {
  job_.add([this, path, compression, begin = std::move(begin)]() -> JobQueue::Rest {
    std::vector<LogMessage> messages;
    {
      const LogCapture capture(messages);
      VtkHdfWriter file(path, compression);
      begin(file);
      file_.emplace(std::move(file));
    }
    return [messages = std::move(messages)] {
      for (const LogMessage& message : messages)
        log_message(message);
    };
  });
}

VtkHdfWriter BegunFile::take() {
  job_.wait();
  OSSATURA_REQUIRE(file_, "a file is taken once");
  VtkHdfWriter file = std::move(*file_);
  file_.reset();
  return file;
}

} // namespace ossatura
