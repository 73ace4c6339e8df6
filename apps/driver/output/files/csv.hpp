// SPDX-License-Identifier: Apache-2.0
// A CSV file receives a table of numbers line by line: programs can read the lines while a run goes
// on, and the lines stay whatever ends the run.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

namespace ossatura {

class CsvFile {
public:
  /// Replaces the file at `path`. `head` names the columns. Throws InputError where it cannot be
  /// written.
  CsvFile(const std::string& path, const std::string& head);
  /// Without the newline. Where it cannot be written, there is a warning, and no further line.
  void line(const std::string& text);

private:
  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  bool has_failed_ = false;
};

} // namespace ossatura
