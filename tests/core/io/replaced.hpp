// SPDX-License-Identifier: Apache-2.0
// Samples with a mistake put in.
#pragma once

#include "tests/catch.hpp"

#include <string>

namespace ossatura_test {

/// `text` with the first `from` replaced; the test fails where there is none.
inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  INFO(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

} // namespace ossatura_test
