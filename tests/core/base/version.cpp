// SPDX-License-Identifier: Apache-2.0
#include "tests/catch.hpp"
#include <ossatura/core/base/version.hpp>

#include <regex>
#include <string>

TEST_CASE("version, commit and compiler are known", "[version]") {
  CHECK(std::regex_match(ossatura::version(), std::regex("\\d+\\.\\d+\\.\\d+")));
  CHECK(std::regex_match(ossatura::git_hash(), std::regex("unknown|[0-9a-f]{12}(\\+dirty)?")));
  CHECK(std::regex_search(ossatura::compiler(), std::regex("\\d+\\.\\d+")));
}
