// SPDX-License-Identifier: Apache-2.0
#include "apps/driver/output/progress.hpp"

#include "apps/driver/output/table.hpp"
#include <ossatura/core/base/terminal.hpp>

#include <algorithm>
#include <cmath>

namespace ossatura {

void ProgressLines::show(const std::string& line, double remaining) {
  if (!heading_.empty())
    log_info(heading_);
  heading_.clear();
  const double now = watch_.seconds();
  const bool due = now >= next_;
  if (log_.level() == LogLevel::verbose || (due && !is_terminal(stderr))) {
    log_info(line);
    unseen_.clear();
  } else {
    unseen_ = line;
  }
  if (!due)
    return;
  if (!unseen_.empty())
    log_.progress(remaining >= 0 ? line + "   about " + format_duration(remaining) + " left"
                                 : line);
  next_ = now + (is_terminal(stderr) ? 0.1 : std::max(1.0, 0.1 * now));
}

void ProgressLines::finish() {
  log_.clear_progress();
  if (!unseen_.empty())
    log_info(unseen_);
  unseen_.clear();
}

std::string format_duration(double seconds) {
  if (seconds < 90)
    return format_number(std::ceil(seconds), 2) + " s";
  return seconds < 5400 ? format_number(std::ceil(seconds / 60), 2) + " min"
                        : format_number(seconds / 3600, 2) + " h";
}

} // namespace ossatura
