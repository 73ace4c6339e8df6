// SPDX-License-Identifier: Apache-2.0
// The table is the short table of results on stdout.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ossatura {

/// `value` with so many significant digits, without padding: "0.0123457", "1.2e+09".
std::string format_number(double value, int significant = 6);

/// With thin groups of three digits: "1 004 451".
std::string format_count(std::int64_t value);

/// "no steps", "1 step", "2 steps", "1 004 451 steps".
std::string counted(std::int64_t count, const std::string& noun);

/// "812 MB" and so on, in powers of 1000.
std::string format_bytes(double bytes);

/// Titled groups of rows "label  value unit", and rectangular blocks of numbers.
class Table {
public:
  void section(const std::string& title);
  void row(const std::string& label, const std::string& value, const std::string& unit = {});
  void row(const std::string& label, double value, const std::string& unit = {}) {
    row(label, format_number(value), unit);
  }

  /// Rows under the columns `heads`; the first column is on the left, the others to the right.
  void columns(const std::vector<std::string>& heads,
               const std::vector<std::vector<std::string>>& rows);

  std::string text() const;

private:
  struct Line {
    bool is_row;
    std::string label, value, unit;
  };
  std::vector<Line> lines_;
};

} // namespace ossatura
