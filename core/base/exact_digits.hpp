// SPDX-License-Identifier: Apache-2.0
// exact_digits prints a number in the fewest digits that still read back as the same number.
#pragma once

#include <array>
#include <charconv>
#include <string>

namespace ossatura {

/// The shortest text that reads back as `value`: 0.03, not 0.029999999999999999.
inline std::string exact_digits(double value) {
  std::array<char, 32> text{};
  const std::to_chars_result end = std::to_chars(text.data(), text.data() + text.size(), value);
  return std::string(text.data(), end.ptr);
}

} // namespace ossatura
