// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/files/csv.hpp"

#include <ossatura/core/base/log.hpp>
#include <ossatura/core/base/require.hpp>

#include <cerrno>
#include <cstring>

namespace ossatura {

CsvFile::CsvFile(const std::string& path, const std::string& head)
    : path_(path)
    , file_(std::fopen(path.c_str(), "we"), &std::fclose) {
  if (!file_)
    fail<InputError>(path, ": cannot be written: ", std::strerror(errno));
  line(head);
}

void CsvFile::line(const std::string& text) {
  if (has_failed_)
    return;
  has_failed_ =
      std::fputs((text + '\n').c_str(), file_.get()) == EOF || std::fflush(file_.get()) == EOF;
  if (has_failed_)
    log_warning("not-written", path_, ": cannot be written: ", std::strerror(errno),
                "; it ends here");
}

} // namespace ossatura
