// SPDX-License-Identifier: Apache-2.0
// A table of numbers as CSV, written line by line: what is there can be read while a run goes on,
// and stays whatever ends it.
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
