// SPDX-License-Identifier: BSD-3-Clause
// Numbers in the small notations of options.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace femura {

/// Reads all of `text` as a number; throws std::invalid_argument where it is none.
template<class Number>
Number parse_number(const std::string& text) {
  std::istringstream stream(text);
  Number value{};
  stream >> value;
  if (stream.fail() || !stream.eof())
    throw std::invalid_argument("'" + text + "' is not a number of the kind expected here");
  return value;
}

} // namespace femura
