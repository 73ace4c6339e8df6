// SPDX-License-Identifier: Apache-2.0
// A plan estimates how long a run will take.
#pragma once

#include "bench/harness/context.hpp"
#include "bench/harness/groups.hpp"
#include <ossatura/core/base/timer.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace ossatura::bench {

/// The rows of a run in their order, and the seconds that each is expected to take, with models,
/// verification and all repetitions. They are a group's mean on the machines of docs/benchmarks.md,
/// so that sums are right to a factor of three or so, and single rows are not.
class Plan {
public:
  /// `quick`: the sizes of --quick. Otherwise those of --full, or a group's own, which are like
  /// them.
  explicit Plan(bool quick)
      : quick_(quick) {}

  /// The next rows. Throws std::logic_error for a group without stored seconds.
  void add(const Group& group, const std::vector<std::string>& rows);

  /// Takes this machine's copy rates and threads from the context of a run; without, and with
  /// `quick`, a core and a device are those that the stored seconds are of.
  void calibrate(const Context& context);

  std::size_t num_rows() const { return rows_.size(); }
  double seconds() const;
  /// Rows and seconds of each group and backend, as lines of text.
  std::string table() const;

  /// The clock starts with the first row.
  void start() { since_start_ = Stopwatch(); }
  /// A row has ended.
  void count_row(const std::string& name);
  /// Where a group begins with the next row, a line with its rows and with what is left by the rate
  /// of the rows so far; else an empty one.
  std::string progress() const;

private:
  struct Row {
    std::string name;
    const Group* group;
    std::string backend;
    double seconds; ///< stored
  };
  double expected(const Row& row) const;

  bool quick_;
  std::vector<Row> rows_;
  std::map<std::string, double> slower_; ///< by backend, than the machine of the stored seconds
  std::size_t done_ = 0; ///< rows up to the last that ended; a filter leaves out some
  Stopwatch since_start_;
};

/// "40 s", "12 min", "3.5 h".
std::string rough_time(double seconds);

} // namespace ossatura::bench
