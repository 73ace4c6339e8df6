// SPDX-License-Identifier: Apache-2.0
// Progress lines say how far a run is: one line in place on a terminal, else few lines however long
// the run takes.
#pragma once

#include <ossatura/core/base/log.hpp>
#include <ossatura/core/base/timer.hpp>

#include <string>

namespace ossatura {

/// Lines of one table. With -v all of them are messages. Otherwise a terminal shows the newest one
/// in place, and a file gets the first, the last, and those at which a second and a tenth of the
/// time so far have passed: some 25 lines for each factor of ten in time.
class ProgressLines {
public:
  /// `heading` names the columns; it is shown before the first line.
  ProgressLines(StreamLog& log, std::string heading)
      : log_(log)
      , heading_(std::move(heading)) {}
  ~ProgressLines() { finish(); }
  ProgressLines(const ProgressLines&) = delete;
  ProgressLines& operator=(const ProgressLines&) = delete;

  /// `remaining` is the expected number of seconds left, shown on terminals; negative: not known.
  void show(const std::string& line, double remaining);
  /// The newest line stays, as the last.
  void finish();

private:
  StreamLog& log_;
  std::string heading_;
  std::string unseen_; ///< the newest line, if it is no message yet
  Stopwatch watch_;
  double next_ = 0;
};

/// "3 s", "12 min", "5.2 h".
std::string format_duration(double seconds);

} // namespace ossatura
