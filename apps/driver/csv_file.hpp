// SPDX-License-Identifier: Apache-2.0
// A table of numbers as CSV, written line by line.
#pragma once

#include "core/io/atomic_file.hpp"

#include <fstream>
#include <string>

namespace femura {

class CsvFile {
public:
  /// `head` names the columns. Throws InputError where `path` cannot be written.
  CsvFile(const std::string& path, const std::string& head);
  /// Without the newline.
  void line(const std::string& text) { stream_ << text << '\n'; }
  /// Gives the file its name; without it, nothing is left behind.
  void commit();

private:
  AtomicFile file_;
  std::ofstream stream_;
};

} // namespace femura
